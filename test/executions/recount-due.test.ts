import { describe, expect, it } from 'vitest';
import { type ProjectState, toNewProject } from '../../src/executions/ledger/project-state.ts';
import { createActivities, toOffsetMs } from '../../src/executions/reading/activities.ts';
import { isActive, isDayDue, toDueMs, toMostLooks, toWeekDueMs } from '../../src/executions/recount/recount.ts';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const nowMs = 100 * dayMs;

describe('executions/recount-due', () => {
  it.each([
    { name: 'of a project that is read every round, once its time has come', day: {}, due: true },
    { name: 'not before its time has come', day: { nextDayMs: nowMs + 1 }, due: false },
    { name: 'not of an idle project, which the rotation reads', day: { activeUntilMs: nowMs }, due: false },
    {
      name: 'of an idle project whose day is too long for the rotation',
      day: { activeUntilMs: nowMs, isDayLong: true },
      due: true,
    },
  ])('compares the last day $name', ({ day, due }) => {
    const active = activity({ nextDayMs: nowMs, activeUntilMs: nowMs + 1, isDayLong: false, ...day });
    expect(isDayDue(active, nowMs)).toBe(due);
  });

  it('compares no day of an unknown project', () => {
    expect(isDayDue(undefined, nowMs)).toBe(false);
    expect(isActive(undefined, nowMs)).toBe(false);
  });

  it('compares the week a day after the last time, at once if that lies in the future, and a new project at its own time', () => {
    expect(toWeekDueMs(state({ comparedWeekAtMs: nowMs - hourMs }), nowMs)).toBe(nowMs + 23 * hourMs);
    expect(toWeekDueMs(state({ comparedWeekAtMs: nowMs }), nowMs)).toBe(nowMs + dayMs);
    expect(toWeekDueMs(state({ comparedWeekAtMs: nowMs + 1 }), nowMs)).toBe(nowMs);
    expect(toWeekDueMs(state({ countedFromMs: 5 }), nowMs)).toBe(5 + toOffsetMs('pay'));
  });

  it('is due for the day or the week, whichever is earlier, but for the day only while the project is active', () => {
    const compared = state({ comparedWeekAtMs: nowMs - 30 * hourMs });
    const day = { nextDayMs: nowMs - 9 * hourMs };
    expect(toDueMs(activity({ ...day, activeUntilMs: nowMs + 1 }), compared, nowMs)).toBe(nowMs - 9 * hourMs);
    expect(toDueMs(activity({ ...day, activeUntilMs: nowMs }), compared, nowMs)).toBe(nowMs - 6 * hourMs);
    expect(toDueMs(undefined, compared, nowMs)).toBe(nowMs - 6 * hourMs);
    expect(toDueMs(undefined, state({}), nowMs)).toBe(nowMs);
  });

  it.each([
    ['three for a few projects', 10, 0, 3],
    ['as many as an hour takes for many that are active', 2000, 1000, 15],
    ['no more than a quarter of the requests', 9000, 9000, 37],
  ])('compares %s', (_name, projects, active, looks) => {
    expect(toMostLooks({ everyMs: 15_000, requestsPerSecond: 10 }, projects, active)).toBe(looks);
  });
});

function activity(fields: { nextDayMs: number; activeUntilMs: number; isDayLong?: boolean }) {
  const activities = createActivities();
  activities.note('pay', fields, nowMs);
  return activities.all.get('pay');
}

function state(fields: Partial<ProjectState>): ProjectState {
  return { ...toNewProject('pay', 0), ...fields };
}
