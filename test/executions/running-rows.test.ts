import { describe, expect, it } from 'vitest';
import type { Execution } from '../../src/domain/execution.ts';
import { createSeriesSlots } from '../../src/executions/counting/series-slots.ts';
import { isOverdue, toRunningRows } from '../../src/executions/series/running-rows.ts';
import type { ExecutionSettings } from '../../src/executions/settings.ts';
import { usual } from './scene.ts';
import { someRun, someRunning } from './some-execution.ts';
import { toLines } from './some-rows.ts';

const none = 'project="pay",job_group="",job_name=""';
const of = 'project="pay",job_group="nightly",job_name="settle"';

describe('executions/running-rows', () => {
  it('publishes 0 if no execution runs and none waits', () => {
    expect(show([])).toEqual([
      `executions_running{${none}} 0`,
      `executions_running_overdue{${none}} 0`,
      'executions_queued{project="pay",status="scheduled"} 0',
      'executions_queued{project="pay",status="queued"} 0',
    ]);
  });

  it('counts running executions by job', () => {
    const lines = show([
      someRunning({ id: 1, startedAtMs: 200_000 }),
      someRunning({ id: 2, startedAtMs: 100_000 }),
      someRunning({ id: 3, status: 'scheduled' }),
      someRunning({ id: 4, status: 'queued' }),
      someRunning({ id: 5, job: undefined, startedAtMs: 300_000 }),
    ]);
    expect(lines.filter((line) => !line.includes('overdue'))).toEqual([
      `executions_running{${none}} 1`,
      `executions_running_oldest_start_timestamp_seconds{${none}} 300`,
      `executions_running{${of}} 2`,
      `executions_running_oldest_start_timestamp_seconds{${of}} 100`,
      'executions_queued{project="pay",status="scheduled"} 1',
      'executions_queued{project="pay",status="queued"} 1',
    ]);
  });

  it('shows running executions under configured OpenTelemetry names', () => {
    const executions = [
      someRunning({ id: 1 }),
      someRunning({ id: 2 }),
      someRunning({ id: 3, status: 'queued' }),
      someRunning({ id: 4, job: undefined }),
    ];
    const slots = createSeriesSlots([]);
    const rows = toRunningRows({
      executions,
      projects: ['pay'],
      nowMs: 1,
      slots,
      settings: { ...settings, cicd: true },
    });
    expect(toLines(rows).filter((line) => line.startsWith('cicd'))).toEqual([
      'cicd_pipeline_run_active{cicd_pipeline_name="pay/nightly/settle",cicd_pipeline_run_state="executing"} 2',
      'cicd_pipeline_run_active{cicd_pipeline_name="pay/nightly/settle",cicd_pipeline_run_state="pending"} 1',
    ]);
  });

  it('counts no finished and no excluded executions', () => {
    const left = [someRun(), someRunning({ project: 'stock' }), someRunning({ project: undefined })];
    const excluded = someRunning({ job: { id: 'b', name: 'out', group: '', averageDurationMs: undefined } });
    expect(show([...left, excluded]).filter((line) => !line.endsWith(' 0'))).toEqual([]);
  });

  it('counts jobs beyond the cap together', () => {
    const named = (name: string) => someRunning({ job: { id: name, name, group: 'g', averageDurationMs: undefined } });
    const slots = createSeriesSlots([]);
    slots.setRoom({ jobs: 1, durations: 1, nodes: 1 });
    const lines = show([named('a'), named('b'), named('c')], slots);
    expect(lines.filter((line) => line.startsWith('executions_running{'))).toEqual([
      `executions_running{${none}} 0`,
      'executions_running{project="pay",job_group="g",job_name="a"} 1',
      'executions_running{project="pay",job_group="",job_name="__other__"} 2',
    ]);
    const executions = [named('a'), { ...named('b'), status: 'queued' as const }];
    const rows = toRunningRows({ executions, projects: [], nowMs: 1, slots, settings: { ...settings, cicd: true } });
    expect(toLines(rows).filter((line) => line.startsWith('cicd'))).toEqual([
      'cicd_pipeline_run_active{cicd_pipeline_name="pay/g/a",cicd_pipeline_run_state="executing"} 1',
      'cicd_pipeline_run_active{cicd_pipeline_name="pay/__other__",cicd_pipeline_run_state="pending"} 1',
    ]);
  });

  it('takes no slot for a job that has never finished', () => {
    const slots = createSeriesSlots([]);
    slots.setRoom({ jobs: 1, durations: 1, nodes: 1 });
    const named = (name: string, startedAtMs: number) =>
      someRunning({ startedAtMs, job: { id: name, name, group: '', averageDurationMs: undefined } });
    const own = (lines: readonly string[]) => lines.filter((line) => /^executions_running{.*job_name="."} /.test(line));
    expect(own(show([named('b', 2000), named('a', 1000)], slots))).toEqual([
      'executions_running{project="pay",job_group="",job_name="a"} 1',
    ]);
    expect(slots.taken().jobs).toBe(0);
    expect(own(show([named('b', 2000)], slots))).toEqual([
      'executions_running{project="pay",job_group="",job_name="b"} 1',
    ]);
  });

  it.each([
    ['not before a multiple of its average', 200_000, 600_000, false],
    ['after a multiple of its average', 200_000, 600_001, true],
    ['never before the floor', 1000, 300_000, false],
    ['after the floor', 1000, 300_001, true],
    ['never without an average', undefined, 86_400_000, false],
  ] as const)('reports a run as overdue: %s', (_name, averageDurationMs, runsForMs, overdue) => {
    const job = { id: 'a', name: 'settle', group: 'nightly', averageDurationMs };
    const execution = someRunning({ startedAtMs: 1000, job });
    expect(isOverdue(execution, 'pay', 1000 + runsForMs, settings)).toBe(overdue);
  });
});

const settings: ExecutionSettings = {
  ...usual,
  isWantedProject: (project) => project === 'pay',
  isWantedJob: (path) => path !== 'pay/out',
};

function show(executions: readonly Execution[], slots = createSeriesSlots([])): string[] {
  return toLines(toRunningRows({ executions, projects: ['pay'], nowMs: 400_000, slots, settings }));
}
