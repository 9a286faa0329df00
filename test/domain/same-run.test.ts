import { describe, expect, it } from 'vitest';
import { isSameRun, type RunTimes } from '../../src/domain/execution.ts';

const hourMs = 3_600_000;
/** Times two days before clocks go forward in Europe, and on a day far from every clock change. */
const change = Date.UTC(2026, 2, 27, 12);
const july = Date.UTC(2026, 6, 10, 12);
const end = change + 60_000;

describe('domain/same-run', () => {
  it.each<[string, RunTimes, RunTimes, boolean]>([
    ['one start', at(100_000), at(100_000), true],
    ['a start without its milliseconds', at(100_999), at(100_000), true],
    ['starts just under two seconds apart', at(100_000), at(101_999), true],
    ['starts two seconds apart', at(100_000, 200_000), at(102_000, 200_000), false],
    ['a run that has not ended', at(100_000), at(102_000, 200_000), false],
    ['a start that was missing before', at(200_000, 200_000), at(100_000, 200_000), true],
    ['a start that was missing before, and another end', at(200_000, 200_000), at(100_000, 202_000), false],
    [
      'one hour off with the same end after a change of zone',
      at(change + hourMs, end + hourMs),
      at(change, end + hourMs),
      true,
    ],
    ['one hour off as a whole after a change of zone', at(change, end), at(change + hourMs, end + hourMs), true],
    [
      'one hour off as a whole without a change of zone',
      at(july, july + 60_000),
      at(july + hourMs, july + hourMs + 60_000),
      false,
    ],
    ['one hour off, longer than before', at(change, end), at(change + hourMs, end + hourMs + 1), false],
    ['one hour and a millisecond off', at(change, end), at(change + hourMs + 1, end), false],
    ['two hours off', at(change, end), at(change + 2 * hourMs, end + 2 * hourMs), false],
  ])('compares %s', (_name, one, other, expected) => {
    expect([isSameRun(one, other), isSameRun(other, one)]).toEqual([expected, expected]);
  });
});

function at(startedAtMs: number, endedAtMs?: number): RunTimes {
  return { startedAtMs, endedAtMs };
}
