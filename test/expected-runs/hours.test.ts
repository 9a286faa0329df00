import { describe, expect, it } from 'vitest';
import { noPause } from '../../src/domain/pause.ts';
import { addToHours, type HourOfTimes, isLate, lastHours, toDelay } from '../../src/expected-runs/deciding/hours.ts';
import { type JobStart, joinPlans, planHoursAhead } from '../../src/expected-runs/deciding/hours-ahead.ts';
import { sourceKeys } from '../../src/expected-runs/deciding/sources.ts';
import type { Judged, Verdict, WatchedJob } from '../../src/expected-runs/deciding/watched-job.ts';
import { toServerSchedule } from '../../src/expected-runs/showing/server-schedule.ts';
import { someJob } from './some-job.ts';

const midnightMs = Date.UTC(2026, 10, 22);
const minuteMs = 60_000;
const at = (hour: number, minute = 0): number => midnightMs + (hour * 60 + minute) * minuteMs;

function job(fields: Partial<WatchedJob> = {}): WatchedJob {
  return someJob({ id: 'j1', name: 'settle', ...fields });
}

function judged(...verdicts: readonly Verdict[]): Judged {
  return { job: job(), verdicts };
}

const empty: HourOfTimes = { startMs: 0, ran: 0, late: 0, off: 0, undecided: 0, missed: {} };

describe('expected-runs/deciding/hours', () => {
  it('counts the decisions of each hour over all jobs', () => {
    const first = addToHours(
      [],
      [
        judged(
          { is: 'ran', expectedMs: at(1), delayMs: 300_000, runId: 1 },
          { is: 'ran', expectedMs: at(1, 59), delayMs: 300_001, runId: 2 },
        ),
        judged({ is: 'missed', expectedMs: at(2), reason: 'passive', facts: [] }),
      ],
    );
    const second = addToHours(first, [
      judged(
        { is: 'missed', expectedMs: at(2, 30), reason: 'passive', facts: [] },
        { is: 'missed', expectedMs: at(2, 40), reason: 'down', facts: [] },
        { is: 'off', expectedMs: at(2, 50), what: 'job', facts: [] },
        { is: 'undecided', expectedMs: at(0, 10), why: 'unread' },
      ),
    ]);
    expect(second).toEqual([
      { ...empty, startMs: at(0), undecided: 1 },
      { ...empty, startMs: at(1), ran: 1, late: 1 },
      { ...empty, startMs: at(2), off: 1, missed: { passive: 2, down: 1 } },
    ]);
  });

  it('keeps the hours of three days', () => {
    const ran: Verdict = { is: 'ran', expectedMs: at(1), delayMs: 0, runId: 1 };
    const hours = addToHours(addToHours([], [judged(ran)]), [judged({ ...ran, expectedMs: at(3) })]);
    expect(lastHours(hours, at(4, 30), 5)).toEqual([
      { startMs: at(0), known: undefined },
      { startMs: at(1), known: { ...empty, startMs: at(1), ran: 1 } },
      { startMs: at(2), known: { ...empty, startMs: at(2) } },
      { startMs: at(3), known: { ...empty, startMs: at(3), ran: 1 } },
      { startMs: at(4), known: { ...empty, startMs: at(4) } },
    ]);
    const later = addToHours(hours, [judged({ ...ran, expectedMs: at(74) })]);
    expect(later.map(({ startMs }) => startMs)).toEqual([at(3), at(74)]);
  });
});

describe('expected-runs/deciding/hours, delays', () => {
  it.each([
    ['in time', 0],
    ['in time', 999],
    ['in time, after 1 s', 1000],
    ['in time, after 5 min', 300_000],
    ['5 min late', 300_001],
  ])('describes a run that is %s', (text, delayMs) => {
    const ran = { is: 'ran', expectedMs: 0, delayMs, runId: 1 } as const;
    expect([toDelay(ran), isLate(ran)]).toEqual([text, delayMs > 300_000]);
  });
});

