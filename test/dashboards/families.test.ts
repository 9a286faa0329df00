import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { buildRules } from '../../alerts/generate.ts';
import { dashboardJson, dashboardNames } from '../../dashboards/generate.ts';
import { annotationQueries, panelQueries } from '../../dashboards/queries.ts';
import { endings } from '../../src/domain/execution.ts';
import { triggers } from '../../src/executions/counting/naming.ts';
import { allFamilies, familyOf, labelsOf } from './contract-metrics.ts';
import { readPromql } from './promql.ts';

/** Families that are on by default but that no dashboard, rule or runbook uses, each with its reason. */
const unused: Readonly<Record<string, string>> = {
  automation_app_distribution: 'few servers publish histograms',
  automation_app_value: 'names and meanings differ from release to release; for dashboards of your own',
  automation_changes_total: 'the journal says what changed; for annotations of your own',
  automation_execution_mode_change_timestamp_seconds: 'the mode itself is drawn over time',
  automation_execution_recent_duration_seconds: 'rounded by the server; the histogram is exact',
  automation_job_flaky: 'the list of jobs shows them',
  automation_executions_recent: 'the counter of executions gives any window',
  automation_exporter_api_inflight: 'momentary; the rate of requests and their durations say more',
  automation_exporter_circuit_open: 'follows from a server that is down',
  automation_exporter_credential_file_changes_total: 'for the audit of credentials',
  automation_exporter_execution_pages_forgotten_total: 'pages are a convenience',
  automation_exporter_ledger_entries: 'bounded; for capacity questions',
  automation_exporter_server_epoch: 'changes when the database of a server is replaced',
  automation_exporter_spool_bytes: 'the number of waiting traces and their age say more',
  automation_exporter_log_lines_total: 'only where lines of logs are sent',
  automation_exporter_log_redactions_total: 'only where lines of logs are kept',
  automation_exporter_metrics_pushes_total: 'only where metrics are pushed',
  automation_exporter_metrics_points_rejected_total: 'only where metrics are pushed',
  automation_exporter_state_resets_total: 'the log says what was lost',
  automation_exporter_traceparent_invalid_total: 'for those who hand over trace contexts',
  automation_job_owner_info: 'for the alerts about jobs',
  automation_project_info: 'for joins with labels of projects',
  automation_projects: 'the table of projects says more',
  automation_server_os_info: 'a fact for joins',
  automation_tokens: 'the alert on expiry uses the times',
};

const ruleQueries = readRules().map(({ alert, record, expr }) => ({ where: alert ?? record ?? '', expr }));
const dashboardQueries = dashboardNames.flatMap((name) => {
  const json = dashboardJson(name);
  return [...panelQueries(json), ...annotationQueries(json)].map(({ panel, expr }) => ({
    where: `${name}: ${panel}`,
    expr,
  }));
});
const queries = [...ruleQueries, ...dashboardQueries];

/** Labels whose values come from a closed list. */
const words: Readonly<Record<string, readonly string[]>> = {
  status: [...endings, 'scheduled', 'queued'],
  trigger: triggers,
  mode: ['active', 'passive'],
  severity: ['critical', 'warning'],
  alertstate: ['firing', 'pending'],
};

describe('dashboards/families', () => {
  it('uses labels that the series have', () => {
    const wrong = queries.flatMap(({ where, expr }) =>
      readPromql(expr).selectors.flatMap(({ metric, matchers }) =>
        matchers
          .filter(({ label }) => labelsOf.get(metric)?.has(label) !== true)
          .map(({ label }) => `${where}: ${metric} has no ${label}`),
      ),
    );
    expect(wrong).toEqual([]);
  });

  it('groups by labels that at least one of the series has', () => {
    const added = ['pod', 'cause', 'sloth_window', 'sloth_id', 'sloth_slo', 'sloth_service'];
    const wrong = queries.flatMap(({ where, expr }) => {
      const { grouping, metrics } = readPromql(expr);
      return grouping
        .filter((label) => !added.includes(label) && !metrics.some((metric) => labelsOf.get(metric)?.has(label)))
        .map((label) => `${where}: nothing has ${label}`);
    });
    expect(wrong).toEqual([]);
  });

  it('selects only possible values of labels', () => {
    const wrong = queries.flatMap(({ where, expr }) =>
      readPromql(expr).selectors.flatMap(({ matchers }) =>
        matchers.flatMap(({ label, value }) =>
          value
            .split('|')
            .filter((word) => words[label] !== undefined && !words[label].includes(word))
            .map((word) => `${where}: ${label} is never ${word}`),
        ),
      ),
    );
    expect(wrong).toEqual([]);
  });

  it('uses every family that is on by default, or states why not', () => {
    const runbooks = new URL('../../alerts/runbooks/', import.meta.url);
    const texts = readdirSync(runbooks).map((name) => readFileSync(new URL(name, runbooks), 'utf8'));
    const asked = new Set(
      queries.flatMap(({ expr }) => readPromql(expr).metrics.map((metric) => familyOf(metric) ?? metric)),
    );
    const found = allFamilies
      .filter(({ name, on }) => on && !name.startsWith('cicd_') && !asked.has(name))
      .map(({ name }) => name)
      .filter((name) => !texts.some((text) => new RegExp(`\\b${name}\\b`).test(text)));
    expect([...new Set(found)].toSorted()).toEqual(Object.keys(unused).toSorted());
  });

  it('has no dashboard query with unlimited series', () => {
    const growing = /\b(?:project|job_name|node|name|api_endpoint)\b/;
    // These series are shown as one table row for each server.
    const isFact = (expr: string): boolean => /\((?:automation_server_info|automation_server_jvm_info)\{/.test(expr);
    const unbounded = dashboardQueries.filter(
      ({ expr }) =>
        !isFact(expr) &&
        [...expr.matchAll(/\bby \(([^)]*)\)/g)].some(([, by = '']) => growing.test(by)) &&
        !/\b(?:top|bottom)k\(/.test(expr),
    );
    expect(unbounded).toEqual([]);
  });
});

interface Rule {
  readonly alert?: string;
  readonly record?: string;
  readonly expr: string;
}

function readRules(): Rule[] {
  // The cast has only the fields that the tests use.
  const { groups } = parse(buildRules()) as { readonly groups: readonly { readonly rules: readonly Rule[] }[] };
  return groups.flatMap(({ rules }) => rules);
}
