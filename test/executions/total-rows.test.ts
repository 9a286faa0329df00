import { describe, expect, it } from 'vitest';
import type { FailureLines, JobFacts } from '../../src/domain/job.ts';
import { createSeriesSlots } from '../../src/executions/counting/series-slots.ts';
import { type Cell, toCellKey, toJobKey } from '../../src/executions/counting/totals.ts';
import { type Hold, type ProjectState, toNewProject } from '../../src/executions/ledger/project-state.ts';
import { toHiddenRows, toTotalRows } from '../../src/executions/series/total-rows.ts';
import { defaultBuckets } from '../../src/executions/settings.ts';
import { toLines } from './some-rows.ts';

const of = 'project="pay",job_group="nightly",job_name="settle"';
const labels = ['pay', 'nightly', 'settle'];

describe('executions/total-rows', () => {
  it('shows executions, nodes and failures of nodes as counters', () => {
    const cells: Cell[] = [
      { kind: 'runs', labels: [...labels, 'failed'], count: 3, isReleased: true },
      { kind: 'nodes', labels: [...labels, 'failed'], count: 4, isReleased: true },
      { kind: 'node-failures', labels: ['pay', 'web01'], count: 2, isReleased: true },
      { kind: 'project-runs', labels: ['pay', 'webhook', 'failed'], count: 5, isReleased: true },
    ];
    expect(show({ cells })).toEqual([
      `executions_total{${of},status="failed"} 3`,
      `execution_nodes_total{${of},result="failed"} 4`,
      'node_failures_total{project="pay",node="web01"} 2',
      'project_executions_total{project="pay",trigger="webhook",status="failed"} 5',
    ]);
  });

  it('shows durations as a histogram, and the sum 0 if there are none', () => {
    const cells: Cell[] = [
      {
        kind: 'durations',
        labels: [...labels, 'succeeded'],
        count: 6,
        sumSeconds: 50,
        buckets: [1, 2, 3],
        isReleased: true,
      },
    ];
    const name = 'execution_duration_seconds';
    expect(show({ cells })).toEqual([
      `${name}_bucket{${of},status="succeeded",le="1.0"} 1`,
      `${name}_bucket{${of},status="succeeded",le="10.0"} 3`,
      `${name}_bucket{${of},status="succeeded",le="+Inf"} 6`,
      `${name}_sum{${of},status="succeeded"} 50`,
      `${name}_count{${of},status="succeeded"} 6`,
    ]);
    const none: Cell = { kind: 'durations', labels: [...labels, 'failed'], count: 0, isReleased: true };
    expect(show({ cells: [none] }).at(-2)).toBe(`${name}_sum{${of},status="failed"} 0`);
  });

  it('counts durations by default in buckets from a second to half a day', () => {
    expect(defaultBuckets).toEqual([1, 5, 15, 30, 60, 120, 300, 600, 1800, 3600, 7200, 21_600, 43_200]);
  });

  it('shows no series for an unknown number of hidden executions', () => {
    const history = [
      { project: 'pay', counted: 5, readable: 2 },
      { project: 'stock', counted: undefined, readable: 0 },
    ];
    expect(toLines(toHiddenRows({ running: 'known', runningDenied: [], history }))).toEqual([
      'exporter_executions_hidden{project="pay"} 3',
    ]);
  });

  it('shows totals under configured OpenTelemetry names', () => {
    const cell = (kind: Cell['kind'], ending: string, count: number, isReleased = true): Cell => ({
      kind,
      labels: [...labels, ending],
      count,
      isReleased,
      ...(kind === 'durations' ? { sumSeconds: 4 * count, buckets: [1, count - 1, 0] } : {}),
    });
    const cells: Cell[] = [
      cell('durations', 'succeeded', 6),
      cell('durations', 'failed', 2),
      cell('durations', 'failed-with-retry', 3),
      cell('durations', 'aborted', 4, false),
      cell('runs', 'succeeded', 6),
      cell('runs', 'failed', 2),
      cell('runs', 'failed-with-retry', 3),
      cell('runs', 'timedout', 1),
      { kind: 'runs', labels: ['pay', '', '', 'failed'], count: 9, isReleased: true },
    ];
    const name = 'cicd_pipeline_run_duration_seconds';
    const of = 'cicd_pipeline_name="pay/nightly/settle"';
    const [good, bad, cancelled] = [
      ['success', ''],
      ['failure', '_OTHER'],
      ['cancellation', ''],
    ].map(
      ([result, error]) =>
        `${of},cicd_pipeline_run_state="executing",cicd_pipeline_result="${result}",error_type="${error}"`,
    );
    expect(show({ cells, cicd: true }).filter((line) => line.startsWith('cicd'))).toEqual([
      `${name}_bucket{${good},le="1.0"} 1`,
      `${name}_bucket{${good},le="10.0"} 6`,
      `${name}_bucket{${good},le="+Inf"} 6`,
      `${name}_sum{${good}} 24`,
      `${name}_count{${good}} 6`,
      `${name}_bucket{${bad},le="1.0"} 2`,
      `${name}_bucket{${bad},le="10.0"} 5`,
      `${name}_bucket{${bad},le="+Inf"} 5`,
      `${name}_sum{${bad}} 20`,
      `${name}_count{${bad}} 5`,
      `${name}_bucket{${cancelled},le="1.0"} 0`,
      `${name}_bucket{${cancelled},le="10.0"} 0`,
      `${name}_bucket{${cancelled},le="+Inf"} 0`,
      `${name}_sum{${cancelled}} 0`,
      `${name}_count{${cancelled}} 0`,
      `cicd_pipeline_run_errors_total{${of},error_type="_OTHER"} 5`,
      `cicd_pipeline_run_errors_total{${of},error_type="timeout"} 1`,
    ]);
    expect(show({ cells }).filter((line) => line.startsWith('cicd'))).toEqual([]);
  });

  it('shows new series as 0 first', () => {
    const cells: Cell[] = [
      { kind: 'runs', labels: [...labels, 'failed'], count: 3, isReleased: false },
      {
        kind: 'durations',
        labels: [...labels, 'failed'],
        count: 3,
        sumSeconds: 9,
        buckets: [1, 2, 0],
        isReleased: false,
      },
    ];
    expect(show({ cells }).filter((line) => !line.endsWith(' 0'))).toEqual([]);
  });

  it('includes a job without a slot in all totals', () => {
    const left: JobFacts = {
      project: 'pay',
      group: 'nightly',
      name: 'settle',
      jobId: 'a-1',
      lastStartMs: 1,
      lastEndMs: 2,
      lastId: 42,
      lastEnding: 'failed',
      consecutiveFailures: 2,
      leftOut: 'all',
    };
    const other = ['pay', '', '__other__', 'failed'];
    const cells: Cell[] = [
      { kind: 'runs', labels: [...labels, 'failed'], count: 3, isReleased: true },
      { kind: 'nodes', labels: [...labels, 'failed'], count: 3, isReleased: true },
      { kind: 'durations', labels: [...labels, 'failed'], count: 3, buckets: [3, 0, 0], isReleased: true },
      { kind: 'runs', labels: other, count: 5, isReleased: true },
    ];
    expect(show({ cells, jobs: [left] })).toEqual([
      'executions_total{project="pay",job_group="",job_name="__other__",status="failed"} 5',
    ]);
  });

  it.each([
    ['disabled', 1],
    ['hidden', 1],
    ['missing', 0],
    ['excluded', 0],
  ] as const)('publishes a limited number of series for a project that is %s: %i', (hold, series) => {
    const cells: Cell[] = [{ kind: 'runs', labels: [...labels, 'failed'], count: 3, isReleased: true }];
    expect(show({ cells, hold })).toHaveLength(series);
  });

  it('publishes no failures of a project whose failures by class are incomplete', () => {
    const cells: Cell[] = [
      { kind: 'runs', labels: [...labels, 'failed'], count: 3, isReleased: true },
      { kind: 'failures', labels: [...labels, 'work'], count: 2, isReleased: true },
    ];
    expect([show({ cells }), show({ cells, behind: ['pay'] })].map(({ length }) => length)).toEqual([2, 1]);
  });

  it('shows only known facts of a job', () => {
    const job: JobFacts = {
      project: 'pay',
      group: 'nightly',
      name: 'settle',
      jobId: 'a-1',
      lastStartMs: 1_500_000,
      lastEndMs: 1_502_500,
      lastSuccessMs: undefined,
      lastDurationMs: 2500,
      lastId: 42,
      lastFailedId: 41,
      lastEnding: 'aborted',
      consecutiveFailures: 2,
      averageDurationMs: undefined,
      lastFailure: { id: 41, failureClass: 'work' },
    };
    expect(show({ jobs: [job] })).toEqual([
      `job_last_start_timestamp_seconds{${of}} 1500`,
      `job_last_end_timestamp_seconds{${of}} 1502.5`,
      `job_last_duration_seconds{${of}} 2.5`,
      `job_last_execution_id{${of}} 42`,
      `job_last_failed_execution_id{${of}} 41`,
      `job_last_status{${of},status="succeeded"} 0`,
      `job_last_status{${of},status="failed"} 0`,
      `job_last_status{${of},status="aborted"} 1`,
      `job_last_status{${of},status="timedout"} 0`,
      `job_last_status{${of},status="failed-with-retry"} 0`,
      `job_last_status{${of},status="missed"} 0`,
      `job_last_status{${of},status="other"} 0`,
      `job_consecutive_failures{${of}} 2`,
      `job_success_age_limit_seconds{${of}} 86400`,
      `job_owner_info{${of},owner="payments"} 1`,
    ]);
    const failed = (lines?: FailureLines) =>
      show({ jobs: [{ ...job, lastFailure: { id: 42, failureClass: 'work', lines } }] }).at(-3);
    expect(failed()).toBe(`job_last_failure_info{${of},class="work",new="unknown"} 1`);
    expect(failed({ fingerprint: 'v1:1', isNew: true })).toBe(`job_last_failure_info{${of},class="work",new="true"} 1`);
    expect(show({ jobs: [{ ...job, group: '', name: 'out' }] })).toEqual([]);
  });
});

