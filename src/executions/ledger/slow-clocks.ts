import type { Execution } from '../../domain/execution.ts';
import { createIdOrder } from '../counting/id-hours.ts';
import type { LedgerCache } from './ledger-cache.ts';
import type { SlowClock } from './ledger-documents.ts';

/**
 * Keeps how far clocks are behind. What runs was not imported: a start more than a day before that of a lower id is of such a
 * clock. Answers may have its time as well.
 */
export async function noteSlowClocks(
  cache: LedgerCache,
  seen: { running?: readonly Execution[]; serverTimes?: readonly number[]; nowMs: number },
): Promise<void> {
  if (toNoted(cache, seen) === undefined) return;
  await cache.update(async () => {
    const slowClocks = toNoted(cache, seen);
    return slowClocks && { facts: { ...cache.facts(), slowClocks } };
  });
}

/** Returns the clocks with those that were seen now; undefined where nothing changes. */
function toNoted(
  { facts, idHours }: LedgerCache,
  { running = [], serverTimes = [], nowMs }: Parameters<typeof noteSlowClocks>[1],
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
    // A run that began hours before it was first seen does not show how far its clock is behind.
    const knownByMs = next.map((clock) => clock.byMs);
    if (!isOfSlowClock(run, knownByMs) && isOfSlowClock(run, [byMs])) note(byMs);
    // Nor does a run that began long ago show that its clock is in use.
    renew((knownMs) => Math.abs(knownMs - byMs) < hourMs && isOfSlowClock(run, [knownMs]));
  }
  const byMs = nowMs - Math.min(nowMs, ...serverTimes);
  const isClose = (knownMs: number): boolean => Math.abs(knownMs - byMs) <= closeMs;
  if (byMs > dayMs && !next.some((clock) => isClose(clock.byMs))) note(byMs);
  renew(isClose);
  return next.length === slowClocks.length && next.every((clock, index) => clock === slowClocks[index])
    ? undefined
    : next;
}

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
/** Rounds are seconds apart. */
const closeMs = 600_000;
/** As far back as passes over the past look, and a day more. */
const rememberedForMs = 8 * dayMs;
const maxClocks = 10;
