import type { ProjectActivity } from './project-state.ts';

export type Activities = {
  readonly all: ReadonlyMap<string, ProjectActivity>;
  /** Changes what is remembered of a project; of one that is new, what is not said follows from its name. */
  readonly note: (project: string, change: Partial<ProjectActivity>, nowMs: number) => void;
  readonly forget: (project: string) => void;
};

/** What is remembered of the projects while the process lives. */
export function createActivities(): Activities {
  const all = new Map<string, ProjectActivity>();
  return {
    all,
    note: (project, change, nowMs) => {
      all.set(project, { ...(all.get(project) ?? toNewActivity(project, nowMs)), ...change });
    },
    forget: (project) => {
      all.delete(project);
    },
  };
}

/** Passes over the past are spread: each project has its own time for them. */
function toNewActivity(project: string, nowMs: number): ProjectActivity {
  let hash = 0;
  for (const character of project) hash = (hash * 31 + (character.codePointAt(0) ?? 0)) % 86_400;
  const offsetMs = hash * 1000;
  return {
    activeUntilMs: 0,
    readAtMs: 0,
    nextDayMs: nowMs + (offsetMs % 3_600_000),
    nextWeekMs: nowMs + offsetMs,
    unshownSinceMs: undefined,
    isDayLong: false,
  };
}
