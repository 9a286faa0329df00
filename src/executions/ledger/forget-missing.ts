import type { Ledger } from '../../state/ledger.ts';
import { planPrune } from '../counting/prune.ts';
import type { Activities } from '../reading/activities.ts';
import type { LedgerCache } from './ledger-cache.ts';

type ForgettingOptions = {
  readonly server: string;
  readonly cache: LedgerCache;
  readonly ledger: Ledger;
  readonly activities: Activities;
};

/** Forgets a project that has been missing for thirty days: its entries a few at a time, then the rest. */
export function createForgetMissing({ server, cache, ledger, activities }: ForgettingOptions) {
  return async (nowMs: number): Promise<void> => {
    for (const state of cache.states.values()) {
      const { project, hold, heldSinceMs = nowMs } = state;
      if (hold !== 'missing' || nowMs - heldSinceMs < keptForMs) continue;
      const endMs = await ledger.firstEnd(server, project, Number.MIN_SAFE_INTEGER);
      if (endMs === undefined) {
        await cache.update(async () => ({ forget: project }));
        activities.forget(project);
        continue;
      }
      const from = { project, fromMs: Math.min(endMs, state.countedFromMs) };
      const endedBeforeMs = await planPrune(ledger, server, from, Number.MAX_SAFE_INTEGER);
      await cache.update(async () => {
        const latest = cache.states.get(project);
        if (latest?.hold !== 'missing') return undefined;
        const countedFromMs = Math.max(latest.countedFromMs, endedBeforeMs);
        const prunedThroughMs = Math.max(latest.prunedThroughMs ?? endedBeforeMs, endedBeforeMs);
        return { states: [{ ...latest, countedFromMs, prunedThroughMs }], prune: { project, endedBeforeMs } };
      });
    }
  };
}

const keptForMs = 30 * 86_400_000;
