import { isDeepStrictEqual } from 'node:util';
import type { Clock } from '../../domain/clock.ts';
import type { Execution } from '../../domain/execution.ts';
import type { Ledger } from '../../state/ledger.ts';
import { createIdOrder } from '../counting/id-hours.ts';
import type { Cell } from '../counting/totals.ts';
import type { Activities } from '../reading/activities.ts';
import type { LedgerCache } from './ledger-cache.ts';
import type { LedgerChange, LedgerFacts, SlowClock } from './ledger-documents.ts';

type ForgettingOptions = {
  readonly server: string;
  readonly cache: LedgerCache;
  readonly ledger: Ledger;
  readonly activities: Activities;
};

/** Removes a project that has been missing for thirty days, in small steps. */
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

/** Returns the time before which entries may be removed: only a few at a time, because a long transaction delays others. */
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

/** Converts cells to new bucket bounds; all buckets except the last become 0. Undefined if the bounds are the same. */
export function rebucket(
  cells: Iterable<Cell>,
  facts: LedgerFacts,
  bounds: readonly number[],
): LedgerChange | undefined {
  const { buckets: before } = facts;
  if (isDeepStrictEqual(before, bounds)) return undefined;
  const changed: Cell[] = [];
  for (const cell of cells) {
    if (cell.buckets === undefined) continue;
    // States of earlier releases have no bounds, so only the number of buckets is compared.
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

export function beginNatives(
  change: LedgerChange | undefined,
  facts: LedgerFacts,
  nowMs: number,
): LedgerChange | undefined {
  if (facts.nativeSeconds !== undefined) return change;
  return { ...change, facts: { ...facts, ...change?.facts, nativeSeconds: Math.floor(nowMs / 1000) } };
}

/** Stores that the values of cells are published from now on. */
export async function release(
  cache: LedgerCache,
  keys: readonly string[],
  { nextTurn }: Pick<Clock, 'nextTurn'>,
): Promise<void> {
  // Stores in parts, because a long transaction would delay others.
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

/**
 * Records clocks that are behind. Running executions are no imports: an early start with a greater id shows a slow
 * clock. Responses may also contain the time of a slow clock.
 */
export async function noteSlowClocks(
  cache: LedgerCache,
  seen: { running?: readonly Execution[]; serverTimes?: readonly number[]; nowMs: number; ownMs?: number },
): Promise<void> {
  if (toNoted(cache, seen) === undefined) return;
  await cache.update(async () => {
    const slowClocks = toNoted(cache, seen);
    return slowClocks && { facts: { ...cache.facts(), slowClocks } };
  });
}

/** Merges the known slow clocks with new ones. Returns undefined if nothing changes. */
function toNoted(
  { facts, idHours }: LedgerCache,
  { running = [], serverTimes = [], nowMs, ownMs = nowMs }: Parameters<typeof noteSlowClocks>[1],
): SlowClock[] | undefined {
  const { slowClocks = [], oneTimeIds = [] } = facts();
  const known = slowClocks.filter(({ seenAtMs }) => Math.abs(nowMs - seenAtMs) < rememberedForMs);
  const oneTime = new Set(oneTimeIds);
  const starts = running.filter(
    ({ id, status, type, endedAtMs, startedAtMs }) =>
      status === 'running' &&
      type !== 'user-scheduled' &&
      endedAtMs === undefined &&
      nowMs - startedAtMs > dayMs &&
      !oneTime.has(id),
  );
  let next = known;
  const note = (byMs: number): void => {
    next = [...next, { byMs, seenAtMs: nowMs }].slice(-maxClocks);
  };
  const renew = (isInUse: (byMs: number) => boolean): void => {
    const used = next.filter(({ byMs, seenAtMs }) => nowMs - seenAtMs >= dayMs && isInUse(byMs));
    next = [...next.filter((clock) => !used.includes(clock)), ...used.map(({ byMs }) => ({ byMs, seenAtMs: nowMs }))];
  };
  const { isImported, isOfSlowClock } = createIdOrder(idHours, nowMs);
  for (const { id, startedAtMs } of starts) {
    const run = { id, startedAtMs, endedAtMs: startedAtMs };
    if (!isImported(run)) continue;
    const byMs = nowMs - startedAtMs;
    // Only a run that has just started shows by how much its clock is behind.
    const knownByMs = next.map((clock) => clock.byMs);
    if (!isOfSlowClock(run, knownByMs) && isOfSlowClock(run, [byMs])) note(byMs);
    // Only a new run with a slow clock proves that the clock is still in use.
    renew((knownMs) => Math.abs(knownMs - byMs) < hourMs && isOfSlowClock(run, [knownMs]));
  }
  const toldMs = Math.min(...serverTimes);
  // While a clock that was set ahead is not accepted, the exporter's clock is used.
  const byMs = (toldMs > nowMs + hourMs ? ownMs : nowMs) - toldMs;
  const isClose = (knownMs: number): boolean => Math.abs(knownMs - byMs) <= closeMs;
  if (byMs > dayMs && !next.some((clock) => isClose(clock.byMs))) note(byMs);
  renew(isClose);
  return next.length === slowClocks.length && next.every((clock, index) => clock === slowClocks[index])
    ? undefined
    : next;
}

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
/** The minimum difference between two clocks. Lags with a smaller difference belong to the same clock. */
const closeMs = 600_000;
/** Recounts read seven days back; clocks are kept one day longer. */
const rememberedForMs = 8 * dayMs;
const maxClocks = 10;
