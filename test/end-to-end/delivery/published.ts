export type Published = ReturnType<typeof createPublished>;

/** Records the published values of all processes: counters never fall. */
export function createPublished() {
  const highest = new Map<string, number>();
  const falls: string[] = [];
  const bornHigh: string[] = [];
  let latest: ReadonlyMap<string, number> = new Map();
  return {
    /** Reads a scrape, and records which counters are lower than in an earlier scrape. */
    take: (text: string) => {
      latest = parse(text);
      for (const [key, value] of latest) {
        const before = highest.get(key);
        if (before === undefined && value !== 0) bornHigh.push(`${key}: ${value}`);
        if (before !== undefined && value < before) falls.push(`${key}: ${value} after ${before}`);
        highest.set(key, Math.max(before ?? 0, value));
      }
    },
    latest: () => latest,
    falls,
    /** Series whose first value was not 0. */
    bornHigh,
  };
}

/** Splits each sample at its last space, because label values may contain spaces. */
function parse(text: string): Map<string, number> {
  const samples = new Map<string, number>();
  for (const line of text.split('\n')) {
    const space = line.lastIndexOf(' ');
    if (space > 0) samples.set(line.slice(0, space), Number(line.slice(space + 1)));
  }
  return samples;
}
