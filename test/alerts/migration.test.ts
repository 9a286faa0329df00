import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { buildMigrationRules } from '../../alerts/migration.ts';
import { contractMetrics } from '../dashboards/contract-metrics.ts';
import { readPromql } from '../dashboards/promql.ts';
import { makeFolder } from '../support/folder.ts';
import { runCommand } from '../support/process.ts';
import { describeWithTools } from '../support/tools.ts';

const job = 'server="prod",project="pay",job_group="nightly",job_name="settle",instance="a",job="automation-exporter"';
const old = 'instance_address="prod",project_name="pay",server="prod",project="pay"';
const oldJob = `${old},job_group="nightly",job_name="settle"`;

it('names only existing series', () => {
  // The cast has only the fields that are used.
  const { groups } = parse(buildMigrationRules()) as {
    readonly groups: readonly [{ readonly rules: readonly { readonly expr: string }[] }];
  };
  const read = groups[0].rules.map(({ expr }) => readPromql(expr));
  expect(read.length).toBeGreaterThan(15);
  expect(read.filter(({ valid }) => !valid)).toEqual([]);
  expect(read.flatMap(({ metrics }) => metrics).filter((name) => !contractMetrics.has(name))).toEqual([]);
});

describeWithTools('alerts/migration-rules.yaml', ['promtool'], ({ promtool }) => {
  it('gives the series the names that the other exporter uses', async () => {
    const folder = makeFolder();
    // An evaluation in each minute of a day would take minutes.
    writeFileSync(join(folder, 'rules.yaml'), buildMigrationRules().replace('interval: 1m', 'interval: 1h'));
    const series = (name: string, values: string) => ({ series: name, values });
    const expected = (expr: string, labels: string, value: number) => ({
      expr,
      eval_time: '26h',
      exp_samples: [{ labels, value }],
    });
    const tests = [
      {
        interval: '1m',
        input_series: [
          series('automation_execution_mode{server="prod",mode="passive",instance="a"}', '1x1600'),
          series('automation_server_start_time_seconds{server="prod",instance="a"}', '1700000000x1600'),
          series(`automation_job_last_status{${job},status="failed"}`, '1x1600'),
          series(`automation_job_last_duration_seconds{${job}}`, '12x1600'),
          series(`automation_executions_running{${job}}`, '2x1600'),
          series(`automation_executions_running{${job.replace('settle', 'ended')}}`, '1x1558 stale'),
          series(
            'automation_project_executions_total{server="prod",project="pay",status="failed",instance="a",job="automation-exporter"}',
            '0+1x1600',
          ),
        ],
        promql_expr_test: [
          expected(
            'rundeck_execution_mode_passive',
            'rundeck_execution_mode_passive{instance_address="prod",mode="passive",server="prod"}',
            1,
          ),
          expected(
            'rundeck_system_stats_uptime_since',
            'rundeck_system_stats_uptime_since{instance_address="prod",server="prod"}',
            1_700_000_000_000,
          ),
          expected(
            'rundeck_project_execution_status{status="failed"}',
            `rundeck_project_execution_status{${oldJob},status="failed"}`,
            1,
          ),
          expected(
            'rundeck_project_execution_status{status="running"}',
            `rundeck_project_execution_status{${oldJob},status="running"}`,
            1,
          ),
          expected(
            'rundeck_project_execution_duration_seconds',
            `rundeck_project_execution_duration_seconds{${oldJob},job="automation-exporter"}`,
            12,
          ),
          expected('rundeck_project_executions_total', `rundeck_project_executions_total{${old}}`, 1442),
        ],
      },
    ];
    writeFileSync(
      join(folder, 'test.yaml'),
      stringify({ rule_files: ['rules.yaml'], evaluation_interval: '1h', tests }),
    );
    expect(await runCommand(promtool, ['test', 'rules', 'test.yaml'], { cwd: folder })).toContain('SUCCESS');
  });
});
