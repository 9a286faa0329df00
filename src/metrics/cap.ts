import type { Row } from './family.ts';

/** The things whose rows were shown when not all of them fitted; undefined where all did. */
export type Shown = ReadonlySet<string> | undefined;

/**
 * Returns at most this many rows. A job is shown whole or not at all, and so are a histogram, a summary and a state set.
 * Things that were shown stay, and omitted ones only return when there is room to spare, so that rows that come and go never
 * displace others.
 */
export function capRows(
  rows: readonly Row[],
  maxSeries: number,
  before?: Shown,
): { readonly rows: readonly Row[]; readonly shown: Shown } {
  const spare = Math.floor(maxSeries * shareOfReturn);
  if (rows.length <= (before === undefined ? maxSeries : spare)) return { rows, shown: undefined };
  const units = rows.map(unitOf);
  const sizes = new Map<string, number>();
  for (const unit of units) sizes.set(unit, (sizes.get(unit) ?? 0) + 1);
  const shown = new Set<string>();
  let left = maxSeries;

  /** Once something does not fit, nothing more is begun: what comes first is what is shown. */
  function fill(candidates: Iterable<string>, leftAtLeast: number): void {
    for (const unit of candidates) {
      const size = sizes.get(unit) ?? 0;
      if (left - size < leftAtLeast) return;
      left -= size;
      shown.add(unit);
    }
  }

  const all = [...sizes.keys()];
  if (before === undefined) fill(all, 0);
  else {
    fill(
      all.filter((unit) => before.has(unit)),
      0,
    );
    fill(
      all.filter((unit) => !before.has(unit)),
      maxSeries - spare,
    );
  }
  // The cast is true: there is a unit for each row.
  return { rows: rows.filter((_row, index) => shown.has(units[index] as string)), shown };
}

/** Omitted things return once this part of the room is enough. */
const shareOfReturn = 0.9;

/** Returns the key of the thing that a row belongs to. */
function unitOf({ family, labels, added = [] }: Row): string {
  const { name, type, labels: names, stateLabel } = family;
  const job = names.indexOf('job_name');
  if (job >= 0) return JSON.stringify(['project', 'job_group', 'job_name'].map((each) => labels[names.indexOf(each)]));
  if (type === 'summary' || type === 'histogram') return JSON.stringify([name, labels, added]);
  return JSON.stringify([name, labels.filter((_label, index) => names[index] !== stateLabel), added]);
}
