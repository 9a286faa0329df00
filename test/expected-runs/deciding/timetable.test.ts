import { describe, expect, it } from 'vitest';
import { findBlockers } from '../../../src/expected-runs/deciding/blockers.ts';
import { decide, toStartWindow } from '../../../src/expected-runs/deciding/decide.ts';
import { closeGap } from '../../../src/expected-runs/deciding/gap.ts';
import { joinAnswer } from '../../../src/expected-runs/deciding/join-answer.ts';
import { noteAnswer, noteListed } from '../../../src/expected-runs/deciding/notes.ts';
import {
  type Answer,
  isTimedUntil,
  minSlackMs,
  timesWithin,
  toLikely,
  toMostPerHour,
  toRefreshMs,
} from '../../../src/expected-runs/deciding/timetable.ts';
import { isSwitched } from '../../../src/expected-runs/deciding/watched-job.ts';
import { someJob } from '../some-job.ts';

const toMs = (seconds: number): number => seconds * 1000;
const every = (seconds: number, fromSeconds: number, count: number): number[] =>
  Array.from({ length: count }, (_, index) => (fromSeconds + index * seconds) * 1000);
const tens = (fromSeconds: number, count: number): number[] => every(10, fromSeconds, count);

const answer = (askedSeconds: number, untilSeconds: number, timesMs: number[]): Answer => ({
  source: 'forecast',
  askedAtMs: askedSeconds * 1000,
  untilMs: untilSeconds * 1000,
  timesMs,
});

const join = { decidedMs: 0, doubtMs: 0 };

const watched = someJob({ name: 'settle', decidedMs: 30_000 });

