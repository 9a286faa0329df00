import type { Clock } from '../../domain/clock.ts';
import type { Ledger } from '../../state/ledger.ts';
import type { Cell } from '../counting/totals.ts';
import type { Activities } from '../reading/activities.ts';
import type { LedgerCache } from './ledger-cache.ts';
import type { LedgerChange, LedgerFacts } from './ledger-documents.ts';

type ForgettingOptions = {
  readonly server: string;
  readonly cache: LedgerCache;
  readonly ledger: Ledger;
  readonly activities: Activities;
};

/** Removes a project that has been missing for thirty days: its entries a few at a time, then the rest. */
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

/**
 * Returns the time before which entries of a project may be removed: a little at a time, because a long transaction
 * delays all others.
 */
export async function planPrune(
  ledger: Pick<Ledger, 'countEnds'>,
  server: string,
  { project, fromMs }: { project: string; fromMs: number },
  throughMs: number,
): Promise<number> {
  if (throughMs - fromMs < minMs) return fromMs;
  let endMs = Math.min(throughMs, fromMs + maxMs);
  const count = (): Promise<number> =>
    ledger.countEnds(server, { projects: [project], beginMs: fromMs, endMs: endMs - 1 });
  while (endMs - fromMs > 1 && (await count()) > maxEntries) endMs = Math.ceil((fromMs + endMs) / 2);
  return endMs;
}

const minMs = 60_000;
const maxMs = 3_600_000;
const maxEntries = 2000;

/**
 * Adapts cells to new bucket bounds: counts and sums stay, every bucket except the last begins at 0. Undefined if the
 * bounds are the same.
 */
export function rebucket(
  cells: Iterable<Cell>,
  facts: LedgerFacts,
  bounds: readonly number[],
): LedgerChange | undefined {
  const { buckets: before } = facts;
  if (
    before !== undefined &&
    before.length === bounds.length &&
    before.every((bound, index) => bound === bounds[index])
  )
    return undefined;
  const changed: Cell[] = [];
  for (const cell of cells) {
    if (cell.buckets === undefined) continue;
    // States from before bounds were kept have only the number of buckets.
    if (before === undefined && cell.buckets.length === bounds.length + 1) continue;
    const { before: early } = cell;
    changed.push({
      ...cell,
      buckets: [...bounds.map(() => 0), cell.count],
      ...(early === undefined ? {} : { before: { ...early, counts: [...bounds.map(() => 0), early.count] } }),
    });
  }
  return { facts: { ...facts, buckets: bounds }, cells: changed };
}

/** Stores since when durations are also counted natively. */
export function beginNatives(
  change: LedgerChange | undefined,
  facts: LedgerFacts,
  nowMs: number,
): LedgerChange | undefined {
  if (facts.nativeSeconds !== undefined) return change;
  return { ...change, facts: { ...facts, ...change?.facts, nativeSeconds: Math.floor(nowMs / 1000) } };
}

/** Stores that the values of cells are shown from now on. */
export async function release(
  cache: LedgerCache,
  keys: readonly string[],
  { nextTurn }: Pick<Clock, 'nextTurn'>,
): Promise<void> {
  // After the first start all series become due at once, and one long transaction would delay all others.
  for (let begin = 0; begin < keys.length; begin += mostReleased) {
    if (begin > 0) await nextTurn();
    const part = keys.slice(begin, begin + mostReleased);
    await cache.update(async () => ({ cells: part.flatMap((key) => toReleased(cache, key)) }));
  }
}

const mostReleased = 500;

function toReleased({ totals }: LedgerCache, key: string): Cell[] {
  const cell = totals.cells.get(key);
  return cell === undefined ? [] : [{ ...cell, isReleased: true }];
}
