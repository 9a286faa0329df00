import { describe, expect, it } from 'vitest';
import { createIdOrder, type IdHour, toForgottenHours, withIds } from '../../src/executions/counting/id-hours.ts';

describe('executions/id-hours', () => {
  it('treats old runs with high ids as imported', () => {
    const { isImported } = createIdOrder(hours([100, 50, 60]), laterMs);
    expect(isImported(run(70, 75 * hourMs))).toBe(true);
    expect(isImported(run(40, 75 * hourMs))).toBe(false);
    expect(isImported({ ...run(70, 75 * hourMs), startedAtMs: 101 * hourMs })).toBe(false);
  });

  it('treats no run as imported if times differ by less than a day', () => {
    const { isImported } = createIdOrder(hours([100, 50, 60]), laterMs);
    expect(isImported(run(70, 76 * hourMs))).toBe(false);
    expect(isImported(run(70, 99 * hourMs))).toBe(false);
  });

  it('recognizes a run of a slow clock by its id', () => {
    const known = hours([100, 50, 60], [101, 61, 70], [102, 71, 80]);
    const { isOfSlowClock } = createIdOrder(known, 103 * hourMs);
    const slowByMs = [90 * hourMs, 30 * hourMs];
    const judge = (id: number, hour: number): boolean =>
      isOfSlowClock({ id, startedAtMs: hour * hourMs, endedAtMs: hour * hourMs + 5000 }, slowByMs);
    // The run may be dated in the hour of its id, or in the hour before or after it.
    expect([9, 10, 11, 12, 13, 14].map((hour) => judge(65, hour))).toEqual([false, true, true, true, false, false]);
    expect([70, 71, 72].map((hour) => judge(65, hour))).toEqual([true, true, true]);
    // The run ends in the future, so it gets no hour.
    expect([12, 13, 14, 15].map((hour) => judge(90, hour))).toEqual([true, true, false, false]);
    expect(isOfSlowClock({ id: 65, startedAtMs: 0, endedAtMs: 0 }, [])).toBe(false);
  });

  it('detects by a low id that ids started again', () => {
    const { startsAgain } = createIdOrder(hours([100, 50, 60]), laterMs);
    expect(startsAgain({ id: 3, startedAtMs: 126 * hourMs })).toBe(true);
    expect(startsAgain({ id: 61, startedAtMs: 126 * hourMs })).toBe(false);
    expect(startsAgain({ id: 3, startedAtMs: 110 * hourMs })).toBe(false);
  });

  it('compares an id with all earlier or all later hours', () => {
    const order = createIdOrder(hours([300, 70, 80], [100, 50, 90], [200, 60, 65]), laterMs);
    expect(order.startsAgain({ id: 85, startedAtMs: 250 * hourMs })).toBe(true);
    expect(order.startsAgain({ id: 91, startedAtMs: 400 * hourMs })).toBe(false);
    expect(order.isImported(run(61, 150 * hourMs))).toBe(true);
    expect(order.isImported(run(61, 250 * hourMs))).toBe(false);
    const leastIsLast = createIdOrder(hours([100, 50, 50], [200, 70, 70], [300, 60, 60]), laterMs);
    expect(leastIsLast.isImported(run(65, 150 * hourMs))).toBe(true);
    expect(createIdOrder(new Map(), laterMs).isImported(run(1, 0))).toBe(false);
  });

  it('removes the oldest hours beyond the limit', () => {
    expect(toForgottenHours(hours([3, 7, 8], [1, 1, 2], [2, 3, 4]), 3, laterMs)).toEqual([]);
    expect(toForgottenHours(hours([3, 7, 8], [1, 1, 2], [2, 3, 4]), 1, laterMs)).toEqual([1, 2]);
    expect(toForgottenHours(hours([3, 7, 8], [1, 1, 9], [2, 3, 4]), 1, laterMs)).toEqual([2]);
  });

  it('removes hours far in the future', () => {
    expect(toForgottenHours(hours([5, 7, 8], [1, 1, 2], [2, 3, 4]), 3, 2.5 * hourMs)).toEqual([5]);
    expect(toForgottenHours(hours([4, 7, 8], [1, 1, 2], [2, 3, 4]), 3, 2.5 * hourMs)).toEqual([]);
  });

  it('recognizes an import although the only known hour is in the future', () => {
    const order = createIdOrder(hours([100, 1, 5]), 99.9 * hourMs);
    expect(order.isImported(run(6, 50 * hourMs))).toBe(true);
    expect(createIdOrder(hours([103, 1, 5]), 99.9 * hourMs).isImported(run(6, 50 * hourMs))).toBe(false);
  });

  it('returns only the changed hours', () => {
    const known = hours([100, 50, 60], [101, 61, 70]);
    const started = [
      { id: 48, startedAtMs: 100.5 * hourMs },
      { id: 65, startedAtMs: 101.5 * hourMs },
      { id: 75, startedAtMs: 102 * hourMs },
      { id: 71, startedAtMs: 102.9 * hourMs },
    ];
    expect(withIds(known, started, { seenAtMs: 102.95 * hourMs, latestMs: laterMs })).toEqual([
      { hour: 100, leastId: 48, greatestId: 60 },
      { hour: 102, leastId: 71, greatestId: 75 },
    ]);
  });

  it('stores the greatest and the smallest id of an hour', () => {
    const known = hours([100, 50, 60], [126, 70, 80]);
    const started = [
      { id: 90, startedAtMs: 100 * hourMs },
      { id: 45, startedAtMs: 101 * hourMs },
    ];
    expect(withIds(known, started, { seenAtMs: 126.5 * hourMs, latestMs: laterMs })).toEqual([
      { hour: 126, leastId: 70, greatestId: 90 },
      { hour: 101, leastId: 45 },
    ]);
  });

  it('compares ids with hours that lack the smallest or the greatest id', () => {
    const order = createIdOrder(
      new Map([
        [100, { hour: 100, leastId: 50 }],
        [130, { hour: 130, greatestId: 90 }],
      ]),
      laterMs,
    );
    expect(order.startsAgain({ id: 3, startedAtMs: 154 * hourMs })).toBe(false);
    expect(order.startsAgain({ id: 3, startedAtMs: 155 * hourMs })).toBe(true);
    expect(order.isImported(run(70, 75 * hourMs))).toBe(true);
    expect(order.isImported(run(70, 80 * hourMs))).toBe(false);
  });
});

const hourMs = 3_600_000;
const laterMs = 1000 * hourMs;

function run(id: number, endedAtMs: number) {
  return { id, startedAtMs: endedAtMs, endedAtMs };
}

function hours(...known: readonly (readonly [hour: number, leastId: number, greatestId: number])[]) {
  return new Map(known.map(([hour, leastId, greatestId]): [number, IdHour] => [hour, { hour, leastId, greatestId }]));
}
