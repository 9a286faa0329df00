import { describe, expect, it } from 'vitest';
import { isSameRun, type RunTimes } from '../../src/domain/same-run.ts';

describe('domain/same-run', () => {
  it.each<[string, RunTimes, RunTimes, boolean]>([
    ['one start', at(100_000), at(100_000), true],
    ['a start without its milliseconds', at(100_999), at(100_000), true],
    ['starts just under two seconds apart', at(100_000), at(101_999), true],
    ['starts two seconds apart', at(100_000, 200_000), at(102_000, 200_000), false],
    ['one that is not over', at(100_000), at(102_000, 200_000), false],
    ['a start that was missing before', at(200_000, 200_000), at(100_000, 200_000), true],
    ['a start that was missing before, and another end', at(200_000, 200_000), at(100_000, 202_000), false],
    ['one hour off with the same end', at(7_200_000, 7_260_000), at(3_600_000, 7_260_000), true],
    ['one hour off as a whole', at(3_600_000, 3_660_000), at(7_200_000, 7_260_000), true],
    ['one hour off, longer than before', at(3_600_000, 3_660_000), at(7_200_000, 7_260_001), false],
    ['one hour and a millisecond off', at(3_600_000, 7_260_000), at(7_200_001, 7_260_000), false],
    ['two hours off', at(3_600_000, 3_660_000), at(10_800_000, 10_860_000), false],
  ])('compares %s', (_name, one, other, expected) => {
    expect([isSameRun(one, other), isSameRun(other, one)]).toEqual([expected, expected]);
  });
});

function at(startedAtMs: number, endedAtMs?: number): RunTimes {
  return { startedAtMs, endedAtMs };
}
