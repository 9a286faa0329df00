import type { LedgerChange, LedgerFacts } from '../ledger/ledger-documents.ts';
import type { Cell } from './totals.ts';

/**
 * Adapts cells to new bucket bounds: counts and sums stay, every bucket except the open one begins at 0. Undefined if the
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
    // Of what was counted before bounds were kept only their number is known.
    if (before === undefined && cell.buckets.length === bounds.length + 1) continue;
    changed.push({ ...cell, buckets: [...bounds.map(() => 0), cell.count] });
  }
  return { facts: { ...facts, buckets: bounds }, cells: changed };
}
