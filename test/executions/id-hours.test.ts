import { describe, expect, it } from 'vitest';
import { type IdHour, isImported, startsAgain, withIds } from '../../src/executions/id-hours.ts';

describe('executions/id-hours', () => {
  it('takes a run for imported that ended more than a day before a lower id started', () => {
    const known = hours([100, 50, 60]);
    expect(isImported(known, { id: 70, endedAtMs: 75 * hourMs })).toBe(true);
    expect(isImported(known, { id: 40, endedAtMs: 75 * hourMs })).toBe(false);
  });

  it('takes less than a day for a clock', () => {
    const known = hours([100, 50, 60]);
    expect(isImported(known, { id: 70, endedAtMs: 76 * hourMs })).toBe(false);
    expect(isImported(known, { id: 70, endedAtMs: 99 * hourMs })).toBe(false);
  });

  it('sees ids start again below one that started over a day before', () => {
    const known = hours([100, 50, 60]);
    expect(startsAgain(known, { id: 3, startedAtMs: 126 * hourMs })).toBe(true);
    expect(startsAgain(known, { id: 61, startedAtMs: 126 * hourMs })).toBe(false);
    expect(startsAgain(known, { id: 3, startedAtMs: 110 * hourMs })).toBe(false);
  });

  it('widens the hours that ids fall into, and tells of no hour that stays the same', () => {
    const known = hours([100, 50, 60], [101, 61, 70]);
    const started = [
      { id: 48, startedAtMs: 100.5 * hourMs },
      { id: 65, startedAtMs: 101.5 * hourMs },
      { id: 75, startedAtMs: 102 * hourMs },
      { id: 71, startedAtMs: 102.9 * hourMs },
    ];
    expect(withIds(known, started)).toEqual([
      { hour: 100, leastId: 48, greatestId: 60 },
      { hour: 102, leastId: 71, greatestId: 75 },
    ]);
  });
});

const hourMs = 3_600_000;

function hours(...known: readonly (readonly [hour: number, leastId: number, greatestId: number])[]) {
  return new Map(known.map(([hour, leastId, greatestId]): [number, IdHour] => [hour, { hour, leastId, greatestId }]));
}
