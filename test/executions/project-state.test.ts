import { describe, expect, it } from 'vitest';
import {
  type ProjectState,
  resume,
  rewind,
  rewindUnseen,
  toNewProject,
} from '../../src/executions/ledger/project-state.ts';
import { dayMs } from '../support/durations.ts';

describe('executions/project-state', () => {
  it('starts without any read executions', () => {
    expect(toNewProject('pay', 5000)).toEqual({
      project: 'pay',
      countedFromMs: 5000,
      scannedThroughMs: 5000,
      rereadThroughMs: 5000,
    });
  });

  it('continues from its progress after a hold', () => {
    expect(resume(held({ scannedThroughMs: 3 * dayMs }), 10 * dayMs, 7 * dayMs)).toEqual({
      project: 'pay',
      countedFromMs: dayMs,
      scannedThroughMs: 3 * dayMs,
      rereadThroughMs: dayMs,
    });
  });

  it('skips executions older than the catch-up limit', () => {
    expect(resume(held({ scannedThroughMs: 2 * dayMs }), 10 * dayMs, 7 * dayMs)).toEqual({
      project: 'pay',
      countedFromMs: 259_200_000,
      scannedThroughMs: 259_200_000,
      rereadThroughMs: 259_200_000,
      prunedThroughMs: dayMs,
      skips: [{ beginMs: 172_800_000, endMs: 259_199_999, reason: 'disabled' }],
    });
  });

  it('skips nothing of its backlog', () => {
    const behind = held({
      scannedThroughMs: 2 * dayMs,
      aheadThroughMs: 9 * dayMs,
      backlog: [{ beginMs: 2 * dayMs, endMs: 3 * dayMs }],
    });
    expect(resume(behind, 10 * dayMs, 7 * dayMs)).toMatchObject({ scannedThroughMs: 2 * dayMs, countedFromMs: dayMs });
  });

  it('never counts from before its first execution, if it began under a clock that was ahead', () => {
    const began = { countedFromMs: 9.5 * dayMs, scannedThroughMs: 2 * dayMs, rereadThroughMs: 2 * dayMs };
    expect(resume(held(began), 10 * dayMs, dayMs)).toEqual({ project: 'pay', ...began });
  });

  it('counts again from the time to which the clock was set back', () => {
    const ahead = held({
      hold: undefined,
      countedFromMs: 20 * dayMs,
      scannedThroughMs: 21 * dayMs,
      rereadThroughMs: 20 * dayMs,
      aheadThroughMs: 27 * dayMs,
      backlog: [{ beginMs: 21 * dayMs, endMs: 22 * dayMs }],
      prunedThroughMs: 2 * dayMs,
      skips: [{ beginMs: 9 * dayMs, endMs: 20 * dayMs - 1, reason: 'outage' }],
    });
    expect(rewind(ahead, 10 * dayMs)).toEqual({
      project: 'pay',
      hold: undefined,
      countedFromMs: 864_000_000,
      scannedThroughMs: 864_000_000,
      rereadThroughMs: 864_000_000,
      prunedThroughMs: 172_800_000,
      heldSinceMs: 172_800_000,
      skips: [{ beginMs: 777_600_000, endMs: 863_999_999, reason: 'outage' }],
    });
    expect(rewind({ ...ahead, prunedThroughMs: 12 * dayMs }, 10 * dayMs).countedFromMs).toBe(12 * dayMs);
  });

  it('starts counting earlier if a clock step was noticed late', () => {
    const ahead = { ...toNewProject('pay', 20 * dayMs), scannedThroughMs: 23 * dayMs };
    expect(rewindUnseen(ahead, 11 * dayMs)).toEqual({
      project: 'pay',
      countedFromMs: 8 * dayMs,
      scannedThroughMs: 10 * dayMs,
      rereadThroughMs: 10 * dayMs,
    });
    expect(rewindUnseen({ ...ahead, prunedThroughMs: 9 * dayMs }, 11 * dayMs).countedFromMs).toBe(9 * dayMs);
    const old = { ...toNewProject('pay', 2 * dayMs), scannedThroughMs: 11 * dayMs + 600_000 };
    // The clock may have been an hour ahead.
    expect(rewindUnseen(old, 11 * dayMs)).toMatchObject({
      countedFromMs: 2 * dayMs,
      scannedThroughMs: 11 * dayMs - 3_000_000,
    });
  });

  it('keeps its progress from before the clock was set back', () => {
    const state = { ...toNewProject('pay', dayMs), scannedThroughMs: 9 * dayMs };
    expect(rewind(state, 10 * dayMs)).toEqual(state);
  });
});

function held(fields: Partial<ProjectState>): ProjectState {
  return { ...toNewProject('pay', dayMs), hold: 'disabled', heldSinceMs: 2 * dayMs, ...fields };
}
