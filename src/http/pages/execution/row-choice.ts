import type { SpanRow } from '../../../status/past-execution.ts';

/** Rows that are left out, one after the other. */
export type Gap = { readonly skipped: number; readonly failed: number };

export type Choice = { readonly rows: readonly (SpanRow | Gap)[]; readonly left: Gap };

export type Limits = { readonly first: number; readonly failed: number };

/** The rows that a person reads: the first ones, and what failed wherever it is, with everything above it. */
export function chooseRows(spans: readonly SpanRow[], limits: Limits): Choice {
  const wanted = findWanted(spans, limits);
  const rows: (SpanRow | Gap)[] = [];
  let left: Gap = { skipped: 0, failed: 0 };
  let gap: Gap = left;
  for (const [index, span] of spans.entries()) {
    if (!wanted.has(index)) {
      gap = widen(gap, span);
      left = widen(left, span);
      continue;
    }
    if (gap.skipped > 0) rows.push(gap);
    gap = { skipped: 0, failed: 0 };
    rows.push(span);
  }
  if (gap.skipped > 0) rows.push(gap);
  return { rows, left };
}

function widen({ skipped, failed }: Gap, { hasFailed }: SpanRow): Gap {
  return { skipped: skipped + 1, failed: failed + Number(hasFailed) };
}

function findWanted(spans: readonly SpanRow[], limits: Limits): ReadonlySet<number> {
  const wanted = new Set<number>();
  const above: number[] = [];
  let failed = 0;
  for (const [index, { depth, hasFailed }] of spans.entries()) {
    above.length = Math.min(above.length, depth);
    above.push(index);
    if (index < limits.first) wanted.add(index);
    else if (hasFailed && failed < limits.failed) {
      failed += 1;
      for (const one of above) wanted.add(one);
    }
  }
  return wanted;
}
