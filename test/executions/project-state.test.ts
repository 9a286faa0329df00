import { describe, expect, it } from 'vitest';
import { type ProjectState, resume, toNewProject } from '../../src/executions/project-state.ts';

describe('executions/project-state', () => {
  it('begins with nothing read before counting begins', () => {
    expect(toNewProject('pay', 5000)).toEqual({
      project: 'pay',
      countedFromMs: 5000,
      scannedThroughMs: 5000,
      rereadThroughMs: 5000,
    });
  });

  it('goes on where it was held', () => {
    expect(resume(held({ scannedThroughMs: 3 * dayMs }), 10 * dayMs, 7 * dayMs)).toEqual({
      project: 'pay',
      countedFromMs: dayMs,
      scannedThroughMs: 3 * dayMs,
      rereadThroughMs: dayMs,
    });
  });

  it('skips what is longer ago than the catch-up limit, and says what that is', () => {
    expect(resume(held({ scannedThroughMs: 2 * dayMs }), 10 * dayMs, 7 * dayMs)).toEqual({
      project: 'pay',
      countedFromMs: 259_200_000,
      scannedThroughMs: 259_200_000,
      rereadThroughMs: 259_200_000,
      skips: [{ beginMs: 172_800_000, endMs: 259_199_999, reason: 'disabled' }],
    });
  });

  it('begins now where configuration left it out', () => {
    expect(resume(held({ hold: 'excluded' }), 10 * dayMs, 7 * dayMs)).toEqual({
      project: 'pay',
      countedFromMs: 864_000_000,
      scannedThroughMs: 864_000_000,
      rereadThroughMs: 864_000_000,
    });
  });

  it('skips nothing of what it is still catching up with, however long that takes', () => {
    const behind = held({
      scannedThroughMs: 2 * dayMs,
      aheadThroughMs: 9 * dayMs,
      backlog: [{ beginMs: 2 * dayMs, endMs: 3 * dayMs }],
    });
    expect(resume(behind, 10 * dayMs, 7 * dayMs)).toMatchObject({ scannedThroughMs: 2 * dayMs, countedFromMs: dayMs });
  });
});

const dayMs = 86_400_000;

function held(fields: Partial<ProjectState>): ProjectState {
  return { ...toNewProject('pay', dayMs), hold: 'disabled', heldSinceMs: 2 * dayMs, ...fields };
}
