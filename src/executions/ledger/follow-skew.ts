import type { Window } from '../../api/paging.ts';
import type { LedgerCache } from './ledger-cache.ts';

type Now = {
  /** The server's time, and ours at that moment. */
  readonly nowMs: number;
  readonly ownMs: number;
  /** Set if the server's clock was just seen to be set ahead. */
  readonly leap: Window | undefined;
  /** How far a clock has come that is more than a day ahead. */
  readonly reachedMs?: number | undefined;
};

/**
 * Creates a function that keeps the last leap of the server's clock over restarts, and returns it when there is a new one. A
 * leap during an absence shows in the difference to our own clock. How far a clock has come that is days ahead is kept as well.
 */
export function createFollowSkew(cache: LedgerCache) {
  let isFirst = true;
  return (now: Now): { readonly leap: Window | undefined; readonly keep: () => Promise<void> } => {
    const skewMs = Math.floor(now.nowMs - now.ownMs);
    const aheadMs = skewMs - (cache.facts().skewMs ?? skewMs);
    const isUnseen = isFirst && aheadMs > usualMs && aheadMs <= mostMs;
    const leap = now.leap ?? (isUnseen ? { beginMs: now.nowMs - aheadMs, endMs: now.nowMs } : undefined);
    isFirst = false;
    const keep = (): Promise<void> =>
      cache.update(async () => {
        const facts = cache.facts();
        const isKept = facts.skewMs !== undefined && Math.abs(skewMs - facts.skewMs) <= usualMs;
        // A day more is read in any case after a restart.
        const isReached = now.reachedMs !== undefined && now.reachedMs > (facts.reachedMs ?? 0) + dayMs;
        if (isKept && leap === undefined && !isReached) return undefined;
        const { reachedMs } = now;
        return {
          facts: { ...facts, skewMs, ...(leap === undefined ? {} : { leap }), ...(isReached ? { reachedMs } : {}) },
        };
      });
    return { leap, keep };
  };
}

/** Dates are cut to the second, and come with answers that take their time. */
const usualMs = 30_000;
/** A larger difference is a clock that was wrong altogether. */
const mostMs = 3_600_000;
const dayMs = 86_400_000;
