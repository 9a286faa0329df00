import { describe, expect, it } from 'vitest';
import { joinAnswer, joinGap, joinUnsure } from '../../../src/expected-runs/deciding/join-answer.ts';
import type { Answer, Timetable } from '../../../src/expected-runs/deciding/timetable.ts';

const minute = 60_000;
const toMs = (minutes: number) => minutes * minute;
/** A response at a minute; all times are known until another minute. */
const told = (askedAt: number, until: number, ...minutes: number[]): Answer => ({
  source: 'forecast',
  askedAtMs: toMs(askedAt),
  untilMs: toMs(until),
  timesMs: minutes.map(toMs),
});
const none = { decidedMs: 0, doubtMs: 0 };
/** The start of each ten minutes is known until 00:59. */
const known: Timetable = { ...told(0, 59, 10, 20, 30, 40, 50), confirmedMs: toMs(-0.5) };
const ms = 1 / minute;

type Row = {
  readonly before?: Partial<Timetable>;
  readonly join?: Partial<typeof none>;
  readonly isAfterEdit?: true;
  /** The joined times; all numbers are in minutes. */
  readonly times: readonly number[];
  readonly until?: number;
  readonly confirmed?: number;
  readonly withdrawn?: readonly number[];
};

const times = (...minutes: number[]) => ({ timesMs: minutes.map(toMs) });
const rounded = (value: number) => Math.round(value * minute) / minute;

