import { describe, expect, it } from 'vitest';
import { type ProjectState, toNewProject } from '../../src/executions/ledger/project-state.ts';
import { createActivities } from '../../src/executions/reading/activities.ts';
import type { PlannedRead } from '../../src/executions/reading/plan-reads.ts';
import { createReadNotes } from '../../src/executions/reading/read-notes.ts';
import { nothingRead, type ReadResult } from '../../src/executions/reading/take-in.ts';
import { createVisibility } from '../../src/executions/reading/visibility.ts';

const nowMs = 1_000_000_000;
const hourMs = 3_600_000;
const behind: ProjectState = { ...toNewProject('pay', 0), aheadThroughMs: nowMs, backlog: [{ beginMs: 0, endMs: 1 }] };

describe('executions/read-notes', () => {
  it('compares the last day again an hour later', () => {
    const scene = createScene();
    scene.read({}, 'wide');
    expect(scene.of()).toMatchObject({ nextDayMs: nowMs + hourMs, isDayLong: false });
    scene.note({ nextDayMs: nowMs });
    scene.read({ isCut: true }, 'wide');
    expect(scene.of()).toMatchObject({ nextDayMs: nowMs, isDayLong: true });
    scene.read({});
    expect(scene.of()).toMatchObject({ nextDayMs: nowMs, isDayLong: false });
  });

  it('reads a project in every round for a while after a counted run', () => {
    const scene = createScene();
    scene.read({ counted: 1 });
    expect(scene.of()).toMatchObject({ activeUntilMs: nowMs + 240_000 });
  });

  it('records since when a project shows no rows', () => {
    const scene = createScene();
    expect(scene.read({ isUnshown: true, total: 3 })).toBe(false);
    expect(scene.read({ isUnshown: true, total: 3 }, 'narrow', nowMs + 24 * hourMs)).toBe(false);
    expect(scene.read({ isUnshown: true, total: 3 }, 'narrow', nowMs + 24 * hourMs + 1)).toBe(true);
    expect(scene.of()).toMatchObject({ unshownSinceMs: nowMs });
    scene.read({ total: 1, shown: 1 });
    expect(scene.of()?.unshownSinceMs).toBeUndefined();
  });

  it('learns nothing about hidden executions from an empty window', () => {
    const scene = createScene();
    scene.past({ isUnshown: true, total: 3 });
    scene.read({}, 'narrow', nowMs + 15_000, behind);
    scene.past({ isUnshown: true, total: 3 }, nowMs + 15_000);
    expect(scene.of()).toMatchObject({ unshownSinceMs: nowMs });
    scene.read({ isInSight: true }, 'narrow', nowMs + 30_000, behind);
    expect(scene.of()?.unshownSinceMs).toBeUndefined();
  });
});

function createScene() {
  const activities = createActivities();
  const activityHint = { noteRead: () => undefined };
  const notes = createReadNotes({
    activities,
    visibility: createVisibility(() => 0),
    activityHint,
    settings: { overlapMs: 120_000 },
  });
  return {
    of: () => activities.all.get('pay'),
    note: (change: Parameters<typeof activities.note>[1]) => activities.note('pay', change, nowMs),
    read: (
      read: Partial<ReadResult>,
      how: 'wide' | 'narrow' = 'narrow',
      atMs = nowMs,
      after = toNewProject('pay', 0),
    ) => {
      const beginMs = atMs - (how === 'wide' ? 24 * hourMs : 120_000);
      const window = { beginMs, endMs: atMs };
      const planned: PlannedRead = { project: 'pay', window, sinceMs: atMs - 120_000, purpose: 'rotation' };
      return notes.noteNewest(planned, { ...nothingRead, ...read }, after, atMs);
    },
    past: (read: Partial<ReadResult>, atMs = nowMs) => notes.notePast('pay', { ...nothingRead, ...read }, atMs),
  };
}
