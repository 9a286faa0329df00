import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { buildRules } from '../../alerts/generate.ts';
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
  // The cast names only what the tests look at; a missing part fails the test that looks.
  const { groups } = parse(yaml) as { readonly groups: readonly { readonly rules: readonly Rule[] }[] };
  return groups.flatMap((group) => group.rules);
}

const rules = toRules(buildRules());

describe('alerts/generate', () => {
  it('is committed as it is generated', () => {
    expect(readFileSync(new URL('../../alerts/rules.yaml', import.meta.url), 'utf8')).toBe(buildRules());
  });

  it('has no alert twice, and only severities that people route by', () => {
    expect(new Set(rules.map(({ alert }) => alert)).size).toBe(rules.length);
    expect(rules.filter(({ labels }) => !['critical', 'warning'].includes(labels.severity ?? ''))).toEqual([]);
  });

  it.each(rules)('asks in $alert for series that exist', ({ expr }) => {
    const { valid, metrics } = readPromql(expr);
    expect(valid).toBe(true);
    expect(metrics.length).toBeGreaterThan(0);
    expect(metrics.filter((name) => !contractMetrics.has(name))).toEqual([]);
  });

  it.each(rules)('says for $alert what is wrong and where to go on', ({ alert, annotations }) => {
    const { summary, description, ...links } = annotations;
    // As long as it is with short names in place of labels.
    expect(summary?.replaceAll(/\{\{ with .*?\{\{ end \}\}/g, '').replaceAll(/\{\{.*?\}\}/g, 'short')).toMatch(
      /^\S.{9,79}$/,
    );
    expect(description).toMatch(/\.$/);
    expect(links).toEqual({
      runbook_url: `http://localhost:9720/runbooks/${alert}`,
      dashboard_url: 'http://localhost:9720/dashboards/',
    });
  });

  it.each(rules.filter(({ expr }) => expr.includes('automation_job_')))(
    'keeps $alert silent while the exporter is behind',
    ({ expr }) => {
      expect(expr).toMatch(
        /unless on \(job, instance, server\)\n {2}automation_exporter_execution_lag_seconds > 1800$/,
      );
    },
  );

  it('takes other limits and addresses', () => {
    const passive = toRules(
      buildRules({
        passiveFor: '0s',
        baseUrl: 'https://exporter.example.org',
        dashboardUrl: 'https://grafana.example.org/d/automation-overview',
      }),
    ).find(({ alert }) => alert === 'AutomationExecutionModePassive');
    expect(passive).toMatchObject({
      for: '0s',
      annotations: {
        runbook_url: 'https://exporter.example.org/runbooks/AutomationExecutionModePassive',
        dashboard_url: 'https://grafana.example.org/d/automation-overview',
      },
    });
    expect(passive?.annotations['description']).toContain('passive for at least 0s');
    expect(buildRules({ evaluationInterval: '1s' })).toContain('interval: 1s');
    expect(buildRules({ logStorageWindow: '1m' })).toContain('increase(automation_log_storage_failed_total[1m])');
    expect(buildRules({ jobConsecutiveFailures: 5 })).toContain('automation_job_consecutive_failures >= 5');
    expect(buildRules({ traceOldestSeconds: 60 })).toContain('spool_oldest_timestamp_seconds > 60');
    expect(buildRules({ exporterJob: 'watcher' })).toContain('up{job="watcher"} == 0 or absent(up{job="watcher"})');
  });
});
