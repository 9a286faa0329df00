/** The events with their counts. */
export type Sightings = ReturnType<typeof createSightings>;

/** The minimum number of each event: without events, equal counters prove nothing. */
type Wanted = Readonly<Record<string, number>>;

export function createSightings() {
  const seen = new Map<string, number>();
  return {
    see: (what: string, times = 1) => seen.set(what, (seen.get(what) ?? 0) + times),
    count: (what: string) => seen.get(what) ?? 0,
  };
}

/** Renders the events of worlds as a table, interesting events first. */
export function toTable(
  all: readonly Sightings[],
  { remarks, wanted }: { readonly remarks: readonly string[]; readonly wanted: Wanted },
): { readonly text: string; readonly missing: readonly string[] } {
  const sum = (what: string): number => all.reduce((total, sightings) => total + sightings.count(what), 0);
  const lines = remarks.map((remark) => toLine(remark, sum(remark), undefined));
  const missing: string[] = [];
  for (const [what, least] of Object.entries(wanted)) {
    lines.push(toLine(what, sum(what), least));
    if (sum(what) < least) missing.push(what);
  }
  return { text: lines.join('\n'), missing };
}

function toLine(what: string, seen: number, least: number | undefined): string {
  return `${what.padEnd(44)}${String(seen).padStart(7)}${least === undefined ? '' : `  (at least ${least})`}`;
}