describe('expected-runs/deciding/hours-ahead', () => {
  const toStart = (name: string, atMs: number, minutes: number): JobStart => ({
    atMs,
    durationMs: minutes * minuteMs,
    job: { project: 'pay', group: '', name },
  });

  const plan = (starts: readonly JobStart[], window: Omit<Parameters<typeof planHoursAhead>[0], 'startsWithin'>) =>
    planHoursAhead({
      ...window,
      startsWithin: (fromMs, toMs) => starts.filter(({ atMs }) => atMs > fromMs && atMs <= toMs),
    });

  it('counts an overdue run as running until the end of the hour', async () => {
    const job = { project: 'pay', group: '', name: 'overdue' };
    const underWay = [{ endMs: at(8), job }];
    const { hours, hour } = await plan([toStart('a', at(10), 1)], { underWay, fromMs: at(9, 10), threads: 0 });
    expect(hours.slice(0, 3).map(({ most }) => most)).toEqual([1, 1, 0]);
    expect(hours[0]?.exceeded).toEqual({ atMs: at(9, 10), jobCount: 1, jobs: [job] });
    expect(hour).toEqual({ most: 1, exceededMs: at(9, 10) });
  });

  it('plans the next 24 hours', async () => {
    const starts = [toStart('a', at(10, 10), 1), toStart('b', at(33, 10), 5), toStart('c', at(33, 12), 1)];
    const window = { underWay: [], threads: 1 };
    expect(await plan(starts, { ...window, fromMs: at(9, 10) })).toMatchObject({
      hour: { most: 1, exceededMs: undefined },
      day: { most: 1, exceededMs: undefined },
    });
    expect(await plan(starts, { ...window, fromMs: at(9, 12) })).toMatchObject({
      hour: { most: 1, exceededMs: undefined },
      day: { most: 2, exceededMs: at(33, 12) },
      crowds: [{ fromMs: at(33, 12), toMs: at(33, 12) }],
    });
    expect((await plan([toStart('a', at(33), 1)], { ...window, fromMs: at(9) })).day.most).toBe(1);
  });

  it('reads the starts of one hour at a time', async () => {
    const asked: number[] = [];
    let pauses = 0;
    await planHoursAhead({
      pause: async () => {
        pauses += 1;
      },
      underWay: [],
      fromMs: at(9, 10),
      threads: 1,
      startsWithin: (fromMs, toMs) => {
        asked.push((toMs - fromMs) / minuteMs);
        return [];
      },
    });
    expect(Math.max(...asked)).toBe(60);
    expect(asked).toHaveLength(26);
    expect(pauses).toBe(25);
  });

  it('finds the maximum number of concurrent runs of each hour', async () => {
    const starts = [toStart('long', at(9, 30), 90), toStart('a', at(10), 10), toStart('b', at(10), 10)];
    const underWay = [{ endMs: at(9, 20), job: { project: 'pay', group: '', name: 'now' } }];
    const hours = (await plan(starts, { underWay, fromMs: at(9, 10), threads: 2 })).hours;
    expect(hours.slice(0, 4)).toEqual([
      { startMs: at(9), starts: 1, most: 1, exceeded: undefined },
      {
        startMs: at(10),
        starts: 2,
        most: 3,
        exceeded: {
          atMs: at(10),
          jobCount: 3,
          jobs: [
            { project: 'pay', group: '', name: 'long' },
            toStart('a', at(10), 10).job,
            toStart('b', at(10), 10).job,
          ],
        },
      },
      { startMs: at(11), starts: 0, most: 0, exceeded: undefined },
      { startMs: at(12), starts: 0, most: 0, exceeded: undefined },
    ]);
    expect(hours).toHaveLength(24);
  });

  it('names at most twenty jobs that start together', async () => {
    const starts = Array.from({ length: 30 }, (_, index) => toStart(`job ${index}`, at(2), 1));
    const [, , hour] = (await plan(starts, { underWay: [], fromMs: at(0), threads: 10 })).hours;
    expect({ named: hour?.exceeded?.jobs.length, of: hour?.exceeded?.jobCount }).toEqual({ named: 20, of: 30 });
  });

  it('does not report more runs than threads if the number of threads is unknown', async () => {
    const { hours } = await plan([toStart('a', at(2), 1)], { underWay: [], fromMs: at(0), threads: undefined });
    expect(hours.filter(({ exceeded }) => exceeded !== undefined)).toEqual([]);
  });

  it('reports earlier excess runs from the start of the hour', async () => {
    const starts = [57, 58, 59].map((minute) => ({ atMs: at(4, minute), durationMs: 120 * minuteMs, job: job() }));
    const { hours } = await plan(starts, { underWay: [], fromMs: at(4, 30), threads: 2 });
    expect(hours.slice(0, 3).map(({ exceeded }) => exceeded?.atMs)).toEqual([at(4, 59), at(5), at(6)]);
  });

  // In ms after 9:10: starts with their durations, and the ends of runs in progress. The hour ends 3,000,000 ms later.
  type Found = { most: number; exceeded?: number; crowds?: string; hour?: number; hours?: readonly number[] };
  it.each<[string, string, readonly number[], Found]>([
    ['an overdue run that ends at once', '1 5', [-5], { most: 1 }],
    ['a run that ends at a start', '1 5', [1], { most: 1 }],
    ['a run that ends after a start', '1 5', [2], { most: 2, exceeded: 1, crowds: '1 1' }],
    ['too many runs in progress', '', [2, 2], { most: 2, exceeded: 0 }],
    ['a start now', '0 5', [], { most: 0 }],
    ['a start after 24 hours', '86400000 5', [], { most: 1, hour: 0 }],
    ['a later start', '86400001 5', [], { most: 0 }],
    ['a start after an hour', '3600000 5', [], { most: 1, hours: [0, 1] }],
    ['a start after more', '3600001 5', [], { most: 1, hour: 0, hours: [0, 1] }],
    ['short runs one after the other', '1 0, 2 0', [], { most: 1 }],
    ['short runs at once', '1 0, 1 0', [], { most: 2, exceeded: 1, crowds: '1 1' }],
    ['two crowds', '1 5, 2 5, 4 5, 20 1, 30 5, 31 5', [], { most: 3, exceeded: 2, crowds: '2 4, 31 31' }],
    ['a start at the end of the hour', '2999999 5', [], { most: 1, hours: [1, 1, 0] }],
    ['a run until the next hour', '1 2999999', [], { most: 1, hours: [1, 0] }],
    ['a run into the next hour', '1 3000000', [], { most: 1, hours: [1, 1, 0] }],
    ['a run over an hour', '1 6600000', [], { most: 1, hours: [1, 1, 1, 0] }],
    ['a run in progress until the next hour', '', [3_000_000], { most: 1, hours: [1, 0] }],
    ['a run in progress into the next hour', '', [3_000_001], { most: 1, hours: [1, 1, 0] }],
  ])('plans for one thread: %s', async (_what, starts, ends, found) => {
    const fromMs = at(9, 10);
    const pairs = starts === '' ? [] : starts.split(', ').map((start) => start.split(' ').map(Number));
    const { day, hour, hours, crowds } = await plan(
      pairs.map(([ms = 0, durationMs = 0]) => ({ atMs: fromMs + ms, durationMs, job: job() })),
      { underWay: ends.map((ms) => ({ endMs: fromMs + ms, job: job() })), fromMs, threads: 1 },
    );
    const { most, exceeded, crowds: spans = '', hour: ofHour = most, hours: ofHours = [] } = found;
    expect([day.most, hour.most]).toEqual([most, ofHour]);
    expect(day.exceededMs).toBe(exceeded === undefined ? undefined : fromMs + exceeded);
    expect(crowds.map((span) => `${span.fromMs - fromMs} ${span.toMs - fromMs}`).join(', ')).toBe(spans);
    expect(hours.slice(0, ofHours.length).map((each) => each.most)).toEqual(ofHours);
  });

  it.each([
    [0, [10], 1, [1]],
    [0, [], 1, [0]],
    [1, [1], 1, [1]],
    [2, [], 1, [1, 5, 6]],
    [3, [], 2, [1, 5, 6, 7]],
  ])('counts %d starts that their job permits: %j', async (count, ends, most, starts) => {
    const limit = { id: 'j1', most };
    const underWay = ends.map((ms) => ({ endMs: at(9) + ms, job: job(), jobId: 'j1' }));
    const all = starts.map((ms) => ({ atMs: at(9) + ms, durationMs: 5, job: job(), limit }));
    expect((await plan(all, { underWay, fromMs: at(9), threads: 1 })).hours[0]?.starts).toBe(count);
  });

  it('merges the plans of the members of a cluster', async () => {
    const planOf = (...starts: number[]) =>
      plan(
        starts.map((minute) => toStart(`${minute}`, at(10, minute), 5)),
        { underWay: [], fromMs: at(9, 50), threads: 1 },
      );
    const [one, other, quiet] = await Promise.all([planOf(7, 8, 30, 31), planOf(5, 6), planOf(1)]);
    const joined = joinPlans(
      quiet,
      new Map([
        ['one', one],
        ['other', other],
        ['quiet', quiet],
      ]),
    );
    expect([joined.hour, joined.day]).toEqual([
      { most: 1, exceededMs: at(10, 6) },
      { most: 1, exceededMs: at(10, 6) },
    ]);
    expect(joined.hours.map(({ exceeded }) => exceeded?.atMs).slice(0, 3)).toEqual([undefined, at(10, 6), undefined]);
    expect(joined.crowds.map(({ fromMs, ownerUuid }) => [fromMs, ownerUuid])).toEqual([
      [at(10, 8), 'one'],
      [at(10, 31), 'one'],
      [at(10, 6), 'other'],
    ]);
    expect(joinPlans(quiet, new Map([['quiet', quiet]]))).toEqual(quiet);
  });
});

