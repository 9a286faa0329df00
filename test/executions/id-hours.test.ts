import { describe, expect, it } from 'vitest';
import { createIdOrder, type IdHour, toForgottenHours, withIds } from '../../src/executions/counting/id-hours.ts';

describe('executions/id-hours', () => {
  it('treats a run as imported if it ended more than a day before a run with a lower id started', () => {
    const { isImported } = createIdOrder(hours([100, 50, 60]), laterMs);
    expect(isImported(run(70, 75 * hourMs))).toBe(true);
    expect(isImported(run(40, 75 * hourMs))).toBe(false);
    expect(isImported({ ...run(70, 75 * hourMs), startedAtMs: 101 * hourMs })).toBe(false);
  });

  it('does not treat a run as imported if the times of two runs differ by less than a day, as clocks may differ', () => {
    const { isImported } = createIdOrder(hours([100, 50, 60]), laterMs);
    expect(isImported(run(70, 76 * hourMs))).toBe(false);
    expect(isImported(run(70, 99 * hourMs))).toBe(false);
  });

  it('recognizes a run by its id although its start comes from a slow clock', () => {
    const known = hours([100, 50, 60], [101, 61, 70], [102, 71, 80]);
    const { isOfSlowClock } = createIdOrder(known, 103 * hourMs);
    const slowByMs = [90 * hourMs, 30 * hourMs];
    const judge = (id: number, hour: number): boolean =>
      isOfSlowClock({ id, startedAtMs: hour * hourMs, endedAtMs: hour * hourMs + 5000 }, slowByMs);
    // Both the hour in which the id was assigned and the next hour count.
    expect([9, 10, 11, 12, 13, 14].map((hour) => judge(65, hour))).toEqual([false, true, true, true, false, false]);
    expect([70, 71, 72].map((hour) => judge(65, hour))).toEqual([true, true, true]);
    // A run with such a clock would end in the future, so the run gets no hour.
    expect([12, 13, 14, 15].map((hour) => judge(90, hour))).toEqual([true, true, false, false]);
    expect(isOfSlowClock({ id: 65, startedAtMs: 0, endedAtMs: 0 }, [])).toBe(false);
  });

  it('detects that ids start again when a run has a lower id than a run that started more than a day earlier', () => {
    const { startsAgain } = createIdOrder(hours([100, 50, 60]), laterMs);
    expect(startsAgain({ id: 3, startedAtMs: 126 * hourMs })).toBe(true);
    expect(startsAgain({ id: 61, startedAtMs: 126 * hourMs })).toBe(false);
    expect(startsAgain({ id: 3, startedAtMs: 110 * hourMs })).toBe(false);
  });

  it('compares an id with all earlier or all later hours, whatever the order in which the hours became known', () => {
    const order = createIdOrder(hours([300, 70, 80], [100, 50, 90], [200, 60, 65]), laterMs);
    expect(order.startsAgain({ id: 85, startedAtMs: 250 * hourMs })).toBe(true);
    expect(order.startsAgain({ id: 91, startedAtMs: 400 * hourMs })).toBe(false);
    expect(order.isImported(run(61, 150 * hourMs))).toBe(true);
    expect(order.isImported(run(61, 250 * hourMs))).toBe(false);
    const leastIsLast = createIdOrder(hours([100, 50, 50], [200, 70, 70], [300, 60, 60]), laterMs);
    expect(leastIsLast.isImported(run(65, 150 * hourMs))).toBe(true);
    expect(createIdOrder(new Map(), laterMs).isImported(run(1, 0))).toBe(false);
  });

  it('removes the oldest of too many hours, but never the greatest id', () => {
    expect(toForgottenHours(hours([3, 7, 8], [1, 1, 2], [2, 3, 4]), 3, laterMs)).toEqual([]);
    expect(toForgottenHours(hours([3, 7, 8], [1, 1, 2], [2, 3, 4]), 1, laterMs)).toEqual([1, 2]);
    expect(toForgottenHours(hours([3, 7, 8], [1, 1, 9], [2, 3, 4]), 1, laterMs)).toEqual([2]);
  });

  it('removes future hours, except hours that remain after a clock was set back by an hour', () => {
    expect(toForgottenHours(hours([5, 7, 8], [1, 1, 2], [2, 3, 4]), 3, 2.5 * hourMs)).toEqual([5]);
    expect(toForgottenHours(hours([4, 7, 8], [1, 1, 2], [2, 3, 4]), 3, 2.5 * hourMs)).toEqual([]);
  });

  it('recognizes an import in an epoch whose only hour is in the future because the clock was set back later', () => {
    const order = createIdOrder(hours([100, 1, 5]), 99.9 * hourMs);
    expect(order.isImported(run(6, 50 * hourMs))).toBe(true);
    expect(createIdOrder(hours([103, 1, 5]), 99.9 * hourMs).isImported(run(6, 50 * hourMs))).toBe(false);
  });

  it('extends the hours of new ids, and returns only the changed hours', () => {
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

  it('stores the greatest id in the hour in which it became known, and the smallest id in the hour of its start', () => {
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

  it('compares with hours that have only a smallest or only a greatest id', () => {
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
