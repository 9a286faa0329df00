import { describe, expect, it } from 'vitest';
import { noPause } from '../../../src/domain/pause.ts';
import type { HourOfTimes } from '../../../src/expected-runs/deciding/hours.ts';
import { addMisses, type Verdict, type WatchedJob } from '../../../src/expected-runs/deciding/watched-job.ts';
import { readKept, toJobDocument } from '../../../src/expected-runs/documents.ts';
import { findSkipped, type Success } from '../../../src/expected-runs/risks/find-skipped.ts';
import { hourMs, job, minuteMs, nowMs } from './some-risks.ts';

const at = (minutes: number): number => nowMs + minutes * minuteMs;

function missed(minutes: number, reason: 'passive' | 'overlap' = 'passive'): Verdict {
  return { is: 'missed', expectedMs: at(minutes), reason, facts: [] };
}

function missing(name: string, ...verdicts: readonly Verdict[]): WatchedJob {
  const misses = addMisses(undefined, verdicts, nowMs);
  return job(name, [], { verdicts, ...(misses && { misses }) });
}

function find(
  jobs: readonly WatchedJob[],
  successes: Readonly<Record<string, readonly Success[]>> = {},
  hours: readonly HourOfTimes[] = [],
) {
  return findSkipped(
    {
      jobs,
      sinceMs: nowMs - 12 * hourMs,
      untilMs: nowMs,
      successes: new Map(Object.entries(successes)),
      running: new Map([['long', [{ id: 7, startedAtMs: at(-20), kind: 'scheduled' }]]]),
      isCritical: (path) => path.includes('critical'),
      isProjectOff: (project) => project === 'off',
      hours,
    },
    noPause,
  );
}