describe('expected-runs/showing/server-schedule', () => {
  it('counts the undecided times of each hour', async () => {
    const times = {
      askedAtMs: at(6),
      untilMs: at(18),
      timesMs: [at(10), at(10, 5), at(11), at(12)],
      confirmedMs: at(6),
    };
    const open = job({ timetable: { source: 'forecast', ...times } });
    // No start was expected before the job was watched.
    const young = { ...open, id: 'j2', sinceMs: at(11) };
    const jobs = [open, young];
    const of = { server: 'prod', jobs, hours: [], nowMs: at(11, 30), ahead: undefined, sources: new Map() };
    const { hours } = await toServerSchedule(of, noPause);
    expect(hours.slice(-3).map(({ openCount }) => openCount)).toEqual([0, 2, 2]);
  });

  it('shows late and missed runs, newest first', async () => {
    const nowMs = at(12, 30);
    const timetable = {
      source: 'forecast',
      askedAtMs: at(6),
      untilMs: at(18),
      timesMs: [at(12), at(12, 15), at(13)],
      confirmedMs: at(6),
    } as const;
    const late: Verdict = { is: 'ran', expectedMs: at(11), delayMs: 600_000, runId: 3 };
    const missed: Verdict = { is: 'missed', expectedMs: at(11, 30), reason: 'down', facts: [] };
    const first: Verdict = { is: 'missed', expectedMs: at(0), reason: 'down', facts: [] };
    const old: Verdict = { is: 'missed', expectedMs: at(0) - 1, reason: 'down', facts: [] };
    const inTime: Verdict = { is: 'ran', expectedMs: at(10), delayMs: 0, runId: 2 };
    const busy = job({ timetable, decidedMs: at(12), verdicts: [old, first, inTime, late] });
    const off = job({ id: 'j2', verdicts: [missed], off: [{ what: 'job', sinceMs: at(1), seenAtMs: at(1) }] });
    const gone = job({ id: 'j3', verdicts: [missed], goneAtMs: at(2) });
    const jobs = [busy, off, gone];
    const seen = { fromMs: at(9), throughMs: nowMs };
    const sources = new Map([
      [sourceKeys.mode(), [{ value: 'passive', ...seen }]],
      [sourceKeys.project(busy.project), [{ value: 'schedule_disabled', ...seen }]],
    ]);
    const input = { server: 'prod', jobs, hours: [], nowMs, ahead: undefined, sources };
    const shown = await toServerSchedule(input, noPause);
    const passive = { reason: 'passive', fact: { fact: 'the server is passive', atMs: at(9) } };
    expect({ ...shown, hours: shown.hours.length }).toMatchObject({
      server: 'prod',
      nowMs,
      blockers: [passive],
      jobCount: 2,
      offCount: 2,
      untimedCount: 0,
      hours: 13,
      openCount: 1,
      notable: [
        { job: off, verdict: missed },
        { job: busy, verdict: late },
        { job: busy, verdict: first },
      ],
      notableCount: 3,
      next: [{ job: busy, atMs: at(13), blockers: [passive, { reason: 'schedule_disabled' }] }],
      ahead: undefined,
    });
  });

  it('shows the next starts of any number of jobs without blocking other work', async () => {
    const timetable = { source: 'forecast', askedAtMs: at(6), untilMs: at(18), confirmedMs: at(6) } as const;
    const times = Array.from({ length: 501 }, (_, index) => at(18) - index * 1000);
    const jobs = times.map((time) => job({ timetable: { ...timetable, timesMs: [time] } }));
    const input = { server: 'prod', jobs, hours: [], nowMs: at(7), ahead: undefined, sources: new Map() };
    let pauses = 0;
    const { next, untimedCount } = await toServerSchedule(input, async () => {
      pauses += 1;
    });
    expect(pauses).toBe(501);
    // The times of these jobs are known for less than a day.
    expect(untimedCount).toBe(501);
    expect(next.map(({ atMs }) => atMs)).toEqual(times.slice(-50).toReversed());
  });
});
