import type { Window } from '../../api/paging.ts';
import { stepMs } from '../../domain/time.ts';
import type { ServerTime } from '../reading/server-clock.ts';
import type { LedgerCache } from './ledger-cache.ts';
import type { LedgerChange, LedgerFacts } from './ledger-documents.ts';
import { type ProjectState, readThroughMs, rewind, rewindAbsent, rewindUnseen } from './project-state.ts';
import { isInRestoreGap } from './restore-gap.ts';

type BothTimes = ServerTime & { readonly ownMs: number };

/**
 * Returns a function that rewinds the ledger after the server clock was set back. The function returns the time that the clock
 * had reached, or undefined.
 */
export function createRewind(cache: LedgerCache): (time: BothTimes) => Promise<number | undefined> {
  /**
   * The target of a rewind that is not stored yet. The target is kept because a step is reported only once, and storing fails
   * if the disk is full.
   */
  let owedToMs: number | undefined;
  /** By how much the clock was set back while the exporter was not running; 0 once the rewind is stored. */
  let backMs: number | undefined;
  return async (time) => {
    let reachedMs = time.rewindToMs === undefined ? undefined : time.reachedMs;
    owedToMs = toEarliest(owedToMs, time.rewindToMs);
    const rewindToMs = owedToMs;
    backMs ??= toStepBackMs(cache.facts(), time);
    const absentMs = backMs;
    await cache.update(async () => {
      const change = planRewind(cache.states, cache.facts(), { ...time, rewindToMs, backMs: absentMs });
      const rewound = (change?.states ?? []).flatMap(({ project }) => cache.states.get(project) ?? []);
      if (rewound.length > 0) reachedMs = Math.max(reachedMs ?? time.nowMs, ...rewound.map(readThroughMs));
      return change;
    });
    owedToMs = undefined;
    backMs = 0;
    return reachedMs;
  };
}

function toEarliest(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined || other === undefined ? (one ?? other) : Math.min(one, other);
}

/**
 * Returns by how much the server clock was set back while the exporter was not running; 0 if it was not. Compares the clock's
 * present and stored difference to the exporter's clock.
 */
function toStepBackMs({ skewMs }: LedgerFacts, { nowMs, ownMs }: BothTimes): number {
  const backMs = skewMs === undefined ? 0 : skewMs - Math.floor(nowMs - ownMs);
  return backMs > stepMs ? Math.min(backMs, maxMs) : 0;
}

/**
 * Plans the change after the server clock was set back, now or while the exporter was not running. Times in the future no
 * longer count as read, listed or skipped. Returns undefined if the ledger has no time in the future.
 */
function planRewind(
  states: ReadonlyMap<string, ProjectState>,
  facts: LedgerFacts,
  { nowMs, rewindToMs, backMs }: Pick<ServerTime, 'nowMs' | 'rewindToMs'> & { readonly backMs: number },
): LedgerChange | undefined {
  const all = [...states.values()];
  const firstMs = Math.min(...all.map(({ countedFromMs }) => countedFromMs));
  const { listedAtMs = nowMs, gapUntilMs = unknown } = facts;
  const isListAhead = listedAtMs > nowMs;
  const isGapAhead = gapUntilMs !== unknown && gapUntilMs > nowMs + stepMs;
  const changed = all.flatMap((state) => {
    const isNew = state.countedFromMs > firstMs;
    const isAhead = state.countedFromMs > nowMs || readThroughMs(state) > nowMs + stepMs;
    const isStill = rewindToMs === undefined && backMs === 0 && !isAhead && !isGapAhead;
    if (isStill) return [];
    const unseen = isAhead ? rewindUnseen(state, nowMs) : state;
    const told = rewindToMs === undefined ? unseen : rewind(state, rewindToMs, isNew);
    const isCertain = isAhead || isNew;
    const rewound = backMs === 0 ? told : rewindAbsent(told, { toMs: readThroughMs(state) - backMs, isCertain });
    return [isReadOfGap(state, facts) ? { ...rewound, gapReadMs: isGapAhead ? nowMs : gapUntilMs } : rewound];
  });
  if (changed.length === 0 && !isListAhead && !isGapAhead) return undefined;
  return {
    states: changed,
    facts: {
      ...facts,
      ...(facts.listedAtMs === undefined
        ? {}
        : { listedAtMs: Math.min(listedAtMs, rewindToMs ?? nowMs, listedAtMs - backMs) }),
      ...(isGapAhead ? { gapUntilMs: nowMs } : {}),
    },
  };
}

/** Reports whether the restore gap has been read; a rewind does not change that. */
function isReadOfGap(state: ProjectState, facts: LedgerFacts): boolean {
  return facts.gapUntilMs !== undefined && facts.gapUntilMs !== unknown && !isInRestoreGap(state, facts);
}

/**
 * The maximum step, because reading a day again costs little. A larger difference means that the clock was completely wrong.
 */
const maxMs = 86_400_000;
/** The stored end of the restore gap before the first round. */
const unknown = Number.MAX_SAFE_INTEGER;

type Now = {
  readonly nowMs: number;
  readonly ownMs: number;
  /** The span that the server clock skipped; undefined unless it was just set ahead. */
  readonly leap: Window | undefined;
  /** Set while a clock that was set ahead is not accepted; then the difference to the exporter's clock is unknown. */
  readonly doubtedMs?: number | undefined;
};

/** Returns a function that stores and returns by how much the server clock was last set ahead, unless it was set back since. */
export function createFollowSkew(cache: LedgerCache) {
  let { leap } = cache.facts();
  /** The smallest difference since the last stored difference; kept in memory, because storing fails if the disk is full. */
  let leastSkewMs = Number.POSITIVE_INFINITY;
  return (now: Now): Followed => {
    const isUndone = leap !== undefined && leap.endMs > now.nowMs + stepMs;
    const latest = now.leap ?? (isUndone ? undefined : leap);
    leap = latest;
    const { skewMs: storedMs } = cache.facts();
    const skewMs = now.doubtedMs === undefined ? Math.floor(now.nowMs - now.ownMs) : storedMs;
    if (skewMs !== undefined) leastSkewMs = Math.min(leastSkewMs, skewMs, storedMs ?? skewMs);
    const keep = async (reachedMs?: number): Promise<void> => {
      await cache.update(async () => {
        const facts = cache.facts();
        const isKept = skewMs === undefined || Math.abs(skewMs - (facts.skewMs ?? Infinity)) <= stepMs;
        // The stored time may be up to a day too early: after a restart, the exporter therefore reads one more day.
        const isReached = reachedMs !== undefined && reachedMs > (facts.reachedMs ?? 0) + dayMs;
        if (isKept && latest === facts.leap && !isReached) return undefined;
        return { facts: { ...facts, skewMs, leap: latest, ...(isReached ? { reachedMs } : {}) } };
      });
      leastSkewMs = skewMs ?? leastSkewMs;
    };
    return { leap: latest, wasBehindMs: skewMs === undefined ? 0 : skewMs - leastSkewMs, keep };
  };
}

type Followed = {
  readonly leap: Window | undefined;
  /** By how much the server clock was behind its present setting, at most, since the difference was last stored. */
  readonly wasBehindMs: number;
  /** Stores the difference of the clocks, and the time that a clock more than a day ahead has reached. */
  readonly keep: (reachedMs?: number) => Promise<void>;
};

const dayMs = 86_400_000;
