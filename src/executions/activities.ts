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

function toNewActivity(project: string, nowMs: number): ProjectActivity {
  // The same minute of each hour, however often the process starts.
  const untilNextMs = (toOffsetMs(project) - nowMs) % hourMs;
  return {
    activeUntilMs: 0,
    readAtMs: 0,
    nextDayMs: nowMs + (untilNextMs < 0 ? untilNextMs + hourMs : untilNextMs),
    unshownSinceMs: undefined,
    isDayLong: false,
  };
}

/** Passes over the past are spread: each project has its own time of the day for them. */
export function toOffsetMs(project: string): number {
  let hash = 0;
  for (const character of project) hash = (hash * 31 + (character.codePointAt(0) ?? 0)) % 86_400;
  return hash * 1000;
}

const hourMs = 3_600_000;
