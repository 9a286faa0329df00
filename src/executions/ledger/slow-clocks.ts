import type { Execution } from '../../domain/execution.ts';
import { createIdOrder } from '../counting/id-hours.ts';
import type { LedgerCache } from './ledger-cache.ts';
import type { SlowClock } from './ledger-documents.ts';

/**
 * Records how far clocks are behind. A running execution was not imported: if it started more than a day before a run
 * with a smaller id, its clock is behind. Responses may also have the time of such a clock.
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

/** Returns the known clocks with the new ones; undefined if nothing changes. */
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
    // A run that started hours before it was first seen does not show how far its clock is behind.
    const knownByMs = next.map((clock) => clock.byMs);
    if (!isOfSlowClock(run, knownByMs) && isOfSlowClock(run, [byMs])) note(byMs);
    // A run that started long ago does not show that its clock is still used.
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
/** As far back as recounts read, plus a day. */
const rememberedForMs = 8 * dayMs;
const maxClocks = 10;
