import { describe, expect, it } from 'vitest';
import { type Hold, type ProjectState, toNewProject } from '../../src/executions/ledger/project-state.ts';
import { createActivities } from '../../src/executions/reading/activities.ts';
import { toLagSeconds, toNote } from '../../src/executions/series/show.ts';

const nowMs = 1_000_000_000;

function scanned(project: string, agoSeconds: number, hold?: Hold): ProjectState {
  return { ...toNewProject(project, 0), scannedThroughMs: nowMs - agoSeconds * 1000, ...(hold && { hold }) };
}

function toCache(...states: readonly ProjectState[]) {
  return { states: new Map(states.map((state) => [state.project, state])) };
}

/** Activities without shown projects. */
function unshown(...projects: readonly string[]) {
  const activities = createActivities();
  for (const project of projects) activities.note(project, { unshownSinceMs: nowMs }, nowMs);
  return activities;
}

describe('executions/lag', () => {
  it('equals the lag of the project that was read longest ago', () => {
    expect(toLagSeconds(toCache(scanned('pay', 15), scanned('stock', 90.5)), unshown(), nowMs)).toBe(90.5);
    expect(toLagSeconds(toCache(), unshown(), nowMs)).toBe(0);
    expect(toLagSeconds(toCache(scanned('pay', -600)), unshown(), nowMs)).toBe(0);
  });

  it('includes the time of the backlog', () => {
    const behind = { ...scanned('pay', 9000), aheadThroughMs: nowMs, backlog: [{ beginMs: 0, endMs: 1000 }] };
    expect(toLagSeconds(toCache(behind), unshown(), nowMs)).toBe(9000);
  });

  it('omits projects that cannot be read', () => {
    const cache = toCache(scanned('pay', 15), scanned('off', 9000, 'disabled'), scanned('dark', 900));
    expect(toLagSeconds(cache, unshown('dark'), nowMs)).toBe(15);
    expect(toLagSeconds(cache, unshown(), nowMs)).toBe(900);
  });

  it('describes what a round did not complete, or returns undefined', () => {
    const behind = { backlog: [{ beginMs: 0, endMs: 1000 }] };
    const cache = toCache(
      { ...scanned('pay', 15), ...behind },
      { ...scanned('stock', 15), ...behind },
      { ...scanned('off', 15, 'disabled'), ...behind },
      scanned('ship', 15),
    );
    expect(toNote(cache, unshown(), 0)).toBe('2 projects still catching up');
    expect(toNote(cache, unshown('stock'), 7)).toBe(
      '7 reads waited for the request budget; 1 project still catching up',
    );
    expect(toNote(toCache(scanned('pay', 15)), unshown(), 1)).toBe('1 read waited for the request budget');
    expect(toNote(toCache(scanned('pay', 15)), unshown(), 0)).toBeUndefined();
  });
});
