import { describe, expect, it } from 'vitest';
import { createClearTimes } from '../../src/expected-runs/seen-runs.ts';

const readAt = new Map([
  ['busy', 1_000_000],
  ['idle', 400_000],
]);

function toPort(scannedThroughMs: number) {
  const projects = ['busy', 'idle', 'denied'];
  return {
    progress: () => new Map(projects.map((project) => [project, { countedFromMs: 0, scannedThroughMs }])),
    running: () => [],
    runningReadMs: (project: string) => readAt.get(project),
  };
}

describe('expected-runs/clear-times', () => {
  it('knows all starts in a project up to when its own list of running executions was read', () => {
    const clear = createClearTimes();
    clear.note(toPort(1_000_000));
    clear.note(toPort(1_059_999));
    expect(['busy', 'idle'].map(clear.of)).toEqual([Number.NEGATIVE_INFINITY, 400_000]);
    clear.note(toPort(1_060_000));
    expect(['busy', 'idle'].map(clear.of)).toEqual([1_000_000, 400_000]);
  });

  it('knows no starts of a project whose running executions may not be read', () => {
    const clear = createClearTimes();
    clear.note(toPort(1_000_000));
    clear.note(toPort(2_000_000));
    expect(clear.of('denied')).toBe(Number.NEGATIVE_INFINITY);
  });
});
