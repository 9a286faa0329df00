import type { ProjectState } from '../ledger/project-state.ts';
import type { ExecutionSettings } from '../settings.ts';
import type { Activities } from './activities.ts';
import type { ActivityHint } from './activity-hint.ts';
import type { PlannedRead } from './plan-reads.ts';
import type { ReadResult } from './take-in.ts';
import type { Visibility } from './visibility.ts';

type NotesOptions = {
  readonly activities: Activities;
  readonly visibility: Visibility;
  readonly activityHint: Pick<ActivityHint, 'noteRead'>;
  readonly settings: Pick<ExecutionSettings, 'overlapMs'>;
};

export function createReadNotes({ activities, visibility, activityHint, settings }: NotesOptions) {
  return {
    /** Records a read up to now. Returns true if the project must be put on hold as hidden, because no row was shown for a day. */
    noteNewest: (planned: PlannedRead, read: ReadResult, after: ProjectState | undefined, nowMs: number): boolean => {
      const { project, sinceMs, window, purpose } = planned;
      const { counted, isUnshown, isCut } = read;
      visibility.noteRead(project, read);
      // An empty read proves nothing while pages are left.
      const isOpen = read.total === 0 && !read.isInSight && after?.backlog !== undefined;
      const unshownBefore = isUnshown || isOpen ? activities.all.get(project)?.unshownSinceMs : undefined;
      const unshownSinceMs = isUnshown ? (unshownBefore ?? nowMs) : unshownBefore;
      const nextDay = window.beginMs < sinceMs && !isCut ? { nextDayMs: nowMs + hourMs } : {};
      activities.note(project, { unshownSinceMs, isDayLong: isCut, ...nextDay }, nowMs);
      if (counted > 0) {
        const lastRunsMs = [nowMs, ...(activities.all.get(project)?.lastRunsMs ?? [])].slice(0, 2);
        activities.note(project, { activeUntilMs: nowMs + toActiveMs(settings), lastRunsMs }, nowMs);
      }
      if (purpose === 'search') activityHint.noteRead(counted);
      return unshownSinceMs !== undefined && nowMs - unshownSinceMs > dayMs;
    },
    notePast: (project: string, { isUnshown }: ReadResult, nowMs: number): void => {
      const unshownSinceMs = isUnshown ? (activities.all.get(project)?.unshownSinceMs ?? nowMs) : undefined;
      activities.note(project, { unshownSinceMs }, nowMs);
    },
  };
}

/** Returns how long a project is read in every round after a run. */
export function toActiveMs({ overlapMs }: Pick<ExecutionSettings, 'overlapMs'>): number {
  return 2 * overlapMs;
}

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
