export type Published = {
  /** Takes a text in, and what fell since any text before. */
  readonly take: (text: string) => void;
  readonly latest: () => ReadonlyMap<string, number>;
  readonly falls: readonly string[];
  /** Series that were not 0 when they were seen for the first time. */
  readonly bornHigh: readonly string[];
};

/** What was ever shown: counters may wait or grow, but never fall, whichever process shows them. */
export function createPublished(): Published {
  const highest = new Map<string, number>();
  const falls: string[] = [];
  const bornHigh: string[] = [];
  let latest: ReadonlyMap<string, number> = new Map();
  return {
    take: (text) => {
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
    bornHigh,
  };
}

/** Samples by all that stands before the value, which no label can hold up: its last space is outside of them. */
function parse(text: string): Map<string, number> {
  const samples = new Map<string, number>();
  for (const line of text.split('\n')) {
    const space = line.lastIndexOf(' ');
    if (space > 0) samples.set(line.slice(0, space), Number(line.slice(space + 1)));
  }
  return samples;
}
