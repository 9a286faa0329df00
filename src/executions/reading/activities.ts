import type { ProjectActivity } from '../ledger/project-state.ts';

export function createActivities() {
  const all = new Map<string, ProjectActivity>();
  return {
    all,
    /** Changes the activity of a project. Fields that a new project does not set get defaults. */
    note: (project: string, change: Partial<ProjectActivity>, nowMs: number): void => {
      all.set(project, { ...(all.get(project) ?? toNewActivity(project, nowMs)), ...change });
    },
    forget: (project: string): void => {
      all.delete(project);
    },
    /** Call after the server clock was set back. Moves due times out of the future. */
    rewind: (nowMs: number): void => {
      const latestMs = Math.max(...[...all.values()].map(({ readAtMs }) => readAtMs));
      for (const [project, activity] of all) {
        const { activeUntilMs, readAtMs, nextDayMs, unshownSinceMs } = activity;
        all.set(project, {
          ...activity,
          activeUntilMs: Math.min(activeUntilMs, nowMs),
          // The order stays: the project that has waited longest is still the first.
          readAtMs: readAtMs > nowMs ? nowMs - (latestMs - readAtMs) : readAtMs,
          nextDayMs: Math.min(nextDayMs, nowMs + hourMs),
          unshownSinceMs: unshownSinceMs && Math.min(unshownSinceMs, nowMs),
        });
      }
    },
  };
}

export type Activities = ReturnType<typeof createActivities>;

function toNewActivity(project: string, nowMs: number): ProjectActivity {
  // Each project has its own minute of the hour, which does not change when the process restarts.
  const untilNextMs = (toOffsetMs(project) - nowMs) % hourMs;
  return {
    activeUntilMs: 0,
    readAtMs: 0,
    nextDayMs: nowMs + (untilNextMs < 0 ? untilNextMs + hourMs : untilNextMs),
    unshownSinceMs: undefined,
    isDayLong: false,
  };
}

/** Returns the offset of a project within the day, which spreads recounts over the day. */
export function toOffsetMs(project: string): number {
  let hash = 0;
  for (const character of project) hash = (hash * 31 + (character.codePointAt(0) ?? 0)) % 86_400;
  return hash * 1000;
}

const hourMs = 3_600_000;
