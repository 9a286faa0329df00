import { describe, expect, it } from 'vitest';
import { joinAnswer } from '../../../src/expected-runs/deciding/join-answer.ts';
import { toStartWindow } from '../../../src/expected-runs/deciding/match.ts';
import type { Answer } from '../../../src/expected-runs/deciding/timetable.ts';

const tens = (fromSeconds: number, count: number): number[] =>
  Array.from({ length: count }, (_, index) => (fromSeconds + index * 10) * 1000);

const answer = (askedSeconds: number, untilSeconds: number, timesMs: number[]): Answer => ({
  source: 'forecast',
  askedAtMs: askedSeconds * 1000,
  untilMs: untilSeconds * 1000,
  timesMs,
});

const join = { decidedMs: 0, doubtMs: 0 };

describe('expected-runs/deciding/timetable', () => {
  it('lets the last time before a gap have no more than the distance of the times before it', () => {
    const before = joinAnswer(undefined, answer(0, 65, tens(10, 6)), join).timetable;
    const { timetable } = joinAnswer(before, answer(6000, 6065, tens(6010, 6)), join);
    expect(timetable.timesMs.slice(4, 8)).toEqual([50_000, 60_000, 6_010_000, 6_020_000]);
    // The runs for 70, 80 and so on are runs for times that are not known.
    expect(toStartWindow(timetable, 5, 600_000)).toEqual({ fromMs: 55_000, throughMs: 64_999 });
    expect(toStartWindow(timetable, 6, 600_000)).toEqual({ fromMs: 6_005_000, throughMs: 6_014_999 });
  });

  it('takes the next run that is told at once for the next one', () => {
    const timetable = {
      timesMs: [3_600_000, 4_200_000],
      untilMs: 4_200_000,
      gap: { afterMs: 3_600_000, throughMs: 4_000_000, askedAtMs: 0, likely: [] },
    };
    expect(toStartWindow(timetable, 0, 600_000)).toEqual({ fromMs: 3_595_000, throughMs: 3_899_999 });
  });
});
