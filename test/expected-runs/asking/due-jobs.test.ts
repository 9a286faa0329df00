import { describe, expect, it } from 'vitest';
import { isUrgent, planDueJobs } from '../../../src/expected-runs/asking/due-jobs.ts';
import type { WatchedJob } from '../../../src/expected-runs/deciding/watched-job.ts';
import { someJob } from '../some-job.ts';

const hour = 3_600_000;
const nowMs = 100 * hour;
/** A list that must be requested again in an hour. */
const listed = {
  source: 'forecast',
  askedAtMs: nowMs - hour,
  untilMs: nowMs + 3 * hour,
  confirmedMs: 0,
  timesMs: [1, 2, 3].map((hours) => nowMs + hours * hour),
} as const;
const job = someJob();
const { timetable: _none, ...unknown } = { ...job, timetable: listed };
const rests = (atMs: number) => ({ unread: { atMs, count: 1 } });
const until = (untilMs: number) => ({ timetable: { ...listed, askedAtMs: nowMs - 9 * hour, untilMs } });

type Sets = { readonly changed?: readonly string[]; readonly waiting?: readonly string[] };
const plan = (jobs: readonly WatchedJob[], { changed = [], waiting = [] }: Sets = {}, recoveredMs?: number) =>
  planDueJobs(jobs, {
    nowMs,
    changed: new Set(changed),
    waiting: new Set(waiting),
    recovered: new Map(recoveredMs === undefined ? [] : [['pay', recoveredMs]]),
    isProjectOff: (project) => project === 'off',
  });

describe('expected-runs/asking/due-jobs', () => {
  it.each<[string, number | undefined, Partial<WatchedJob>]>([
    ['listed', undefined, { timetable: listed }],
    ['unknown', 2, {}],
    ['gone', undefined, { goneAtMs: 5 }],
    ['off', undefined, { off: [{ what: 'job', sinceMs: 0, seenAtMs: 0 }] }],
    ['in a project that is off', undefined, { project: 'off' }],
    ['refused less than ten minutes ago', undefined, rests(nowMs - 599_999)],
    ['refused ten minutes ago', 5, rests(nowMs - 600_000)],
    ['refused now', undefined, rests(nowMs)],
    ['refused in the future, before the clock was set back', 5, rests(nowMs + 1)],
    ['listed for the next 15 min', 4, until(nowMs + 900_000)],
    ['listed for less', 3, until(nowMs + 899_999)],
    [
      'listed until a ms ago, by an older server',
      3,
      { timetable: { ...listed, source: 'next-run', untilMs: nowMs - 1 } },
    ],
    [
      'listed until now, by an older server',
      undefined,
      { timetable: { ...listed, source: 'next-run', untilMs: nowMs } },
    ],
    [
      'known by its next time',
      4,
      { timetable: { ...listed, askedAtMs: nowMs, untilMs: nowMs + hour, timesMs: [nowMs + hour] } },
    ],
    [
      'known by its next time, and too dense to be listed',
      undefined,
      {
        timetable: { ...listed, askedAtMs: nowMs, untilMs: nowMs + hour, timesMs: [nowMs + hour] },
        limit: { spanMs: 4 * hour, atMs: nowMs },
      },
    ],
  ])('requests a job that is %s: rank %s', (_what, rank, fields) => {
    expect(plan([{ ...job, ...fields }])[0]?.rank).toBe(rank);
  });

  it('requests changed jobs first, then the jobs of unconfirmed missed runs', () => {
    const asked = (id: string, fields: Partial<WatchedJob>) => ({ ...job, ...fields, id });
    const jobs = [
      asked('refused', { ...rests(0), timetable: listed }),
      asked('due', until(nowMs + 2 * hour)),
      asked('due sooner', until(nowMs + hour)),
      asked('soon', until(nowMs + 1)),
      asked('new', {}),
      asked('waits', { timetable: { ...listed, askedAtMs: 2, untilMs: 1 } }),
      asked('waits longer', { timetable: { ...listed, askedAtMs: 1, untilMs: 2 } }),
      asked('changed', { timetable: listed, ...rests(nowMs) }),
      asked('changed and new', {}),
    ];
    const order = plan(jobs, {
      changed: ['changed', 'changed and new'],
      waiting: ['waits', 'waits longer', 'new', 'refused'],
    });
    expect(order.map(({ job: { id }, rank }) => [id, isUrgent(rank)])).toEqual([
      ['changed and new', true],
      ['changed', true],
      ['waits longer', true],
      ['waits', true],
      ['new', false],
      ['soon', true],
      ['due sooner', false],
      ['due', false],
      ['refused', false],
    ]);
  });

  it('requests one refused job of each project every ten minutes, but none that is too costly', () => {
    const tenMs = nowMs - 600_000;
    const refused = (id: string, atMs: number, fields: Partial<WatchedJob> = {}) =>
      someJob({ id, unread: { atMs, count: 9 }, ...fields });
    const limit = { spanMs: hour, atMs: tenMs - 9 };
    const costly = refused('costly', tenMs - 9, { limit });
    const idsOf = (...jobs: readonly WatchedJob[]) => plan(jobs).map(({ job: { id } }) => id);
    expect(idsOf(refused('a', tenMs), refused('b', tenMs - 1), costly)).toEqual(['b']);
    expect(idsOf(refused('a', tenMs + 1), refused('b', tenMs - 1))).toEqual([]);
    expect(idsOf(refused('a', tenMs + 1), refused('b', tenMs, { project: 'shop' }))).toEqual(['b']);
    expect(idsOf(refused('once costly', tenMs, { limit }))).toEqual(['once costly']);
  });

  it('requests the refused jobs of a project again if one of them was read', () => {
    const refused = (id: string, fields: Partial<WatchedJob> = {}) =>
      someJob({ id, unread: { atMs: nowMs - 1000, count: 9 }, ...fields });
    const jobs = [refused('a'), refused('b'), refused('c', { project: 'shop' })];
    const idsAfter = (recoveredMs: number) => plan(jobs, {}, recoveredMs).map(({ job: { id } }) => id);
    expect(idsAfter(nowMs - 999)).toEqual(['a', 'b']);
    expect(idsAfter(nowMs - 1000)).toEqual([]);
  });

  it('requests at most ten jobs of an older server in one run', () => {
    const older = { ...job, timetable: { ...listed, source: 'next-run', untilMs: 0 } } as const;
    expect(plan([...Array.from({ length: 11 }, () => older), unknown])).toHaveLength(11);
  });
});