describe('expected-runs/risks/find-skipped', () => {
  it('lists the missed runs of an interval, critical ones first', async () => {
    const found = await find([
      missing('a', missed(-721), missed(-60), missed(-50), missed(-40, 'overlap')),
      missing('critical', missed(-30)),
      job('open', [-800, -60, -3, -1, 1], { decidedMs: at(-900) }),
      missing('unsure', { is: 'undecided', expectedMs: at(-5), why: 'edited', count: 3 }),
    ]);
    expect(found).toMatchObject({ missed: 4, left: 4, undecided: 3, open: 2, watchedMs: 0 });
    expect(
      found.runs.map(({ job: { name }, reason, count, firstMs, lastMs }) => [name, reason, count, firstMs, lastMs]),
    ).toEqual([
      ['critical', 'passive', 1, at(-30), at(-30)],
      ['a', 'passive', 2, at(-60), at(-50)],
      ['a', 'overlap', 1, at(-40), at(-40)],
    ]);
  });

  it('counts the times of an interval, including both ends', async () => {
    const unsure = (minutes: number): Verdict => ({ is: 'undecided', expectedMs: at(minutes), why: 'edited' });
    const times = [-720 - 1e-4, -720, 0, 1e-4];
    const some = missing('a', ...times.map((minutes) => missed(minutes)));
    const open = job('open', [-720, -2 - 1e-4, -2, 0], { decidedMs: 0 });
    const found = await find([some, missing('unsure', ...times.map(unsure)), open]);
    expect(found).toMatchObject({ missed: 2, undecided: 2, open: 2 });
    const hour = (minutes: number, undecided: number) => ({ startMs: at(minutes), undecided }) as HourOfTimes;
    // Some undecided times of the first hour may be in the interval, although no job stores them any more.
    const hours = [hour(-780, 8), hour(-779, 4), hour(-720, 2), hour(-60, 1), hour(0, 8)];
    expect((await find([missing('unsure', unsure(-5))], {}, hours)).undecided).toBe(7);
  });

  it('counts the jobs of which only the last missed runs are known', async () => {
    const every = (seconds: number) => Array.from({ length: 1600 }, (_, run) => missed(-500 + (run * seconds) / 60));
    expect(await find([missing('fast', ...every(10)), missing('few', missed(-5))])).toMatchObject({
      missed: 1501,
      cut: 1,
    });
    expect((await find([missing('slow', ...every(-30).toReversed())])).cut).toBe(0);
  });

  it('names a later run in progress', async () => {
    const { left, runs } = await find([
      missing('long', missed(-30), missed(-10)),
      { ...missing('gone', missed(-5)), goneAtMs: at(-1) },
    ]);
    expect(left).toBe(3);
    expect(runs.map(({ lastMs, underWay, isGone }) => [lastMs, underWay?.id, isGone])).toEqual([
      [at(-30), 7, false],
      [at(-10), undefined, false],
      [at(-5), undefined, true],
    ]);
  });

  it('reports since when jobs have been watched', async () => {
    const sinceMs = at(-90);
    const gone = job('gone', [], { sinceMs: at(-400), goneAtMs: at(-100) });
    expect(await find([gone, job('a', [], { sinceMs: at(-60) }), job('b', [], { sinceMs })])).toMatchObject({
      watchedMs: sinceMs,
    });
    expect((await find([gone])).watchedMs).toBeUndefined();
  });

  it('counts the jobs with unknown times', async () => {
    const of = (name: string, fields: Partial<WatchedJob>): WatchedJob => job(name, undefined, fields);
    const off = [{ what: 'job', sinceMs: 0, seenAtMs: 0 }] as const;
    const ended = { source: 'forecast', askedAtMs: 0, confirmedMs: 0, timesMs: [], untilMs: at(-11) } as const;
    const jobs = [
      of('new', {}),
      of('late', { timetable: ended }),
      of('read', { timetable: { ...ended, untilMs: nowMs } }),
    ];
    const quiet = [of('gone', { goneAtMs: at(-60) }), of('switched off', { off }), of('idle', { project: 'off' })];
    expect((await find([...jobs, ...quiet])).untimed).toBe(2);
  });

  it('marks missed runs as recovered by the first later success', async () => {
    const successes = [
      { id: 1, startedAtMs: at(-55) },
      { id: 2, startedAtMs: at(-45) },
      { id: 3, startedAtMs: at(-44) },
    ];
    // Runs are found by the id of the job, or by its path for runs of an earlier release.
    const found = await find([missing('a', missed(-60), missed(-50), missed(-48), missed(-40))], {
      'pay/a': successes.slice(0, 1),
      a: successes.slice(1),
    });
    expect(found).toMatchObject({ missed: 4, left: 1 });
    expect(found.runs.map(({ count, firstMs, recovered }) => [firstMs, count, recovered?.id])).toEqual([
      [at(-40), 1, undefined],
      [at(-60), 1, 1],
      [at(-50), 2, 2],
    ]);
  });

  it('keeps a day of missed runs of a job that starts each minute', () => {
    const toReason = (index: number) => (index >= 100 && index < 800 ? 'overlap' : 'passive');
    const minutes = Array.from({ length: 1600 }, (_, index) => missed(index - 1600, toReason(index)));
    const misses = addMisses(undefined, minutes, nowMs);
    expect(misses?.map(({ reason, timesMs }) => [reason, timesMs.length, timesMs[0]])).toEqual([
      ['overlap', 700, at(-1500)],
      ['passive', 800, at(-800)],
    ]);
    const before = job('a', [], { ...(misses && { misses }) });
    const document = toJobDocument(before);
    expect(document.body?.length).toBeLessThan(1000);
    expect(readKept([document]).jobs.get('a')).toEqual(before);
    expect(addMisses(misses, [], nowMs)).toBe(misses);
    expect(addMisses(misses, [], nowMs + 10 * 24 * hourMs)).toEqual([]);
  });

  it('keeps the facts of each missed run', () => {
    const overlap = (minutes: number, id: number): Verdict => ({
      is: 'missed',
      expectedMs: at(minutes),
      reason: 'overlap',
      facts: [{ fact: `the run #${id} was still running`, atMs: at(id), source: 'executions' }],
    });
    const few = addMisses(undefined, [overlap(-40, 1), overlap(-39, 1), overlap(-38, 2)], nowMs);
    expect(few?.map(({ facts, timesMs }) => [facts[0]?.fact, timesMs.length])).toEqual([
      ['the run #1 was still running', 2],
      ['the run #2 was still running', 1],
    ]);
    const many = Array.from({ length: 300 }, (_, index) => overlap(index - 300, index));
    const misses = addMisses(undefined, many, nowMs);
    expect([misses?.length, misses?.at(-1)?.facts, misses?.at(-1)?.timesMs.length]).toEqual([100, [], 201]);
  });

  it('keeps the order of missed runs if an earlier time is decided later', async () => {
    const misses = addMisses(addMisses(undefined, [missed(-40)], nowMs), [missed(-60)], nowMs);
    const found = await find([job('a', [], { ...(misses && { misses }) })]);
    expect(found.runs.map(({ firstMs }) => firstMs)).toEqual([at(-60), at(-40)]);
  });
});
