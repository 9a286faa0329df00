import { describe, expect, it } from 'vitest';
import type { Window } from '../../src/api/paging.ts';
import {
  type ProjectState,
  readThroughMs,
  toNewProject,
  toNextWindow,
  withNewestRead,
  withNewestReadBehind,
  withPastRead,
  withThrough,
} from '../../src/executions/ledger/project-state.ts';

describe('executions/backlog', () => {
  it('creates no backlog if everything has been read up to now', () => {
    expect(toText(withNewestRead(scanned(100), window(80, 200), []))).toBe('200');
  });

  it('keeps the unread rest of a read', () => {
    const state = withNewestRead(scanned(100), window(80, 200), [window(80, 150)]);
    expect(toText(state)).toBe('100 ahead 200 but 80-150');
    expect(readThroughMs(state)).toBe(200);
    expect(toText(withNewestRead(state, window(180, 300), []))).toBe('100 ahead 300 but 80-150');
  });

  it('does not change while an overlap is partly read', () => {
    const first = withNewestReadBehind(behind(100, 200, [window(101, 150)]), window(80, 300), {
      rest: [window(80, 250)],
      sinceMs: 80,
      newFromMs: 201,
    });
    expect(toText(first)).toBe('100 ahead 300 but 101-150,201-250');
    expect(first.againFromMs).toBe(80);
    const second = withNewestReadBehind(first, window(180, 400), { rest: [], sinceMs: 180, newFromMs: 301 });
    expect(second.againFromMs).toBe(80);
    expect(withNewestRead(second, window(80, 500), []).againFromMs).toBeUndefined();
  });

  it('does not read an overlap again that was read completely', () => {
    const state = behind(100, 200, [window(20, 50)]);
    const read = { rest: [window(20, 30)], sinceMs: 80, newFromMs: 201 };
    expect(withNewestReadBehind(state, window(80, 300), read).againFromMs).toBeUndefined();
  });

  it('has no window that ends before it begins', () => {
    const state = behind(100, 200, [window(150, 190)]);
    const read = { rest: [window(80, 140)], sinceMs: 80, newFromMs: 201 };
    expect(toText(withNewestReadBehind(state, window(80, 300), read))).toBe('300');
  });

  it('advances the progress up to the end of the oldest read part', () => {
    const state = behind(100, 200, [window(80, 150), window(170, 180)]);
    expect(toText(withPastRead(state, window(80, 150), [window(120, 150)]))).toBe('119 ahead 200 but 120-150,170-180');
    expect(toText(withPastRead(state, window(80, 150), []))).toBe('169 ahead 200 but 170-180');
    expect(toText(withPastRead(behind(169, 200, [window(170, 180)]), window(170, 180), []))).toBe('200');
  });

  it('removes windows that a later read has covered', () => {
    const state = behind(100, 200, [window(80, 150), window(170, 200)]);
    expect(toText(withNewestRead(state, window(140, 300), [window(140, 160)]))).toBe(
      '100 ahead 300 but 80-139,140-160',
    );
    expect(toText(withNewestRead(state, window(80, 300), []))).toBe('300');
  });

  it('joins windows that overlap', () => {
    const state = withNewestRead(scanned(100), window(100, 200), [
      window(100, 120),
      window(121, 140),
      window(130, 150),
    ]);
    expect(toText(state)).toBe('100 ahead 200 but 100-120,121-150');
  });

  it('moves back when the clock is set back', () => {
    const state = behind(100, 500, [window(80, 150), window(400, 450)]);
    expect(toText(withNewestRead(state, window(180, 300), []))).toBe('100 ahead 300 but 80-150');
    expect(toText(withThrough(state, 420))).toBe('100 ahead 420 but 80-150,400-420');
    expect(toText(withThrough(state, 90))).toBe('90 ahead 90 but 80-90');
    expect(toText(withThrough(state, 60))).toBe('60');
    expect(toText(withThrough(scanned(100), 300))).toBe('100');
  });

  it('reads at most a day at once', () => {
    expect(toNextWindow(scanned(100))).toBeUndefined();
    expect(toNextWindow(behind(100, 200, [window(80, 150)]))).toEqual({ beginMs: 80, endMs: 150 });
    expect(toNextWindow(behind(0, 1e9, [window(5, 9e8)]))).toEqual({ beginMs: 5, endMs: 86_400_004 });
  });

  it('keeps at most fifty parts', () => {
    const parts = Array.from({ length: 80 }, (_, index) => window(index * 10, index * 10 + 3));
    const { backlog = [] } = withNewestRead(scanned(0), window(0, 1000), parts);
    expect(backlog).toHaveLength(50);
    expect(backlog.at(-1)).toEqual({ beginMs: 490, endMs: 793 });
  });
});

function window(beginMs: number, endMs: number): Window {
  return { beginMs, endMs };
}

function scanned(scannedThroughMs: number): ProjectState {
  return { ...toNewProject('pay', 0), scannedThroughMs };
}

function behind(scannedThroughMs: number, aheadThroughMs: number, backlog: readonly Window[]): ProjectState {
  return { ...scanned(scannedThroughMs), aheadThroughMs, backlog };
}

function toText({ scannedThroughMs, aheadThroughMs, backlog = [] }: ProjectState): string {
  if (aheadThroughMs === undefined) return String(scannedThroughMs);
  const parts = backlog.map(({ beginMs, endMs }) => `${beginMs}-${endMs}`);
  return `${scannedThroughMs} ahead ${aheadThroughMs} but ${parts.join(',')}`;
}
