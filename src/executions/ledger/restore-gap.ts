import { toGreatestId } from '../counting/id-hours.ts';
import type { Failures } from './failures.ts';
import type { LedgerCache } from './ledger-cache.ts';
import { type LedgerFacts, restored } from './ledger-documents.ts';
import type { ProjectState } from './project-state.ts';

/**
 * After a restore, executions since the backup are read before counters are published, so that no counter falls. Totals of a
 * project that cannot be read stay hidden, because they may be lower than before.
 */
export function createRestoreGap(cache: LedgerCache, failures?: Pick<Failures, 'follow' | 'markRestored'>) {
  function untilMs(): number | undefined {
    return cache.facts().gapUntilMs;
  }

  function isRead(state: ProjectState): boolean {
    return !isInRestoreGap(state, cache.facts());
  }

  failures?.follow((project) => {
    const state = cache.states.get(project);
    return state !== undefined && !isRead(state);
  });

  return {
    /** Call at the start, before any request. The restore gap must be stored before the process can end. */
    open: async (isRestored: boolean): Promise<void> => {
      if (!isRestored && !cache.isRestored) return;
      await cache.update(async () => ({
        facts: { ...cache.facts(), gapUntilMs: unknown },
        states: [...cache.states.values()].map((state) => rewind(state, toGreatestId(cache.idHours))),
        // Cells that are 0 in the backup may have been published with other values since the backup was made.
        cells: [...cache.totals.cells.values()].flatMap((cell) =>
          cell.isReleased ? [] : [{ ...cell, isReleased: true }],
        ),
        alongside: [...(failures?.markRestored() ?? []), { ...restored, body: undefined }],
      }));
    },
    begin: async (nowMs: number): Promise<void> => {
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
    /** Returns the server time up to which all executions must be read before totals are published; undefined after that. */
    untilMs,
    /** Returns the projects that have been read up to `untilMs`. Totals of other projects are not published. */
    readStates: (): ReadonlyMap<string, ProjectState> => {
      if (untilMs() === undefined) return cache.states;
      return new Map([...cache.states].filter(([, state]) => isRead(state)));
    },
  };
}

/** Reports whether executions since the backup are unread. Once the gap is read, a clock that is set back has no effect. */
export function isInRestoreGap(
  { scannedThroughMs, gapReadMs }: Pick<ProjectState, 'scannedThroughMs' | 'gapReadMs'>,
  { gapUntilMs }: LedgerFacts,
): boolean {
  return gapUntilMs !== undefined && scannedThroughMs < gapUntilMs && gapReadMs !== gapUntilMs;
}

/** The end of the gap before the first round, when the server time is unknown. */
const unknown = Number.MAX_SAFE_INTEGER;

/** A restore repeats the recounts of the last 23 hours before the backup. A span of less than a day is read as one window. */
const rewindMs = 23 * 3_600_000;

function rewind(state: ProjectState, knownId: number | undefined): ProjectState {
  const { aheadThroughMs: _ahead, backlog: _backlog, ...kept } = state;
  const { countedFromMs, scannedThroughMs, prunedThroughMs = Number.NEGATIVE_INFINITY } = kept;
  const wantedMs = Math.max(scannedThroughMs - rewindMs, prunedThroughMs);
  const earlier = kept.earlier ?? (knownId === undefined ? undefined : { untilMs: countedFromMs, throughId: knownId });
  // A run with a new id counts even with a date before the start of counting: the clock may have been set back.
  const beginMs = earlier === undefined ? Math.max(wantedMs, countedFromMs) : wantedMs;
  return {
    ...kept,
    ...(beginMs < countedFromMs ? { earlier, countedFromMs: beginMs } : {}),
    scannedThroughMs: Math.min(scannedThroughMs, beginMs),
  };
}
