import { describe, expect, it } from 'vitest';
import {
  addMisses,
  firstOpenMs,
  type Missed,
  type Misses,
  maxSpanMs,
  nextTime,
  openTimes,
  ownerAt,
  quietUntil,
  type WatchedJob,
} from '../../../src/expected-runs/deciding/watched-job.ts';
import { someJob } from '../some-job.ts';

const dayMs = 86_400_000;
const timetable = { source: 'forecast', askedAtMs: 0, untilMs: 50, confirmedMs: 0, timesMs: [10, 20, 30, 40] } as const;
const job = someJob({ timetable });
const { timetable: _none, ...untimed } = job;
const gap = { afterMs: 15, throughMs: 60, askedAtMs: 0, likely: [] };
const off = [{ what: 'job', sinceMs: 0, seenAtMs: 0 }] as const;

describe('expected-runs/deciding/watched-job', () => {
  it.each([
    [Number.POSITIVE_INFINITY, job, 0],
    [100, { ...job, limit: { spanMs: 400, atMs: dayMs } }, 2 * dayMs],
    [Number.POSITIVE_INFINITY, { ...job, limit: { spanMs: 400, atMs: dayMs } }, 2 * dayMs + 1],
    [100, { ...job, limit: { spanMs: 400, atMs: dayMs } }, 0],
    [Number.POSITIVE_INFINITY, { ...job, limit: { spanMs: 400, atMs: dayMs } }, -1],
  ])('limits requests to %d ms', (spanMs, some, nowMs) => {
    expect(maxSpanMs(some, nowMs)).toBe(spanMs);
  });

  it('finds the owner at a time', () => {
    const formerOwners = [
      { uuid: 'm1', untilMs: 10 },
      { uuid: 'm2', untilMs: 20 },
    ];
    const owners = [9, 10, 19, 20].map((ms) => ownerAt({ ...job, ownerUuid: 'm3', formerOwners }, ms));
    expect([...owners, ownerAt(job, 5)]).toEqual(['m1', 'm2', 'm2', 'm3', undefined]);
  });

  it.each<[string, Partial<WatchedJob>, readonly number[], number | undefined]>([
    ['after a decided time', { decidedMs: 20 }, [30, 40], 30],
    ['from the start of watching on', { sinceMs: 20, decidedMs: 5 }, [20, 30, 40], 20],
    ['of a gap', { timetable: { ...timetable, gap } }, [10, 20, 30, 40], 10],
    ['of a gap before all times', { decidedMs: 10, timetable: { ...timetable, gap } }, [20, 30, 40], 15],
    ['of a gap after all times', { decidedMs: 40, timetable: { ...timetable, gap } }, [], 15],
    ['after all times', { decidedMs: 40 }, [], undefined],
  ])('finds the open times %s', (_what, fields, times, firstMs) => {
    expect([openTimes({ ...job, ...fields }), firstOpenMs({ ...job, ...fields })]).toEqual([times, firstMs]);
  });

  it.each<[string, WatchedJob, number, number | undefined, number | undefined]>([
    ['before a time', job, 39, 40, undefined],
    ['at the last time', job, 40, undefined, 50],
    ['at the end of the list', job, 50, undefined, undefined],
    ['of a job that is off', { ...job, off }, 39, undefined, 50],
    ['of a job without times', untimed, 39, undefined, undefined],
  ])('finds the next time %s', (_what, ...[some, nowMs, next, quiet]) => {
    expect([nextTime(some, nowMs), quietUntil(some, nowMs)]).toEqual([next, quiet]);
  });

  const facts = [{ fact: 'f', atMs: 1, source: 's' }];
  const missed = (expectedMs: number, more: Partial<Missed> = {}): Missed => ({
    is: 'missed',
    expectedMs,
    reason: 'passive',
    facts,
    ...more,
  });
  const some = (...timesMs: number[]): Misses => ({ reason: 'passive', facts, timesMs });
  it.each<[string, readonly Misses[], readonly Missed[], number, readonly Misses[]]>([
    ['a later time', [some(5)], [missed(6)], 10, [some(5, 6)]],
    ['the same time', [some(5)], [missed(5)], 10, [some(5), some(5)]],
    ['an earlier time', [some(5)], [missed(4)], 10, [some(5), some(4)]],
    ['other facts', [some(5)], [missed(6, { facts: [] })], 10, [some(5), { ...some(6), facts: [] }]],
    ['another reason', [some(5)], [missed(6, { reason: 'down' })], 10, [some(5), { ...some(6), reason: 'down' }]],
    ['a time that is a week old', [some(5, 6)], [missed(9)], 7 * dayMs + 6, [some(6, 9)]],
    ['no time, while the last missed run is younger than eight days', [some(5, 6)], [], 8 * dayMs + 5, [some(5, 6)]],
    [
      'no time, once the last missed run is eight days old',
      [some(5), some(9 * dayMs)],
      [],
      8 * dayMs + 6,
      [some(9 * dayMs)],
    ],
  ])('adds to the missed runs: %s', (_what, ...[before, verdicts, decidedMs, after]) => {
    expect(addMisses(before, verdicts, decidedMs)).toEqual(after);
  });

  it('keeps the last 1500 missed runs', () => {
    const many = Array.from({ length: 1500 }, (_, index) => index + 10);
    expect(addMisses([some(1), some(...many)], [], 0)).toEqual([some(1), some(...many)]);
    const later = missed(5000, { reason: 'down' });
    const found = addMisses([some(1), some(...many)], [later], 0);
    expect(found).toEqual([some(...many.slice(1)), { ...some(5000), reason: 'down' }]);
    expect(
      addMisses(
        [some(1)],
        many.map((ms) => missed(ms, { reason: 'down' })),
        0,
      )?.length,
    ).toBe(1);
  });
});
