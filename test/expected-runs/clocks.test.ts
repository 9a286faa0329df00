import { describe, expect, it } from 'vitest';
import type { SystemInfo } from '../../src/api/endpoints/system.ts';
import { createClockNotes, createClocks } from '../../src/expected-runs/clocks.ts';
import { sourceKeys } from '../../src/expected-runs/deciding/sources.ts';
import type { Span, Timeline } from '../../src/expected-runs/deciding/timeline.ts';

/** Clocks that a test sets: the time that has passed, and by how much the exporter's clock is ahead of it. */
function createTime() {
  let ticks = 1_000_000;
  let ownAheadMs = 0;
  return {
    clock: { now: () => ticks + ownAheadMs, ticks: () => ticks },
    pass: (ms: number): void => void (ticks += ms),
    setOwn: (aheadMs: number): void => void (ownAheadMs = aheadMs),
    /** Returns a time by a clock that is ahead. */
    told: (aheadMs: number): number => ticks + aheadMs,
  };
}

describe('expected-runs/clocks', () => {
  it.each([
    ['ahead by less than half a minute', 30_000, undefined],
    ['ahead', 30_001, { fromMs: 1_000_500, toMs: 1_060_501 + 30_000 }],
    ['back by less than half a minute', -30_000, undefined],
    ['back', -30_001, { fromMs: 1_060_500, toMs: 1_060_499 - 30_000 }],
  ])('finds that a clock was set %s', (_what, byMs, step) => {
    const { clock, pass, told, setOwn } = createTime();
    const [clocks, own] = [createClocks(clock), createClocks(clock)];
    expect([clocks.note('m', told(500)), own.noteOwn()]).toEqual([undefined, undefined]);
    pass(60_000);
    expect(clocks.note('m', told(500 + byMs))).toEqual(step);
    setOwn(byMs);
    expect(own.noteOwn()).toEqual(step && { fromMs: step.fromMs - 500, toMs: step.toMs - 500 });
    expect([own.noteOwn(), clocks.noteOwn()]).toEqual([undefined, undefined]);
  });

  it('uses the clock of the first member until this member has not responded for a day', () => {
    const { clock, pass, told } = createTime();
    const clocks = createClocks(clock);
    const toState = () => [clocks.nowMs() - told(0), clocks.aheadMs('b'), clocks.behindMs('b'), clocks.behindMs('c')];
    expect([...toState(), clocks.aheadMs(undefined)]).toEqual([0, 0, 0, 0, 0]);
    clocks.note('a', told(5000.5));
    expect(toState()).toEqual([5000, 0, 0, 0]);
    clocks.note('b', told(3000));
    expect(toState()).toEqual([5000, -2000.5, 2000.5, 2000.5]);
    expect([clocks.behindMs('a'), clocks.aheadMs('a'), clocks.aheadMs('c')]).toEqual([0, 0, 0]);
    pass(86_400_000);
    clocks.note('b', told(3000));
    expect(toState()).toEqual([5000, -2000.5, 2000.5, 2000.5]);
    pass(1);
    clocks.note('b', told(3000));
    expect(toState()).toEqual([3000, 0, 0, 0]);
  });

  it('remembers the clocks of a hundred members', () => {
    const { clock, told } = createTime();
    const clocks = createClocks(clock);
    for (let member = 0; member < 101; member += 1) clocks.note(`${member}`, told(member));
    clocks.note('0', told(7));
    expect(['0', '99', '100'].map(clocks.behindMs)).toEqual([92, 0, 98]);
  });

  /** Creates notes with earlier readings, and receives times of a member that is ahead. */
  function listen(before: Readonly<Record<string, Timeline>>, ...aheadMs: readonly number[]) {
    const { clock, pass, told } = createTime();
    const timelines = new Map(Object.entries(before));
    const changed = new Set<string>();
    const notes = createClockNotes(clock, timelines, changed);
    notes.receive(undefined);
    for (const ahead of aheadMs) {
      const info = { server: {}, stats: { scheduler: {}, uptime: {} }, timestampMs: told(ahead) };
      notes.receive(info as unknown as SystemInfo);
      pass(60_000);
    }
    const read = (key: string) =>
      timelines.get(key)?.map(({ value, fromMs, throughMs }) => `${value} ${fromMs} ${throughMs}`);
    return { notes, changed, leaps: () => read(sourceKeys.leaps), skew: () => read(sourceKeys.skew) };
  }

  const ahead = (ms: number, fromMs: number, throughMs = fromMs): Span => ({ value: `${ms}`, fromMs, throughMs });
  const kept = (ms: number) => ({ [sourceKeys.skew]: [ahead(ms, 5, 900_000)] });
  it.each([
    ['without a reading before', {}, [700], undefined, ['700 1000700 1000700']],
    ['without a step', kept(700), [30_700], undefined, ['700 5 900000', '700 1030700 1030700']],
    ['after a step', kept(700), [30_701], ['leapt  900000 1030701'], ['700 5 900000', '30701 1030701 1030701']],
    ['after a step back', kept(70_000), [700], [], ['70000 5 900000', '700 1000700 1000700']],
    ['that is set ahead', {}, [0, 60_000], ['leapt  1000000 1120000'], ['0 1000000 1000000', '60000 1120000 1120000']],
  ])('records the clock of a server %s', (...[, before, aheadMs, leaps, skew]) => {
    const found = listen(before, ...aheadMs);
    expect([found.leaps(), found.skew()]).toEqual([leaps, skew]);
    expect([...found.changed].toSorted()).toEqual(leaps === undefined ? ['skew'] : ['leaps', 'skew']);
  });

  it.each([
    ['ahead', 30_001, ['leapt m 600 700', 'leapt  100 500']],
    ['not ahead', 30_000, ['leapt m 600 700']],
    ['not back', -30_000, ['leapt m 600 700']],
    ['back', -30_001, ['undone 600 700', 'lived 700 30501']],
  ])('finds that a clock was set %s during an absence', (_what, byMs, leaps) => {
    const found = listen({ [sourceKeys.leaps]: [{ value: 'leapt m', fromMs: 600, throughMs: 700 }] });
    found.notes.joinAbsence(ahead(1000, 50, 100), undefined);
    found.notes.joinAbsence(undefined, ahead(1000 + byMs, 500, 600));
    found.notes.joinAbsence(ahead(1000, 50, 100), ahead(1000 + byMs, 500, 600));
    expect(found.leaps()).toEqual(leaps);
  });
});
