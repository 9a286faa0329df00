import type { LedgerCache, LedgerFacts } from './ledger-cache.ts';
import type { ProjectState } from './project-state.ts';

export type RestoreGap = {
  /** Told at the start, before anything is asked: a process that ends at once has to know it the next time. */
  readonly open: (isRestored: boolean) => Promise<void>;
  /** Told of each round at its begin. */
  readonly begin: (nowMs: number) => Promise<void>;
  /** The server's time up to which all has to be read before it is shown; undefined once all of it has been. */
  readonly untilMs: () => number | undefined;
  /** The projects that have been read that far; what was counted of the others is not shown. */
  readonly readStates: () => ReadonlyMap<string, ProjectState>;
};

/**
 * After a copy was restored, what has ended since it was made is read again first: no counter must be seen to fall. A project that
 * cannot be read meanwhile is not shown, since nobody knows what had been counted of it: a series may be absent, never lower.
 */
export function createRestoreGap(cache: LedgerCache): RestoreGap {
  function untilMs(): number | undefined {
    return cache.facts().gapUntilMs;
  }

  function isRead(state: ProjectState): boolean {
    return !isInRestoreGap(state, cache.facts());
  }

  return {
    open: async (isRestored) => {
      if (!isRestored) return;
      await cache.update(async () => ({
        facts: { ...cache.facts(), gapUntilMs: unknown },
        states: [...cache.states.values()].map(rewind),
        // What was held at 0 when the copy was made may have been released since.
        cells: [...cache.totals.cells.values()].flatMap((cell) =>
          cell.isReleased ? [] : [{ ...cell, isReleased: true }],
        ),
      }));
    },
    begin: async (nowMs) => {
      const until = untilMs();
      if (until === undefined) return;
      if (until === unknown) {
        await cache.update(async () => ({ facts: { ...cache.facts(), gapUntilMs: nowMs } }));
        return;
      }
      const states = [...cache.states.values()];
      const reached = states.filter((state) => isRead(state) && state.gapReadMs !== until);
      const isOver = states.every(isRead);
      if (reached.length === 0 && !isOver) return;
      await cache.update(async () => ({
        ...(isOver ? { facts: { ...cache.facts(), gapUntilMs: undefined } } : {}),
        states: reached.flatMap(({ project }) => {
          const latest = cache.states.get(project);
          return latest === undefined ? [] : [{ ...latest, gapReadMs: until }];
        }),
      }));
    },
    untilMs,
    readStates: () => {
      if (untilMs() === undefined) return cache.states;
      return new Map([...cache.states].filter(([, state]) => isRead(state)));
    },
  };
}

/** Whether what has ended since the copy was made is still to be read; once it was, a clock that is set back changes nothing of that. */
export function isInRestoreGap(
  { scannedThroughMs, gapReadMs }: Pick<ProjectState, 'scannedThroughMs' | 'gapReadMs'>,
  { gapUntilMs }: LedgerFacts,
): boolean {
  return gapUntilMs !== undefined && scannedThroughMs < gapUntilMs && gapReadMs !== gapUntilMs;
}

/** Until the first round knows the server's time. */
const unknown = Number.MAX_SAFE_INTEGER;

/** What a second look had found after the copy was made is found again at once. Less than a day, which one read can bring. */
const rewindMs = 23 * 3_600_000;

function rewind(state: ProjectState): ProjectState {
  const { aheadThroughMs: _ahead, backlog: _backlog, ...kept } = state;
  const { countedFromMs, scannedThroughMs } = kept;
  return {
    ...kept,
    scannedThroughMs: Math.min(scannedThroughMs, Math.max(countedFromMs, scannedThroughMs - rewindMs)),
  };
}