describe('expected-runs/deciding/timetable', () => {
  it('limits the start window of the last time before a gap', () => {
    const before = joinAnswer(undefined, answer(0, 65, tens(10, 6)), join).timetable;
    const { timetable } = joinAnswer(before, answer(6000, 6065, tens(6010, 6)), join);
    expect(timetable.timesMs.slice(4, 8)).toEqual([50_000, 60_000, 6_010_000, 6_020_000]);
    // The times 70, 80 and so on are not known.
    expect(toStartWindow(timetable, 5, 600_000)).toEqual({ fromMs: 55_000, throughMs: 64_999 });
    expect(toStartWindow(timetable, 6, 600_000)).toEqual({ fromMs: 6_005_000, throughMs: 6_014_999 });
  });

  it('does not treat a run of an unlisted time as late', () => {
    const minutes = (...all: number[]) => all.map((minute) => minute * 60_000);
    const first = joinAnswer(undefined, answer(30, 60, minutes(1)), join).timetable;
    const run = { id: 7, startedAtMs: 180_000, endedAtMs: 181_000, kind: 'scheduled' } as const;
    const job = { ...watched, timetable: first, runs: [run] };
    const input = {
      marginMs: 600_000,
      catchUpLimitMs: 1e9,
      clearMs: 1e9,
      countedFromMs: 0,
      running: [],
      sources: new Map(),
    };
    expect(decide(job, { ...input, nowMs: 240_000 })).toMatchObject({ verdicts: [], needsAnswer: true });
    const { timetable } = joinAnswer(first, answer(240, 480, minutes(5, 6, 7)), join);
    expect(toStartWindow(timetable, 0, 600_000).throughMs).toBe(89_999);
  });

  it.each([
    ['an hour is full', answer(0, 7210, tens(10, 720)), 360],
    ['the list is short', answer(0, 610, tens(10, 60)), 360],
    ['the list is an hour long', answer(0, 3610, tens(10, 60)), 60],
    ['the list is almost an hour long', answer(0, 3609, tens(10, 60)), 61],
    ['the list is 5 min long', answer(0, 310, tens(10, 20)), 240],
    ['the list is shorter', answer(0, 309, tens(10, 20)), undefined],
    ['an hour has both ends', answer(0, 7200, [10, 3609, 3610].map(toMs)), 2],
    ['the first time is over', answer(0, 3610, [0, 10].map(toMs)), 1],
    ['no time is known', answer(0, 3610, []), undefined],
  ])('computes the maximum number of starts in an hour if %s', (_what, told, most) => {
    expect(toMostPerHour({ ...told, confirmedMs: 0 })).toBe(most);
  });

  const hour = 3600;
  it.each([
    ['half of the list', answer(0, 10 * hour, every(hour, hour, 10)), 5 * hour],
    ['six hours', answer(0, 12 * hour + 2, every(hour, hour, 12)), 6 * hour],
    ['half of a list without a time', answer(0, 10 * hour, []), 5 * hour],
    ['half of a list whose times are over', answer(10, 10 * hour + 10, [10_000]), 5 * hour + 10],
    ['the last time', answer(0, 10 * hour, every(hour, hour, 4)), 4 * hour + 0.001],
    ['the next run', { ...answer(0, 50 * hour, [toMs(50 * hour)]), source: 'next-run' } as const, 50 * hour + 0.001],
  ])('requests times again after %s', (_what, told, seconds) => {
    expect(toRefreshMs({ ...told, confirmedMs: 0 })).toBe(toMs(seconds));
  });

  it('estimates the times of two weeks before a response', () => {
    const { timetable } = joinAnswer(undefined, answer(0, 7200, every(1800, 1800, 4)), join);
    const days = (count: number) => toLikely(timetable, 0, count * 86_400_000);
    expect([days(14).length, days(15).length, days(15)[0]]).toEqual([
      14 * 24 + 1,
      14 * 24 + 1,
      { firstMs: 86_400_000 + 1_800_000, count: 1 },
    ]);
    expect(toLikely(joinAnswer(undefined, answer(0, 20, [20_000]), join).timetable, 0, 86_400_000)).toEqual([]);
  });

  it.each([
    ['each hour, to the second', answer(0, 47_790, every(3600, 1020, 13)), [50_000, 58_000], [51_420, 55_020]],
    [
      'some minutes of each hour',
      answer(0, 7000, [600, 1200, 3000, 4200, 4800, 6600].map(toMs)),
      [7000, 9000],
      [7800, 8400],
    ],
    ['for twice its length', answer(0, 7200, every(600, 600, 12)), [21_000, 21_600], [21_600]],
    ['for no more than that', answer(0, 7200, every(600, 600, 12)), [21_600, 22_800], undefined],
    ['each day', answer(0, 100_000, every(86_400, 7200, 2)), [170_000, 190_000], [180_000]],
    [
      'each weekday, without the days after a list from Friday',
      answer(0, 150_000, every(3600, 3600, 5)),
      [150_000, 200_000],
      undefined,
    ],
    [
      'of a part of the day, as soon as the list is longer than it',
      answer(0, 40_000, every(3600, 3600, 5)),
      [40_000, 50_000],
      undefined,
    ],
  ] as const)(
    'repeats the distance between listed times after a list: %s',
    (_what, told, [fromSeconds, toSeconds], times) => {
      const { timetable } = joinAnswer(undefined, told, join);
      expect(timesWithin(timetable, fromSeconds * 1000, toSeconds * 1000)).toEqual((times ?? []).map(toMs));
      expect(isTimedUntil(timetable, toSeconds * 1000)).toBe(times !== undefined);
    },
  );

  it('accepts a next run that is now', () => {
    const timetable = {
      timesMs: [3_600_000, 4_200_000],
      untilMs: 4_200_000,
      gap: { afterMs: 3_600_000, throughMs: 4_000_000, askedAtMs: 0, likely: [] },
    };
    expect(toStartWindow(timetable, 0, 600_000)).toEqual({ fromMs: 3_595_000, throughMs: 3_899_999 });
  });

  it('replaces all later times after an unexpected next time', () => {
    // The job starts every ten seconds from 1000 on.
    const before = joinAnswer(undefined, answer(0, 2000, tens(1000, 100)), join).timetable;
    const isNext = (seconds: number) => joinAnswer(before, answer(900, seconds, [seconds * 1000]), join).agreement;
    expect({ soon: isNext(910), first: isNext(1000) }).toEqual({ soon: 'edited', first: 'same' });
    expect(joinAnswer(before, answer(900, 910, [910_000]), join).timetable.timesMs).toEqual([910_000]);
  });

  it('removes earlier times if the next time does not fit their regular distance', () => {
    const before = joinAnswer(
      undefined,
      answer(
        0,
        190,
        tens(100, 10).filter((_, index) => index % 3 === 0),
      ),
      join,
    ).timetable;
    const isNext = (seconds: number) =>
      joinAnswer({ ...before, untilMs: 215_000 }, answer(180, seconds, [seconds * 1000]), join);
    expect([isNext(220), isNext(225)].map(({ agreement }) => agreement)).toEqual(['same', 'unknown']);
  });

  it('confirms known start times by a list, but not by the next start alone', () => {
    const before = joinAnswer(undefined, answer(0, 1000, tens(10, 99)), join).timetable;
    const after = (untilSeconds: number, count: number, isAfterEdit = false) => {
      const told = { ...answer(495, untilSeconds, tens(500, count)), isAfterEdit };
      return joinAnswer(before, told, { decidedMs: 0, doubtMs: 2000 }).timetable;
    };
    const sureMs = 495_000 - minSlackMs - 2000;
    const confirmed = [after(500, 1), after(509, 1), after(600, 10)].map(({ confirmedMs }) => confirmedMs);
    expect(confirmed).toEqual([before.confirmedMs, sureMs, sureMs]);
    expect([after(600, 10).untilMs, after(600, 10, true).untilMs]).toEqual([1_000_000, 598_000]);
  });

  it('recognizes a schedule after a long absence only if all distances of starts fit', () => {
    const before = joinAnswer(undefined, answer(0, 100, tens(10, 10)), join).timetable;
    const isNext = (...seconds: number[]) =>
      joinAnswer(before, answer(1000, seconds.at(-1) ?? 0, seconds.map(toMs)), join).agreement;
    expect([isNext(1010, 1020), isNext(1010, 1025), isNext(1015)]).toEqual(['same', 'unknown', 'unknown']);
  });

  it('distinguishes schedules that share one time', () => {
    const before = joinAnswer(undefined, answer(0, 1000, tens(10, 99)), join).timetable;
    const next = joinAnswer(before, answer(495, 500, [500_000]), join).timetable;
    expect(next.confirmedMs).toBe(before.confirmedMs);
    const { withdrawnMs } = joinAnswer(next, answer(495, 1000, [500_000, 600_000]), { ...join, decidedMs: 460_000 });
    expect(withdrawnMs).toEqual([470_000, 480_000, 490_000, 510_000, 520_000]);
  });

  it('ends the start window of a time half way to the next', () => {
    const before = joinAnswer(undefined, answer(0, 300, [60_000, 120_000, 180_000]), join).timetable;
    const { timetable } = joinAnswer(before, answer(130, 9000, [900_000]), { ...join, decidedMs: 60_000 });
    expect(timetable.timesMs).toEqual([60_000, 900_000]);
    expect(toStartWindow(timetable, 0, 600_000).throughMs).toBe(89_999);
    const withdrawnAfter = (decidedMs: number) =>
      joinAnswer(timetable, answer(140, 9000, [900_000]), { ...join, decidedMs }).timetable.withdrawnMs;
    expect([60_000, 120_000].map(withdrawnAfter)).toEqual([120_000, undefined]);
  });
});

