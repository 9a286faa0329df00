import { describe, expect, it } from 'vitest';
import { type ProjectActivity, type ProjectState, toNewProject } from '../../src/executions/ledger/project-state.ts';
import {
  isCaughtUpWith,
  type PlanInput,
  type PlannedRead,
  planReads,
  planSearch,
} from '../../src/executions/reading/plan-reads.ts';

describe('executions/plan-reads', () => {
  it('reads an active project in every round', () => {
    expect(plan({ states: [scanned('pay', -15_000)], activities: { pay: active } })).toEqual(['live pay -135 s … 0 s']);
  });

  it('reads first the active projects that earlier rounds did not reach', () => {
    const states = [scanned('pay', -15_000), scanned('stock', -75_000)];
    const activities = { pay: active, stock: active };
    expect(plan({ states, activities })).toEqual(['live stock -195 s … 0 s', 'live pay -135 s … 0 s']);
  });

  it('reads idle projects in turn', () => {
    const states = Array.from({ length: 120 }, (_, index) => scanned(`p${index}`, -index * 1000));
    // Two of 120 projects in each round of 15 s are 120 projects in 15 minutes.
    expect(plan({ states })).toEqual(['rotation p119 -239 s … 0 s', 'rotation p118 -238 s … 0 s']);
  });

  it('reads the last day of an idle project once an hour', () => {
    const activities = { pay: { ...idle, nextDayMs: nowMs } };
    expect(plan({ states: [scanned('pay', -600_000)], activities })).toEqual(['rotation pay -86400 s … 0 s']);
  });

  it('never reads before counting began', () => {
    const state = { ...scanned('pay', -15_000), countedFromMs: nowMs - 60_000 };
    expect(plan({ states: [state], activities: { pay: active } })).toEqual(['live pay -60 s … 0 s']);
  });

  it('reads again from the present time after the clock was set back', () => {
    expect(plan({ states: [scanned('pay', 600_000)], activities: { pay: active } })).toEqual(['live pay -120 s … 0 s']);
  });

  it('reads executions from before a span that the clock skipped', () => {
    const leap = { beginMs: nowMs - 700_000, endMs: nowMs - 100_000 };
    const activities = { pay: active };
    expect(plan({ states: [scanned('pay', -15_000)], activities, leap })).toEqual(['live pay -735 s … 0 s']);
    expect(plan({ states: [scanned('pay', -710_000)], activities, leap })).toEqual(['live pay -830 s … 0 s']);
    const before = { beginMs: nowMs - 900_000, endMs: nowMs - 300_000 };
    expect(plan({ states: [scanned('pay', -15_000)], activities, leap: before })).toEqual(['live pay -135 s … 0 s']);
  });

  it('plans a read of at most a day', () => {
    const states = [scanned('pay', -3 * dayMs), scanned('stock', -15_000)];
    expect(plan({ states, activities: { pay: active, stock: active } })).toEqual([
      'live pay -86400 s … 0 s since -259320 s',
      'live stock -135 s … 0 s',
    ]);
  });

  it('continues from its progress, with or without a backlog', () => {
    const behind = { ...scanned('pay', -3 * dayMs), ...backlogUntil(-2 * dayMs), aheadThroughMs: nowMs - 15_000 };
    expect(plan({ states: [behind], activities: { pay: active } })).toEqual(['live pay -135 s … 0 s']);
    const wide = { pay: { ...idle, nextDayMs: nowMs } };
    expect(plan({ states: [behind], activities: wide })).toEqual(['rotation pay -135 s … 0 s']);
  });

  it('reads backlogs only of readable projects', () => {
    const behind = { ...scanned('pay', -3 * dayMs), ...backlogUntil(-2 * dayMs), aheadThroughMs: nowMs };
    const activities = new Map([['pay', active]]);
    expect(isCaughtUpWith(behind, { activities, nowMs })).toBe(true);
    expect(isCaughtUpWith(scanned('pay', -3 * dayMs), { activities, nowMs })).toBe(false);
    expect(isCaughtUpWith({ ...behind, hold: 'disabled' }, { activities, nowMs })).toBe(false);
    const unshown = new Map([['pay', { ...active, unshownSinceMs: nowMs - 600_001 }]]);
    expect(isCaughtUpWith(behind, { activities: unshown, nowMs })).toBe(false);
  });

  it('reads a project on hold in turn', () => {
    const states: ProjectState[] = [
      { ...scanned('pay', -60_000), hold: 'disabled', heldSinceMs: nowMs - 90_000 },
      { ...scanned('gone', -90_000), hold: 'excluded' },
    ];
    expect(plan({ states, activities: { pay: active, gone: active } })).toEqual(['probe pay -180 s … 0 s']);
  });

  it('immediately reads a project that is missing in the list', () => {
    const gone: ProjectState = { ...scanned('gone', -60_000), hold: 'hidden', heldSinceMs: nowMs };
    const states = [gone, scanned('stock', -90_000)];
    expect(plan({ states })).toEqual(['probe gone -180 s … 0 s', 'rotation stock -210 s … 0 s']);
    const activities = { gone: { ...idle, readAtMs: nowMs } };
    expect(plan({ states, activities })).toEqual(['rotation stock -210 s … 0 s']);
  });

  it('doubles the pause between reads of a project on hold, up to five minutes', () => {
    const askedAgo = (heldMs: number, readMs: number): string[] => {
      const state: ProjectState = { ...scanned('pay', -60_000), hold: 'disabled', heldSinceMs: nowMs - heldMs };
      return plan({ states: [state], activities: { pay: { ...idle, readAtMs: nowMs - readMs } } });
    };
    expect(askedAgo(100_000, 49_000)).toEqual([]);
    expect(askedAgo(100_000, 50_000)).toHaveLength(1);
    expect(askedAgo(86_400_000, 299_000)).toEqual([]);
    expect(askedAgo(86_400_000, 300_000)).toHaveLength(1);
  });

  it('reads a project with hidden rows only in turn', () => {
    const states = [scanned('pay', -900_000), scanned('stock', -1_000_000)];
    const pay = { ...active, unshownSinceMs: nowMs - 600_001, readAtMs: nowMs - 1000 };
    const stock = { ...idle, readAtMs: nowMs - 2000 };
    expect(plan({ states, activities: { pay, stock } })).toEqual(['rotation stock -1120 s … 0 s']);
    expect(plan({ states: [scanned('pay', -900_000)], activities: { pay } })).toEqual(['probe pay -1020 s … 0 s']);
    const lately = { ...pay, unshownSinceMs: nowMs - 600_000 };
    expect(plan({ states, activities: { pay: lately, stock } })).toContain('live pay -1020 s … 0 s');
  });

  it('reads idle projects immediately after the maximum delay', () => {
    const late = Array.from({ length: 10 }, (_, index) => scanned(`late${index}`, -900_001));
    const states = [...late, ...Array.from({ length: 110 }, (_, index) => scanned(`p${index}`, -60_000))];
    expect(plan({ states, sweepQuota: 40 })).toHaveLength(10);
    expect(plan({ states, sweepQuota: 6 })).toHaveLength(6);
    expect(plan({ states, sweepQuota: 0 })).toHaveLength(2);
  });

  it('reads idle projects as fast as possible after a restore', () => {
    const states = Array.from({ length: 100 }, (_, index) => scanned(`p${index}`, -index * 1000));
    const reads = plan({ states, sweepBeforeMs: nowMs - 20_000, sweepQuota: 40 });
    expect(reads).toHaveLength(40);
    expect(plan({ states, sweepBeforeMs: nowMs - 90_000, sweepQuota: 40 })).toHaveLength(9);
  });

  it('searches first in projects whose next run is due', () => {
    const ran = (...agoMs: number[]) => ({ ...idle, lastRunsMs: agoMs.map((ms) => nowMs - ms) });
    const activities = {
      never: idle,
      lately: ran(300_000),
      hourly: ran(3_610_000, 7_210_000),
      daily: ran(43_200_000, 129_600_000),
      read: { ...ran(1000), readAtMs: nowMs },
    };
    const states = [...Object.keys(activities), 'held'].map((project): ProjectState => scanned(project, -60_000));
    const input = toInput({
      states: states.map((state) => (state.project === 'held' ? { ...state, hold: 'hidden' } : state)),
      activities,
    });
    expect(planSearch({ ...input, searchQuota: 9 }, nowMs).map(toText)).toEqual([
      'search hourly -180 s … 0 s',
      'search lately -180 s … 0 s',
      'search daily -180 s … 0 s',
      'search never -180 s … 0 s',
    ]);
    expect(planSearch({ ...input, searchQuota: 1 }, nowMs).map(toText)).toEqual(['search hourly -180 s … 0 s']);
  });
});

