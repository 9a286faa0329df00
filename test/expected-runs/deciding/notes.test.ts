import { describe, expect, it } from 'vitest';
import { noteAnswer, noteListed, noteRuns } from '../../../src/expected-runs/deciding/notes.ts';
import type { Missed, SeenRun, WatchedJob } from '../../../src/expected-runs/deciding/watched-job.ts';
import { someJob } from '../some-job.ts';

const toMs = (seconds: number): number => seconds * 1000;
const miss = (seconds: number): Missed => ({ is: 'missed', expectedMs: toMs(seconds), reason: 'unknown', facts: [] });
const timetable = {
  source: 'forecast',
  askedAtMs: 0,
  untilMs: 400_000,
  confirmedMs: 0,
  timesMs: [90, 110, 200, 300, 390].map(toMs),
} as const;
/** A job that was last listed at 100 s, and edited before. */
const job = someJob({ decidedMs: 80_000, listedAtMs: 100_000, lastModifiedMs: 50_000, timetable });
const listed = { id: 'a', name: 'a', group: '', isScheduled: true, isEnabled: true, isScheduleEnabled: true };
const off = { isScheduleEnabled: false };
const { timetable: _none, ...untimed } = job;
const list = (before: WatchedJob | undefined, atMs: number, more: object = {}) =>
  noteListed(before, { ...listed, ...more }, { project: 'pay', atMs });