describe('expected-runs/deciding/join-answer', () => {
  it.each<[string, Answer, Row]>([
    ['more times', told(25, 69, 30, 40, 50, 60), { times: [10, 20, 30, 40, 50, 60], until: 69 }],
    ['times that are over', told(25, 69, 24, 25, 30, 40, 50), { times: [10, 20, 30, 40, 50], until: 69 }],
    ['a time during the request', told(25, 59, 25 + ms, 30, 40, 50), { times: [10, 20, 25 + ms, 30, 40, 50] }],
    [
      'times before a time that is due',
      told(25, 59, 25.2, 40),
      { before: times(10, 25.5, 40), times: [10, 25.2, 25.5, 40] },
    ],
    ['no time', told(25, 28), { before: times(10), times: [10] }],
    ['a part', told(25, 45, 30, 40), { times: [10, 20, 30, 40, 50] }],
    ['a part after an edit', told(25, 45, 30, 40), { isAfterEdit: true, times: [10, 20, 30, 40], until: 45 }],
    ['the next time alone', told(25, 30, 30), { times: [10, 20, 30, 40, 50], confirmed: -0.5 }],
    [
      'the next time at the end of a list',
      told(25, 30, 30),
      { before: { untilMs: toMs(30), ...times(10, 20, 30) }, times: [10, 20, 30], until: 30 },
    ],
    [
      'a list by another clock',
      told(25, 69, 30, 40, 50, 60),
      { join: { doubtMs: toMs(2) }, times: [10, 20, 30, 40, 50, 60], until: 67, confirmed: 22.5 },
    ],
    [
      'a time at the end of a list by another clock',
      told(25, 69, 30, 40, 50, 60, 68),
      { join: { doubtMs: toMs(2) }, times: [10, 20, 30, 40, 50, 60, 68], until: 68, confirmed: 22.5 },
    ],
    ['a time that is due, and may be over', told(25, 59, 40), { before: times(10, 25.5, 40), times: [10, 25.5, 40] }],
    ['a missing time', told(25, 59, 40), { before: times(10, 25.5 + ms, 40), times: [40], withdrawn: [10] }],
    [
      'an edit after a decided time',
      told(25, 69, 35),
      { join: { decidedMs: toMs(10) }, times: [10, 35], until: 69, withdrawn: [20] },
    ],
    ['a shorter list after an edit', told(25, 45, 35), { times: [35], until: 45, withdrawn: [10, 20] }],
    [
      'an edit after a confirmed time',
      told(25, 69, 35),
      { before: { confirmedMs: toMs(20) }, times: [10, 20, 35], until: 69, withdrawn: [] },
    ],
  ])('joins %s', (_what, answer, { before, join, isAfterEdit, until = 59, confirmed, withdrawn, ...row }) => {
    const told = isAfterEdit === undefined ? answer : { ...answer, isAfterEdit };
    const { timetable, ...joined } = joinAnswer({ ...known, ...before }, told, { ...none, ...join });
    const inMinutes = [timetable.timesMs, joined.withdrawnMs].map((all) => all.map((time) => rounded(time / minute)));
    expect(inMinutes).toEqual([row.times.map(rounded), withdrawn ?? []]);
    expect([timetable.untilMs / minute, timetable.confirmedMs / minute]).toEqual([until, confirmed ?? 24.5]);
    expect(joined.agreement).toBe(withdrawn === undefined ? 'same' : 'edited');
  });

  it.each<[string, Partial<Timetable>, Answer]>([
    ['same', { untilMs: toMs(40), ...times(10, 20, 30) }, told(25, 69, 30, 45)],
    ['edited', times(10, 20), told(25, 69, 30, 45)],
    // The common part of the two lists has no time.
    ['same', { untilMs: toMs(29), ...times(10, 20) }, told(25, 69, 40)],
    ['unknown', { untilMs: toMs(29), ...times(10, 20) }, told(25, 69, 41)],
    ['unknown', { untilMs: toMs(29), ...times(10, 20) }, told(25, 69, 25.5, 40)],
    ['same', { untilMs: toMs(30), ...times(10, 20, 30) }, told(25, 69, 30, 41)],
    ['same', { untilMs: toMs(29), ...times(10) }, told(25, 69, 41)],
    ['same', { untilMs: toMs(29), ...times(10, 20) }, told(25, 69)],
    // The response ends before the times that are surely in the future.
    ['same', times(10, 20, 25.5), told(25, 25.5, 25.5)],
    ['edited', {}, told(25, 25.5, 25.5)],
    ['same', {}, told(25, 25.5)],
    ['edited', {}, told(25, 25.5 + ms, 25.5 + ms)],
    // The lists have no common part.
    ['same', { untilMs: toMs(25.5), ...times(10, 20) }, told(25, 69, 40)],
    ['unknown', { untilMs: toMs(25.5), ...times(10, 20) }, told(25, 69, 41)],
    ['same', {}, told(100, 160, 110, 120)],
    ['unknown', {}, told(100, 160, 110, 121)],
    ['unknown', {}, told(100, 160, 111, 121)],
    ['unknown', times(10, 20, 31), told(100, 160, 110, 120)],
    ['unknown', times(10), told(100, 160, 110, 120)],
    ['unknown', {}, told(100, 160)],
    ['unknown', times(), told(100, 160, 110)],
    ['same', times(), told(100, 160)],
  ])('finds that a schedule is %s: %j %j', (agreement, before, answer) => {
    const decidedMs = toMs(15);
    const { timetable, ...joined } = joinAnswer({ ...known, ...before }, answer, { ...none, decidedMs });
    expect(joined.agreement).toBe(agreement);
    const unsure = { afterMs: decidedMs, throughMs: answer.askedAtMs };
    expect(timetable.unsure).toEqual(agreement === 'unknown' ? unsure : undefined);
  });

  it.each([
    ['the time that an edit removed', 29, [30], 30],
    ['no decided time', 30, [40], 40],
    ['an earlier one', 49, [], 55],
    ['no earlier one that is decided', 55, [], undefined],
  ])('remembers %s', (_what, decided, withdrawn, left) => {
    const before = { ...known, confirmedMs: toMs(decided), withdrawnMs: toMs(55) };
    const answer = told(45, 69, ...(withdrawn.length === 0 ? [50] : [51]));
    const joined = joinAnswer(before, answer, { ...none, decidedMs: toMs(decided) });
    expect(joined.withdrawnMs.slice(0, 1)).toEqual(withdrawn.map(toMs));
    expect(joined.timetable.withdrawnMs).toBe(left === undefined ? undefined : toMs(left));
  });

  it('extends a gap after the last known start time until the gap is closed', () => {
    const gap = { afterMs: toMs(59), throughMs: toMs(59) + 1, askedAtMs: 0, likely: [], maxPerHour: 7 };
    expect([59, 59 + ms].map((asked) => joinGap(known, toMs(asked)))).toEqual([undefined, gap]);
    const open = { ...known, gap: { ...gap, likely: [{ firstMs: 5, count: 2 }] } };
    expect(joinGap(open, toMs(59))).toEqual(open.gap);
    expect(joinGap(open, toMs(61))).toEqual({
      ...open.gap,
      throughMs: toMs(61),
      likely: [
        { firstMs: 5, count: 2 },
        { firstMs: toMs(60), count: 1 },
      ],
    });
    expect(joinGap({ ...known, ...times(56) }, toMs(61))).not.toHaveProperty('maxPerHour');
  });

  it('joins two spans whose times are unsure, until the first is decided', () => {
    const [first, later] = [
      { afterMs: 10, throughMs: 20 },
      { afterMs: 30, throughMs: 40 },
    ];
    const joined = [19, 20].map((decidedMs) => joinUnsure(first, later, decidedMs));
    expect(joined).toEqual([{ afterMs: 10, throughMs: 40 }, later]);
    expect(joinUnsure(later, first, 19)).toEqual({ afterMs: 10, throughMs: 40 });
    expect([19, 20].map((decidedMs) => joinUnsure(first, undefined, decidedMs))).toEqual([first, undefined]);
  });
});
