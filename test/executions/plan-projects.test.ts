import { describe, expect, it } from 'vitest';
import { type ProjectState, toNewProject } from '../../src/executions/ledger/project-state.ts';
import { planExcluded, planProjects } from '../../src/executions/reading/plan-projects.ts';

describe('executions/plan-projects', () => {
  it('starts counting at the time of the first list, or earlier with a backfill', () => {
    expect(list({ names: ['pay'], nowMs: 9000, backfillMs: 2000 })).toEqual({
      facts: { epoch: 1, epochStartedAtMs: 0, countedSinceMs: 7000, listedAtMs: 9000 },
      states: [{ project: 'pay', countedFromMs: 7000, scannedThroughMs: 7000, rereadThroughMs: 7000 }],
    });
  });

  it('starts counting at a configured time, but not later than now', () => {
    expect(list({ names: ['pay'], nowMs: 9000, countFromMs: 5000 }).facts?.countedSinceMs).toBe(5000);
    expect(list({ names: ['pay'], nowMs: 9000, countFromMs: 9999 }).facts?.countedSinceMs).toBe(9000);
    expect(list({ names: ['pay'], nowMs: 9000, countFromMs: 5000, listedAtMs: 8000 }).facts).not.toHaveProperty(
      'countedSinceMs',
    );
  });

  it('starts counting a new project at the last list without it', () => {
    const { states } = list({ names: ['pay', 'new'], known: [toNewProject('pay', 0)], listedAtMs: 8000, nowMs: 9000 });
    expect(states).toEqual([{ project: 'new', countedFromMs: 8000, scannedThroughMs: 8000, rereadThroughMs: 8000 }]);
  });

  it('dates a list with the time of its request', () => {
    expect(list({ names: [], nowMs: 9000, readAtMs: 7500 }).facts?.listedAtMs).toBe(7500);
  });

  it('starts counting a new project now after the clock was set back', () => {
    const { states } = list({ names: ['new'], listedAtMs: 8000, nowMs: 5000 });
    expect(states).toEqual([{ project: 'new', countedFromMs: 5000, scannedThroughMs: 5000, rereadThroughMs: 5000 }]);
  });

  it('starts counting earlier if a fast clock dated the list of projects', () => {
    const { states } = list({ names: ['pay'], listedAtMs: 8000, skewMs: 500 });
    expect(states?.[0]?.countedFromMs).toBe(7500);
  });

  it('puts a missing project on hold and keeps its progress', () => {
    const known: ProjectState[] = [
      toNewProject('pay', 0),
      { ...toNewProject('stock', 0), hold: 'disabled', heldSinceMs: 10 },
    ];
    expect(list({ names: [], known, nowMs: 9000 }).states).toEqual([
      { project: 'pay', countedFromMs: 0, scannedThroughMs: 0, rereadThroughMs: 0, hold: 'hidden', heldSinceMs: 9000 },
    ]);
  });

  it('continues a missing project in the project that replaces it', () => {
    const known = [toNewProject('pay', 1000), toNewProject('old', 1000)].map((state) => ({
      ...state,
      scannedThroughMs: 6000,
    }));
    const begin = (names: readonly string[], changed: Partial<ProjectState> = {}, unwanted = ''): number | undefined =>
      list({
        names,
        isWanted: (project) => project !== unwanted,
        known: known.map((state) => (state.project === 'old' ? { ...state, ...changed } : state)),
        listedAtMs: 8000,
        overlapMs: 500,
      }).states?.find(({ project }) => project === 'new')?.countedFromMs;
    expect(begin(['pay', 'new'])).toBe(5500);
    expect(begin(['pay', 'new'], { countedFromMs: 5800 })).toBe(5800);
    expect(begin(['pay', 'new'], { scannedThroughMs: 8900 })).toBe(8000);
    const behind = { scannedThroughMs: 6000, aheadThroughMs: 8900 };
    expect(begin(['pay', 'new'], { ...behind, backlog: [{ beginMs: 4000, endMs: 4999 }] })).toBe(3500);
    expect(begin(['pay', 'new'], { ...behind, backlog: [{ beginMs: 5000, endMs: 5999 }], againFromMs: 3000 })).toBe(
      2500,
    );
    expect(begin(['pay', 'new'], { hold: 'missing', heldSinceMs: 8000 })).toBe(5500);
    expect(begin(['pay', 'new'], { hold: 'hidden', heldSinceMs: 7999 })).toBe(8000);
    expect(begin(['pay', 'new', 'old'])).toBe(8000);
    expect(begin(['pay', 'new'], {}, 'old')).toBe(8000);
  });

  it('resumes a missing project only after a successful read', () => {
    const known: ProjectState[] = [{ ...toNewProject('pay', 0), hold: 'hidden', heldSinceMs: 10 }];
    expect(list({ names: ['pay'], known }).states).toEqual([]);
  });

  it('resumes counting a project that is no longer excluded', () => {
    const isWanted = (project: string): boolean => project !== 'pay';
    const facts = { epoch: 1, epochStartedAtMs: 0 };
    const plan = (known: readonly ProjectState[], now = {}): readonly ProjectState[] | undefined => {
      const states = new Map(known.map((state) => [state.project, state]));
      return planExcluded({ states, facts, nowMs: 9000, begunMs: 8500, isWanted, ...now })?.states;
    };
    const pay = toNewProject('pay', 0);
    const excluded: ProjectState = { ...pay, hold: 'excluded', heldSinceMs: 9000 };
    expect(plan([pay, toNewProject('stock', 0)])).toEqual([excluded]);
    expect(plan([excluded])).toBeUndefined();
    expect(list({ names: [], known: [excluded], nowMs: 9500, isWanted }).states).toEqual([]);
    expect(plan([excluded], { isWanted: () => true })).toEqual([toNewProject('pay', 8500)]);
    // After a restore, executions after the copy are read first.
    expect(plan([pay], { facts: { ...facts, gapUntilMs: 1 } })).toBeUndefined();
  });
});

type Given = {
  readonly names: readonly string[];
  readonly known?: readonly ProjectState[];
  readonly listedAtMs?: number;
  readonly nowMs?: number;
  readonly readAtMs?: number;
  readonly begunMs?: number;
  readonly backfillMs?: number;
  readonly countFromMs?: number;
  readonly isWanted?: (project: string) => boolean;
  readonly overlapMs?: number;
  readonly skewMs?: number;
};

function list({
  names,
  known = [],
  listedAtMs,
  nowMs = 9000,
  readAtMs = nowMs,
  begunMs = nowMs,
  backfillMs = 0,
  countFromMs,
  isWanted = () => true,
  overlapMs = 0,
  skewMs = 0,
}: Given) {
  return planProjects({
    names: new Set(names),
    states: new Map(known.map((state) => [state.project, state])),
    facts: { epoch: 1, epochStartedAtMs: 0, listedAtMs },
    nowMs,
    listedAtMs: readAtMs,
    begunMs,
    backfillMs,
    countFromMs,
    isWanted,
    overlapMs,
    skewMs,
  });
}
