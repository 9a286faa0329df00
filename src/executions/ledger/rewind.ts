import type { ServerTime } from '../reading/server-clock.ts';
import { readThroughMs } from './backlog.ts';
import type { LedgerCache, LedgerChange, LedgerFacts } from './ledger-cache.ts';
import { type ProjectState, rewind, rewindUnseen } from './project-state.ts';

/**
 * Creates a function that goes back to where the server's clock is; it returns what the clock had reached before it was set back, so
 * that nothing waits for a time that was to come. Undefined where it was not.
 */
export function createRewind(cache: LedgerCache): (time: ServerTime) => Promise<number | undefined> {
  /** A step is told once: what a full disk did not take is to be done as soon as it takes something. */
  let owedToMs: number | undefined;
  return async (time) => {
    let reachedMs = time.rewindToMs === undefined ? undefined : time.reachedMs;
    owedToMs = toEarliest(owedToMs, time.rewindToMs);
    const rewindToMs = owedToMs;
    await cache.update(async () => {
      const change = planRewind(cache.states.values(), cache.facts(), { ...time, rewindToMs });
      const rewound = (change?.states ?? []).flatMap(({ project }) => cache.states.get(project) ?? []);
      if (rewound.length > 0) reachedMs = Math.max(reachedMs ?? time.nowMs, ...rewound.map(readThroughMs));
      return change;
    });
    owedToMs = undefined;
    return reachedMs;
  };
}

function toEarliest(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined || other === undefined ? (one ?? other) : Math.min(one, other);
}

/**
 * Plans the change for a server's clock that was set back, now or during an absence: times that are still to come become
 * unread, unlisted and not skipped. Undefined if nothing is ahead of the clock.
 */
function planRewind(
  states: Iterable<ProjectState>,
  facts: LedgerFacts,
  { nowMs, rewindToMs }: ServerTime,
): LedgerChange | undefined {
  const all = [...states];
  const firstMs = Math.min(...all.map(({ countedFromMs }) => countedFromMs));
  const changed = all.flatMap((state) => {
    if (rewindToMs !== undefined) return [rewind(state, rewindToMs, state.countedFromMs > firstMs)];
    const isAhead = state.countedFromMs > nowMs || readThroughMs(state) > nowMs + usualMs;
    return isAhead ? [rewindUnseen(state, nowMs)] : [];
  });
  const { listedAtMs = nowMs, gapUntilMs = unknown } = facts;
  const isListAhead = listedAtMs > nowMs;
  const isGapAhead = gapUntilMs !== unknown && gapUntilMs > nowMs + usualMs;
  if (changed.length === 0 && !isListAhead && !isGapAhead) return undefined;
  return {
    states: changed,
    facts: {
      ...facts,
      ...(facts.listedAtMs === undefined ? {} : { listedAtMs: Math.min(listedAtMs, rewindToMs ?? nowMs) }),
      ...(isGapAhead ? { gapUntilMs: nowMs } : {}),
    },
  };
}

/** Dates are cut to the second, and come with answers that take their time. */
const usualMs = 30_000;
/** The end of a gap that no round has seen yet. */
const unknown = Number.MAX_SAFE_INTEGER;