describe('expected-runs/deciding/notes', () => {
  const disabled = { ...job, off: list(job, 100_000, off).job.off };
  const heldAgain = { held: [miss(150), miss(200)], decidedMs: 210_000 };
  it.each<[string, number, number, { withdrawn?: readonly number[]; more?: object; before?: WatchedJob }]>([
    ['with the same date', 50_000, 250_000, {}],
    ['with an earlier date', 49_999, 250_000, {}],
    ['with a later date', 50_001, 109_999, { withdrawn: [90] }],
    ['after which no time has passed', 90_000, 109_999, { withdrawn: [] }],
    ['after which a time is now', 90_000, 110_000, { withdrawn: [110] }],
    ['before two times', 109_999, 250_000, { withdrawn: [110, 200] }],
    ['at a time', 110_000, 250_000, { withdrawn: [200] }],
    ['together with a switch', 150_000, 250_000, { more: off }],
    ['while the job is off', 150_000, 250_000, { more: off, before: disabled }],
    ['when the job is on again', 150_000, 250_000, { before: disabled }],
    ['before a held miss', 150_000, 250_000, { withdrawn: [200], before: { ...job, ...heldAgain } }],
    ['before two held misses', 149_999, 250_000, { withdrawn: [150, 200], before: { ...job, ...heldAgain } }],
  ])('withdraws times after an edit %s', (_what, lastModifiedMs, atMs, { withdrawn, more = {}, before = job }) => {
    const found = list(before, atMs, { ...more, lastModifiedMs });
    const times = (withdrawn ?? []).map(toMs);
    expect(found.verdicts).toEqual(times.map((expectedMs) => ({ is: 'undecided', expectedMs, why: 'edited' })));
    const unsure = { afterMs: 100_000, throughMs: lastModifiedMs };
    expect(found.job.timetable).toEqual({
      ...timetable,
      ...(withdrawn === undefined ? {} : { unsure }),
      ...(times.length === 0 ? {} : { withdrawnMs: times[0] }),
      timesMs: timetable.timesMs.filter((time) => !times.includes(time)),
    });
    const held = (before.held ?? []).filter(({ expectedMs }) => !times.includes(expectedMs));
    expect(found.job.held).toEqual(held.length === 0 ? undefined : held);
    expect(list({ ...untimed, held: [miss(200)] }, atMs, { ...more, lastModifiedMs }).verdicts).toEqual([]);
  });

  it.each([
    [400_000, 400_000, {}],
    [400_001, 400_001, { afterMs: 400_000, throughMs: 400_001, askedAtMs: 0 }],
  ])('begins a gap if an edit is listed after the last response: %d', (atMs, untilMs, gap) => {
    const found = list(job, atMs, { lastModifiedMs: atMs }).job.timetable;
    const { likely: _likely, maxPerHour: _most, ...own } = found?.gap ?? {};
    expect([found?.untilMs, own]).toEqual([untilMs, gap]);
  });

  it('keeps the values that a list of jobs lacks', () => {
    const before = { ...job, ownerUuid: 'm1', goneAtMs: 90_000 };
    expect(list(before, 250_000).job).toEqual({ ...job, ownerUuid: 'm1', listedAtMs: 250_000 });
    const older = { isEnabled: undefined, isScheduleEnabled: undefined };
    expect(list(before, 250_000, older).job.off).toBe(job.off);
    const fresh = list(undefined, 250_000, { name: 'b', group: 'c', ownerUuid: 'm1', lastModifiedMs: 5 }).job;
    const times = { sinceMs: 250_000, decidedMs: 250_000, listedAtMs: 250_000, lastModifiedMs: 5 };
    expect(fresh).toEqual({ ...untimed, ...times, name: 'b', group: 'c', ownerUuid: 'm1' });
  });

  it.each([
    ['the edit that turned it off', 100_001, 250_000, 100_001],
    ['the list, if the edit was before the last list', 100_000, 250_000, 250_000],
    ['the list, if the edit is now', 250_000, 250_000, 250_000],
    ['the list, if the edit is later', 250_001, 250_000, 250_000],
    ['the list, without an edit', undefined, 250_000, 250_000],
  ])('takes the time of a switch from %s', (_what, lastModifiedMs, seenAtMs, sinceMs) => {
    const more = lastModifiedMs === undefined ? {} : { lastModifiedMs };
    const both = { isEnabled: false, isScheduleEnabled: false };
    const periods = ['job', 'schedule'].map((what) => ({ what, sinceMs, seenAtMs }));
    expect(list(job, seenAtMs, { ...both, ...more }).job.off).toEqual(
      periods.map((period) => ({ ...period, lastOnMs: 100_000 })),
    );
    const first = lastModifiedMs !== undefined && lastModifiedMs <= seenAtMs ? lastModifiedMs : seenAtMs;
    expect(list(undefined, seenAtMs, { ...off, ...more }).job.off).toEqual([
      { what: 'schedule', sinceMs: first, seenAtMs },
    ]);
  });

  it('keeps periods in which a job was off while they may contain an undecided time', () => {
    const period = (untilMs?: number) =>
      ({ what: 'job', sinceMs: 1, seenAtMs: 1, ...(untilMs === undefined ? {} : { untilMs }) }) as const;
    const periods = [period(89_999), period(90_000), period()];
    const disabled = { isEnabled: false };
    expect(list({ ...job, off: periods }, 250_000, disabled).job.off).toEqual([period(90_000), period()]);
    expect(list({ ...job, off: periods }, 250_000).job.off).toEqual([period(90_000), period(250_000)]);
    const same = [period(90_000)];
    expect(list({ ...job, off: same }, 250_000).job.off).toBe(same);
    expect(list({ ...untimed, off: [period(249_999), period(250_000)] }, 250_000).job.off).toEqual([period(250_000)]);
  });

  it('keeps the former owners of a job while a time of theirs may be undecided', () => {
    const owned = { ...job, ownerUuid: 'm1' };
    const toOwners = (before: WatchedJob | undefined, atMs: number, ownerUuid?: string) =>
      list(before, atMs, ownerUuid === undefined ? {} : { ownerUuid }).job.formerOwners;
    const m0 = (untilMs: number) => ({ uuid: 'm0', untilMs });
    const m1 = { uuid: 'm1', untilMs: 250_000 };
    expect([toOwners(job, 250_000, 'm2'), toOwners(owned, 250_000, 'm1'), toOwners(owned, 250_000)]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
    expect([toOwners(owned, 250_000, 'm2'), toOwners(owned, 90_000, 'm2')]).toEqual([[m1], []]);
    const former = { ...owned, formerOwners: [m0(90_000), m0(90_001)] };
    expect([toOwners(former, 250_000, 'm2'), toOwners(former, 250_000)]).toEqual([[m0(90_001), m1], [m0(90_001)]]);
    expect(toOwners({ ...owned, formerOwners: [m0(90_000)] }, 250_000)).toEqual([]);
    const unchanged = [m0(90_001)];
    expect(toOwners({ ...former, formerOwners: unchanged }, 250_000)).toBe(unchanged);
    const many = Array.from({ length: 20 }, (_, index) => m0(100_000 + index));
    expect(toOwners({ ...former, formerOwners: many }, 250_000, 'm2')).toEqual([...many.slice(1), m1]);
  });

  it.each([
    ['same', [300, 390, 500], undefined],
    ['edited', [310], 'edited'],
    ['unknown', [], 'unsure'],
  ] as const)('decides unconfirmed missed runs by an answer whose schedule is %s', (agreement, seconds, why) => {
    const answer = { source: 'forecast', askedAtMs: toMs(agreement === 'unknown' ? 500 : 250) } as const;
    const held = [miss(70)];
    const unread = { atMs: 1, count: 1 };
    const before = { ...job, held, unread, decidedMs: 200_000, sinceMs: 110_000 };
    const found = noteAnswer(before, { ...answer, untilMs: 700_000, timesMs: seconds.map(toMs) });
    expect(found.verdicts).toEqual(why === undefined ? [] : [{ is: 'undecided', expectedMs: 70_000, why }]);
    expect(found.job).toMatchObject({ decidedMs: 200_000, sinceMs: 110_000 });
    expect([found.job.held, found.job.unread]).toEqual([why === undefined ? held : undefined, undefined]);
  });

  it('withdraws the watched times that an edit removed', () => {
    const answer = { source: 'forecast', askedAtMs: 250_000, untilMs: 700_000, timesMs: [310_000] } as const;
    const withdrawn = (sinceMs: number) =>
      noteAnswer({ ...job, sinceMs, decidedMs: 90_000 }, answer).verdicts.map(({ expectedMs }) => expectedMs);
    expect([110_000, 110_001].map(withdrawn)).toEqual([[110_000, 200_000], [200_000]]);
  });

  it('begins to watch a job at the first response, by the clocks of all members', () => {
    const answer = { source: 'forecast', askedAtMs: 250_000, untilMs: 700_000, timesMs: [251_000] } as const;
    expect(noteAnswer(untimed, answer, 40_000).job).toMatchObject({ sinceMs: 290_000, decidedMs: 290_000 });
    expect(noteAnswer(untimed, answer).job).toMatchObject({ sinceMs: 250_000, decidedMs: 250_000 });
  });

  const run = (id: number, startedAtMs: number, endedAtMs?: number, kind: SeenRun['kind'] = 'scheduled'): SeenRun => ({
    id,
    startedAtMs,
    kind,
    ...(endedAtMs === undefined ? {} : { endedAtMs }),
  });

  it('adds runs that may match an undecided time', () => {
    const known = { ...job, runs: [run(1, 91_000, 92_000)], hiddenMs: 5 };
    expect(noteRuns(known, [run(1, 91_000, 92_000)])).toBe(known);
    const ended = [run(5, 95_000), run(4, 80_001, 85_000), run(3, 80_000, 84_999), run(1, 93_000, 94_000)];
    const { runs, shownMs, ...found } = noteRuns(known, ended);
    expect(runs.map(({ id, startedAtMs }) => [id, startedAtMs])).toEqual([
      [4, 80_001],
      [1, 91_000],
      [1, 93_000],
      [5, 95_000],
    ]);
    expect([shownMs, noteRuns({ ...known, shownMs: 99_000 }, ended).shownMs]).toEqual([94_000, 99_000]);
    expect(found).not.toHaveProperty('hiddenMs');
    expect(found).not.toHaveProperty('lostRunsMs');
    const decided = noteRuns(untimed, [run(1, 1, 74_999), run(2, 1, 75_000)]).runs;
    expect(decided.map(({ id }) => id)).toEqual([2]);
  });

  it('keeps the last 3000 runs', () => {
    const many = Array.from({ length: 3002 }, (_, index) => run(index, 100_000 + index, 100_000 + index));
    const found = [many.slice(2), many].map((ended) => noteRuns(job, ended));
    expect(found.map(({ runs, lostRunsMs }) => [runs.length, runs[0]?.id, lostRunsMs])).toEqual([
      [3000, 2, undefined],
      [3000, 2, 100_001],
    ]);
    expect(noteRuns({ ...job, lostRunsMs: 200_000 }, many).lostRunsMs).toBe(200_000);
  });

  it.each([
    [undefined, [run(1, 100_000, 110_000), run(2, 105_000, 106_000)]],
    [true, [run(1, 100_000, 110_000), run(2, 104_999, 106_000)]],
    [true, [run(2, 104_999, 106_000), run(1, 100_000)]],
    [undefined, [run(1, 100_000, 110_000), run(1, 104_999, 106_000)]],
    [undefined, [run(1, 100_000, 110_000), run(2, 104_999, 106_000, 'missed')]],
  ])('finds whether runs overlap: %s', (allowsSeveral, runs) => {
    expect(noteRuns(job, runs).allowsSeveral).toBe(allowsSeveral);
    expect(noteRuns({ ...job, runs: runs.slice(0, 1) }, runs.slice(1)).allowsSeveral).toBe(allowsSeveral);
  });
});
