import { describe, expect, it } from 'vitest';
import { noPause } from '../../src/domain/pause.ts';
import { createOutlook } from '../../src/expected-runs/ahead.ts';
import { sourceKeys } from '../../src/expected-runs/deciding/sources.ts';
import { someRun } from '../executions/some-execution.ts';
import { createStopping, hour } from './hourly.ts';
import { hourMs, job, nowMs } from './risks/some-risks.ts';

describe('expected-runs, of a cluster behind one address', () => {
  it('compares the runs of a member with its threads', async () => {
    const { control, minutes, risks, schedule } = createStopping({ members: 3, threadPoolSize: 3 });
    control.createProject('pay');
    control.setConditions({ durationFactor: 60 });
    // Each member has every third job.
    for (let count = 0; count < 9; count += 1) control.createJob('pay', { name: `job ${count}`, schedule: hour });
    await minutes(80);
    const { byReason, expected } = await risks();
    expect([expected, byReason.get('saturated'), byReason.get('owner_gone')]).toEqual([108, 0, undefined]);
    expect((await schedule()).ahead).toMatchObject({ threads: 9, day: { most: 9, exceededMs: undefined } });
    control.createJob('pay', { name: 'one too many', schedule: hour });
    await minutes(10);
    expect((await risks()).byReason.get('saturated')).toBe(4 * 12);
    const { hours } = (await schedule()).ahead ?? {};
    expect(hours?.map(({ exceeded }) => exceeded?.jobCount).slice(0, 3)).toEqual([undefined, 4, 4]);
  });

  it('counts jobs of unknown owners without adding threads for them', async () => {
    const { plan, ahead } = outlookOf({ a: 'one', b: 'one', c: undefined });
    const { day } = await plan(noPause);
    expect([day, ahead()?.threads]).toEqual([{ most: 3, exceededMs: nowMs + 60_000 }, 2]);
  });

  it('counts runs in progress, but no waiting runs, for the owner of the job', async () => {
    const crowdsWith = async (running: string, status: Status = 'running') => {
      const { plan, ahead } = outlookOf({ a: 'one', b: 'one', c: 'two' }, running, { endsInMs: 90_000, status });
      await plan(noPause);
      return ahead()?.crowds.map(({ ownerUuid }) => ownerUuid);
    };
    // Each member has two threads; `one` needs both for two starts during the run in progress.
    expect([await crowdsWith('c'), await crowdsWith('d')]).toEqual([[], ['one']]);
    expect([await crowdsWith('d', 'scheduled'), await crowdsWith('d', 'queued')]).toEqual([[], []]);
  });

  it.each([
    [-600_000, 600_000],
    [-30_000, 60_000],
    [0, 60_000],
  ])('expects an overdue run to take as long again, or a minute at least: %i ms', async (endsInMs, againMs) => {
    const { windows } = outlookOf({ a: 'one' }, 'a', { endsInMs });
    const { running, overdue } = await windows({ forMs: 60_000, withinMs: 60_000, count: 1 }, noPause);
    expect([running.map(({ endMs }) => endMs), overdue]).toEqual([[nowMs + againMs], 1]);
  });

  it('counts the jobs whose times are unknown at the end of a window', async () => {
    const { windows } = outlookOf({ a: 'one' });
    const untimed = async (withinMs: number) => (await windows({ forMs: hourMs, withinMs, count: 1 }, noPause)).untimed;
    expect([await untimed(23 * hourMs), await untimed(23 * hourMs + 1)]).toEqual([0, 2]);
  });
});

type Status = 'running' | 'scheduled' | 'queued';

/** Jobs that start nothing, although their times are known. */
const quiet = Object.entries({
  gone: { goneAtMs: nowMs },
  off: { off: [{ what: 'job', sinceMs: 0, seenAtMs: nowMs }] },
  stopped: { project: 'stopped' },
} as const).map(([name, fields]) => [name, job(name, [1], fields)] as const);
const stopped = [
  [sourceKeys.project('stopped'), [{ value: 'schedule_disabled', fromMs: 0, throughMs: nowMs }]],
] as const;

/** Returns the outlook of jobs that start in one minute, by owner. One run is in progress and ends at a given time. */
function outlookOf(
  owners: Readonly<Record<string, string | undefined>>,
  running?: string,
  given: { readonly endsInMs?: number; readonly status?: Status } = {},
) {
  const { endsInMs = 0, status = 'running' } = given;
  const durationMs = 1000;
  const toJob = (name: string, times: readonly number[], ownerUuid?: string) =>
    [name, job(name, times, ownerUuid ? { ownerUuid } : {})] as const;
  const jobs = Object.entries(owners).map(([name, ownerUuid]) => toJob(name, [1], ownerUuid));
  const run = someRun({
    status,
    startedAtMs: nowMs + endsInMs - durationMs,
    job: { id: running ?? '', name: running ?? '', group: '', averageDurationMs: undefined },
  });
  return createOutlook({
    jobs: { all: new Map([...jobs, ...quiet, toJob('d', [], 'one')]), failingNodes: () => new Map(), hours: () => [] },
    port: {
      running: () => (running === undefined ? [] : [{ ...run, endedAtMs: undefined, project: 'pay' }]),
      durationMs: () => durationMs,
      factsOf: () => undefined,
      progress: () => undefined,
      runningReadMs: () => 0,
    },
    notes: { all: () => new Map(stopped), serverNowMs: () => nowMs, threads: () => 2 },
    settings: { isCriticalJob: () => false },
    surroundings: () => undefined,
  });
}