type Given = {
  readonly cells?: readonly Cell[];
  readonly jobs?: readonly JobFacts[];
  readonly hold?: Hold;
  readonly cicd?: boolean;
  readonly behind?: readonly string[];
};

function show({ cells = [], jobs = [], hold, cicd = false, behind = [] }: Given): string[] {
  const state: ProjectState = { ...toNewProject('pay', 0), hold };
  const rows = toTotalRows({
    totals: {
      cells: new Map(cells.map((cell) => [toCellKey(cell.kind, cell.labels), cell])),
      jobs: new Map(jobs.map((job) => [toJobKey(job.project, job.group, job.name), job])),
      slots: createSeriesSlots(cells, new Map(jobs.map((job) => [toJobKey(job.project, job.group, job.name), job]))),
    },
    states: new Map([['pay', state]]),
    behind: new Set(behind),
    exemplars: { of: () => [] },
    nativeSeconds: undefined,
    settings: {
      buckets: [1, 10],
      cicd,
      isWantedJob: (path) => path !== 'pay/out',
      successAgeMsOf: (path) => (path === 'pay/nightly/settle' ? 86_400_000 : undefined),
      ownerOf: (path) => (path === 'pay/nightly/settle' ? 'payments' : undefined),
    },
  });
  return toLines(rows);
}