describe('expected-runs/deciding/notes', () => {
  const listed = { id: 'a', name: 'a', group: '', isScheduled: true, isEnabled: true, isScheduleEnabled: true };
  const job = noteListed(undefined, listed, { project: 'pay', atMs: 0 }).job;

  it('counts the times between the first known next time and the first list', () => {
    const first = noteAnswer(job, answer(0, 20, [20_000])).job;
    const listed = noteAnswer(first, answer(600, 4200, tens(610, 360))).job;
    const { gap } = listed.timetable ?? {};
    if (gap === undefined) throw new Error('there is no gap');
    const { verdicts } = closeGap(listed, gap, new Map());
    expect(verdicts).toEqual([{ is: 'undecided', expectedMs: 30_000, why: 'unasked', count: 58 }]);
  });

  it('reports a disabled job as blocked until the job is enabled again', () => {
    let found = noteAnswer(job, answer(0, 1000, tens(10, 99))).job;
    const reasons = [false, true].map((isScheduleEnabled) => {
      found = noteListed(found, { ...listed, isScheduleEnabled }, { project: 'pay', atMs: 5 }).job;
      return findBlockers(found, new Map(), 5).map(({ reason }) => reason);
    });
    expect([found.off.length, ...reasons]).toEqual([1, ['job_disabled'], []]);
  });

  it('reports no switch of a job when an old period is removed', () => {
    const over = { ...job, off: [{ what: 'job', sinceMs: 1, seenAtMs: 1, untilMs: 2 }] } as const;
    const open = { ...job, off: [{ what: 'job', sinceMs: 1, seenAtMs: 1 }] } as const;
    expect([isSwitched(over, job), isSwitched(open, over), isSwitched(job, open)]).toEqual([false, true, true]);
  });
});
