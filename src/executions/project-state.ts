/** Why a project is not read; nothing of it counts as read meanwhile. */
export const holds = ['disabled', 'hidden', 'missing', 'excluded'] as const;
export type Hold = (typeof holds)[number];

/** How far a project has been read; kept. Times are the server's. */
export type ProjectState = {
  readonly project: string;
  /** What ended before is not counted. */
  readonly countedFromMs: number;
  /** Every end up to here has been read. */
  readonly scannedThroughMs: number;
  /** Hours that were read a second time, a day later, end here. */
  readonly rereadThroughMs: number;
  readonly hold?: Hold | undefined;
  readonly heldSinceMs?: number | undefined;
  /** The end of the gap after a restored copy that it was read through. */
  readonly gapReadMs?: number | undefined;
};

/** What is remembered of a project while the process lives. */
export type ProjectActivity = {
  /** Read every round until then. */
  readonly activeUntilMs: number;
  readonly readAtMs: number;
  /** When the totals of the last day, and of the last week, are to be compared next. */
  readonly nextDayMs: number;
  readonly nextWeekMs: number;
  /** Since when not one of them is shown; then nothing of them counts as read. */
  readonly unshownSinceMs: number | undefined;
};

/** A project that is seen for the first time. */
export function toNewProject(project: string, countedFromMs: number): ProjectState {
  return { project, countedFromMs, scannedThroughMs: countedFromMs, rereadThroughMs: countedFromMs };
}

/** Back from a hold: what is longer ago than the limit is skipped. */
export function resume(
  state: ProjectState,
  nowMs: number,
  catchUpLimitMs: number,
): {
  readonly state: ProjectState;
  readonly skipped: { readonly beginMs: number; readonly endMs: number } | undefined;
} {
  const { hold, heldSinceMs: _since, ...rest } = state;
  if (hold === 'excluded') return { state: { ...toNewProject(state.project, nowMs) }, skipped: undefined };
  const limitMs = nowMs - catchUpLimitMs;
  if (rest.scannedThroughMs >= limitMs) return { state: rest, skipped: undefined };
  return {
    state: { ...toNewProject(state.project, limitMs) },
    skipped: { beginMs: rest.scannedThroughMs, endMs: limitMs - 1 },
  };
}