const nowMs = 1_000_000_000;
const dayMs = 86_400_000;
const idle: ProjectActivity = {
  activeUntilMs: 0,
  readAtMs: nowMs - 60_000,
  nextDayMs: nowMs + 3_600_000,
  unshownSinceMs: undefined,
  isDayLong: false,
};
const active: ProjectActivity = { ...idle, activeUntilMs: nowMs + 1 };

function scanned(project: string, sinceMs: number): ProjectState {
  return { ...toNewProject(project, 0), scannedThroughMs: nowMs + sinceMs };
}

type Given = {
  readonly states: readonly ProjectState[];
  readonly activities?: Readonly<Record<string, ProjectActivity>>;
} & Partial<Pick<PlanInput, 'sweepBeforeMs' | 'sweepQuota' | 'leap'>>;

function plan(given: Given): string[] {
  return planReads(toInput(given)).map(toText);
}

function toInput({ states, activities = {}, sweepBeforeMs, sweepQuota = 0, leap }: Given): PlanInput {
  return {
    states: new Map(states.map((state) => [state.project, state])),
    activities: new Map(Object.entries(activities)),
    nowMs,
    everyMs: 15_000,
    overlapMs: 120_000,
    leap,
    maxDelayMs: 900_000,
    sweepBeforeMs,
    sweepQuota,
    searchQuota: 0,
  };
}

function toText({ project, purpose, sinceMs, window: { beginMs, endMs } }: PlannedRead): string {
  const since = sinceMs < beginMs ? ` since ${(sinceMs - nowMs) / 1000} s` : '';
  return `${purpose} ${project} ${(beginMs - nowMs) / 1000} s … ${(endMs - nowMs) / 1000} s${since}`;
}

function backlogUntil(untilMs: number): Pick<ProjectState, 'backlog'> {
  return { backlog: [{ beginMs: nowMs - 3 * dayMs, endMs: nowMs + untilMs }] };
}
