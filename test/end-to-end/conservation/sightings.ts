/** What has to be seen, and how often at least, before equal counters mean anything. */
export const wanted = {
  'executions shorter than the poll interval': 100,
  'ends that became visible late': 100,
  'pages cut by permissions': 10,
  'pages that shifted under the reader': 10,
  'deletions while reading': 10,
  'totals that lied': 10,
  'steps back of the server clock': 10,
  'rounds over members with skewed clocks': 10,
  'ids that started again': 10,
  'imports of old rows': 10,
  'one-time runs': 10,
  'projects disabled and back': 10,
  'projects hidden and back': 10,
  'projects created and deleted': 10,
  'outages longer than the overlap': 10,
  'executions with hostile names': 10,
  'kills inside a transaction': 10,
} as const;

export type Sight = keyof typeof wanted;

/** Said and left out of the comparison, or of interest alone. */
export type Remark = 'executions that counted' | 'deleted before anyone could read them' | 'kills' | 'rounds';

export type Sightings = {
  readonly see: (what: Sight | Remark, times?: number) => void;
  readonly count: (what: Sight | Remark) => number;
};

export function createSightings(): Sightings {
  const seen = new Map<string, number>();
  return {
    see: (what, times = 1) => seen.set(what, (seen.get(what) ?? 0) + times),
    count: (what) => seen.get(what) ?? 0,
  };
}

const remarks: readonly Remark[] = [
  'executions that counted',
  'deleted before anyone could read them',
  'rounds',
  'kills',
];

/** Sights and remarks over some worlds, a line each. */
export function toTable(all: readonly Sightings[]): { readonly text: string; readonly missing: readonly string[] } {
  const sum = (what: Sight | Remark): number => all.reduce((total, sightings) => total + sightings.count(what), 0);
  const lines = remarks.map((remark) => toLine(remark, sum(remark), undefined));
  const missing: string[] = [];
  // The cast is true: these are its keys.
  for (const [what, least] of Object.entries(wanted) as [Sight, number][]) {
    lines.push(toLine(what, sum(what), least));
    if (sum(what) < least) missing.push(what);
  }
  return { text: lines.join('\n'), missing };
}

function toLine(what: string, seen: number, least: number | undefined): string {
  return `${what.padEnd(44)}${String(seen).padStart(7)}${least === undefined ? '' : `  (at least ${least})`}`;
}
