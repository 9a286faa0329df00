import type { PendingTrace } from './pending.ts';

/**
 * Orders pending traces: failures first, then the others, each with the newest first, because somebody may be looking for it
 * now. Traces that have waited too long need no request and go between the others: a few are made after each request.
 */
export function toQueueOrder(
  pending: Iterable<PendingTrace>,
  isLate: (pending: PendingTrace) => boolean,
): readonly PendingTrace[] {
  const late: PendingTrace[] = [];
  const bad: PendingTrace[] = [];
  const good: PendingTrace[] = [];
  for (const each of pending) (isLate(each) ? late : each.status === 'succeeded' ? good : bad).push(each);
  const line: PendingTrace[] = [];
  late.sort(newestFirst);
  const latePerQuestion = Math.max(fewestLatePerQuestion, late.length / 10);
  let placed = 0;
  for (const each of [...bad.sort(newestFirst), ...good.sort(newestFirst)]) {
    line.push(each, ...late.slice(placed, placed + latePerQuestion));
    placed += latePerQuestion;
  }
  return [...line, ...late.slice(placed)];
}

/** Making a trace without a question takes milliseconds, a question at the share of enrichment about one second. */
const fewestLatePerQuestion = 20;

/** Returns what a queue holds beyond its limit: those that came first, and failures only where nothing else is left. */
export function findCrowdedOut(pending: Iterable<PendingTrace>, most: number): readonly PendingTrace[] {
  const good: PendingTrace[] = [];
  const bad: PendingTrace[] = [];
  for (const each of pending) (each.status === 'succeeded' ? good : bad).push(each);
  return [...good, ...bad].slice(0, Math.max(0, good.length + bad.length - most));
}

function newestFirst(one: PendingTrace, other: PendingTrace): number {
  return other.endedAtMs - one.endedAtMs || other.id - one.id;
}
