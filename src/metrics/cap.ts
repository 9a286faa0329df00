import type { Row } from './family.ts';

/** The first rows, so many at most; a summary or a histogram is shown whole or not at all. */
export function capRows(rows: readonly Row[], maxSeries: number): readonly Row[] {
  if (rows.length <= maxSeries) return rows;
  const sizes = new Map<string, number>();
  for (const row of rows) {
    if (isPart(row)) sizes.set(unitOf(row), (sizes.get(unitOf(row)) ?? 0) + 1);
  }
  // Once something does not fit, nothing more is begun: what comes first is what is shown.
  let left = maxSeries;
  const begun = new Set<string>();
  return rows.filter((row) => {
    const unit = isPart(row) ? unitOf(row) : undefined;
    if (unit !== undefined && begun.has(unit)) return true;
    const size = unit === undefined ? 1 : (sizes.get(unit) ?? 1);
    if (size > left) {
      left = 0;
      return false;
    }
    left -= size;
    if (unit !== undefined) begun.add(unit);
    return true;
  });
}

function isPart({ family: { type } }: Row): boolean {
  return type === 'summary' || type === 'histogram';
}

function unitOf({ family, labels, added = [] }: Row): string {
  return JSON.stringify([family.name, labels, added]);
}
