import type { ProjectActivity } from '../ledger/project-state.ts';

export type Activities = {
  readonly all: ReadonlyMap<string, ProjectActivity>;
  /** Changes what is remembered of a project; of one that is new, what is not said follows from its name. */
  readonly note: (project: string, change: Partial<ProjectActivity>, nowMs: number) => void;
  readonly forget: (project: string) => void;
  /** The server's clock was set back: nothing may wait for a time that was to come, or has been read at one. */
  readonly rewind: (nowMs: number) => void;
};

/** Remembers the activity of projects while the process lives. */
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
    rewind: (nowMs) => {
      for (const [project, activity] of all) {
        const { activeUntilMs, readAtMs, nextDayMs, unshownSinceMs } = activity;
        all.set(project, {
          ...activity,
          activeUntilMs: Math.min(activeUntilMs, nowMs),
          readAtMs: Math.min(readAtMs, nowMs),
          nextDayMs: Math.min(nextDayMs, nowMs + hourMs),
          unshownSinceMs: unshownSinceMs && Math.min(unshownSinceMs, nowMs),
        });
      }
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
