import { toGreatestId } from '../counting/id-hours.ts';
import type { LedgerCache } from './ledger-cache.ts';
import type { LedgerFacts } from './ledger-documents.ts';
import type { ProjectState } from './project-state.ts';

export type RestoreGap = {
  /** Called at the start, before any request: the next process has to know it even if this one ends at once. */
  readonly open: (isRestored: boolean) => Promise<void>;
  /** Called at the beginning of each round. */
  readonly begin: (nowMs: number) => Promise<void>;
  /** The server's time up to which all has to be read before it is shown; undefined once all of it has been. */
  readonly untilMs: () => number | undefined;
  /** The projects that have been read that far; what was counted of the others is not shown. */
  readonly readStates: () => ReadonlyMap<string, ProjectState>;
};

/**
 * Reads again the ends since a restored copy was made, before counters are shown: none may be seen to fall. A project that
 * cannot be read meanwhile is not shown, because its earlier counts are unknown: a series may be absent, never lower.
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
        states: [...cache.states.values()].map((state) => rewind(state, toGreatestId(cache.idHours))),
        // Cells that the copy holds at 0 may have been released since.
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

/**
 * Reports whether what has ended since the copy was made is still to be read; once it was, a clock that is set back changes
 * nothing of that.
 */
export function isInRestoreGap(
  { scannedThroughMs, gapReadMs }: Pick<ProjectState, 'scannedThroughMs' | 'gapReadMs'>,
  { gapUntilMs }: LedgerFacts,
): boolean {
  return gapUntilMs !== undefined && scannedThroughMs < gapUntilMs && gapReadMs !== gapUntilMs;
}

/** Until the first round knows the server's time. */
const unknown = Number.MAX_SAFE_INTEGER;

/** A recount's findings since the copy are found again at once. Shorter than a day, which one read can cover. */
const rewindMs = 23 * 3_600_000;

function rewind(state: ProjectState, knownId: number | undefined): ProjectState {
  const { aheadThroughMs: _ahead, backlog: _backlog, ...kept } = state;
  const { countedFromMs, scannedThroughMs, prunedThroughMs = Number.NEGATIVE_INFINITY } = kept;
  const wantedMs = Math.max(scannedThroughMs - rewindMs, prunedThroughMs);
  const earlier = kept.earlier ?? (knownId === undefined ? undefined : { untilMs: countedFromMs, throughId: knownId });
  // What has a new id is new, although a clock that was set back may have dated it before counting began.
  const beginMs = earlier === undefined ? Math.max(wantedMs, countedFromMs) : wantedMs;
  return {
    ...kept,
    ...(beginMs < countedFromMs ? { earlier, countedFromMs: beginMs } : {}),
    scannedThroughMs: Math.min(scannedThroughMs, beginMs),
  };
}
