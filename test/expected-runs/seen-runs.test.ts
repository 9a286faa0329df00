import { describe, expect, it } from 'vitest';
import { toSeenRuns } from '../../src/expected-runs/seen-runs.ts';
import { someRun, someRunning } from '../executions/some-execution.ts';

describe('expected-runs/seen-runs', () => {
  it.each([
    ['the schedule started it', { type: 'scheduled' }, 'scheduled'],
    ['nothing says what started it', { type: undefined }, 'scheduled'],
    ['it repeats one that the schedule started', { type: 'scheduled', attempt: 1 }, 'other'],
    ['a person started it', { type: 'user' }, 'other'],
    ['the server missed it', { type: 'scheduled', status: 'missed' }, 'missed'],
  ] as const)('classifies a run if %s', (_what, fields, kind) => {
    expect(toSeenRuns([someRun(fields)])).toEqual(
      new Map([['a-1', [{ id: 1, startedAtMs: 100_000, endedAtMs: 105_000, kind }]]]),
    );
  });

  it('ignores what waits, has no start, or has no job', () => {
    const none = [someRunning({ status: 'scheduled' }), someRun({ lacksStart: true }), someRun({ job: undefined })];
    expect(toSeenRuns(none)).toEqual(new Map());
  });
});
