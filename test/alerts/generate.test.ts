import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { alertFiles, buildRules } from '../../alerts/generate.ts';
import { defaultThresholds } from '../../alerts/thresholds.ts';
import { toAdminRight } from '../../src/api/access-policy.ts';
import { collectors } from '../../src/daemon/catalogue/collectors.ts';
import { contractMetrics } from '../dashboards/contract-metrics.ts';
import { readPromql } from '../dashboards/promql.ts';

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly for: string;
  readonly labels: { readonly severity: string };
  readonly annotations: Readonly<Record<string, string>>;
}

function toRules(yaml: string): Rule[] {
  // The cast has only the fields that the tests use.
  const { groups } = parse(yaml) as { readonly groups: readonly { readonly rules: readonly Rule[] }[] };
  return groups.flatMap((group) => group.rules).filter(({ alert }) => alert !== undefined);
}

const rules = toRules(buildRules());

describe('alerts/generate', () => {
  it('generates the committed files', () => {
    for (const [name, text] of Object.entries(alertFiles()))
      expect(readFileSync(new URL(`../../alerts/${name}`, import.meta.url), 'utf8')).toBe(text);
  });

  it('lists the collectors that need an administrator', () => {
    const names = collectors
      .filter(({ reads }) => reads.some((read) => toAdminRight(read) !== undefined))
      .map(({ name }) => name);
    expect(defaultThresholds.administratorCollectors.split('|')).toEqual(names.toSorted());
  });

  it('generates each alert once, with a severity that routing uses', () => {
    expect(new Set(rules.map(({ alert }) => alert)).size).toBe(rules.length);
    expect(rules.filter(({ labels }) => !['critical', 'warning', 'info'].includes(labels.severity ?? ''))).toEqual([]);
  });

  it.each(rules)('uses only existing series in $alert', ({ expr }) => {
    const { valid, metrics } = readPromql(expr);
    expect(valid).toBe(true);
    expect(metrics.length).toBeGreaterThan(0);
    expect(metrics.filter((name) => !contractMetrics.has(name))).toEqual([]);
  });

  it.each(rules)('generates a description and a next step for $alert', ({ alert, annotations }) => {
    const { summary, description, ...links } = annotations;
    // To check the length, a short word replaces each label.
    expect(summary?.replaceAll(/\{\{ with .*?\{\{ end \}\}/g, '').replaceAll(/\{\{.*?\}\}/g, 'short')).toMatch(
      /^\S.{9,79}$/,
    );
    expect(description?.replace(/\{\{ (range|with printf) .*\{\{ end \}\}$/, '')).toMatch(/\.$/);
    const { page_url: _page, ...others } = links;
    expect(Object.keys(others)).toEqual(['runbook_url', 'dashboard_url']);
    expect(links['runbook_url']).toBe(`http://localhost:9720/runbooks/${alert}`);
    expect(links['dashboard_url']).toMatch(/^http:\/\/localhost:3000\/d\/automation-[a-z-]+(\?var-server=|$)/);
  });

  it.each(rules.filter(({ alert }) => alert !== 'AutomationExporterDown'))(
    'links $alert to a page of the exporter',
    ({ annotations }) => {
      expect(annotations['page_url']).toMatch(/^http:\/\/localhost:9720(\{\{ if match .*\}\})?\//);
    },
  );

  it.each(rules.filter(({ expr }) => expr.includes('automation_job_')))(
    "does not fire $alert while the exporter's data is late",
    ({ expr }) => {
      expect(expr).toMatch(
        /unless on \(job, cluster, server\)\n {2}min without \(instance, pod\) \(last_over_time\(automation_exporter_execution_lag_seconds\[3m\]\)\) > 1800$/,
      );
    },
  );

  it('accepts other limits and addresses', () => {
    const passive = toRules(
      buildRules({
        passiveFor: '0s',
        baseUrl: 'https://exporter.example.org',
        grafanaUrl: 'https://grafana.example.org',
      }),
    ).find(({ alert }) => alert === 'AutomationExecutionModePassive');
    expect(passive).toMatchObject({
      for: '0s',
      annotations: {
        runbook_url: 'https://exporter.example.org/runbooks/AutomationExecutionModePassive',
        dashboard_url: 'https://grafana.example.org/d/automation-server?var-server={{ $labels.server | urlquery }}',
      },
    });
    expect(passive?.annotations['description']).toContain('passive for at least 0s');
    expect(buildRules({ evaluationInterval: '1s' })).toContain('interval: 1s');
    expect(buildRules({ logStorageWindow: '1m' })).toContain('increase(automation_log_storage_failed_total[1m])');
    expect(buildRules({ jobConsecutiveFailures: 5 })).toContain(') >= 5\n');
    expect(buildRules({ traceOldestSeconds: 60 })).toContain('spool_oldest_timestamp_seconds[3m]) > 60');
    expect(buildRules({ exporterJob: 'watcher' })).toContain('absent(up{job="watcher"})');
  });
});
