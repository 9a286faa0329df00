export type Random = () => number;

/** A small random generator with a seed (mulberry32). The same seed gives the same day. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

/** Combines names and numbers into one seed, so that independent things draw independent numbers. */
export function toSeed(...parts: readonly (string | number)[]): number {
  let hash = 0x811c9dc5;
  for (const part of parts) {
    for (const character of `${part}|`) hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 0x01000193);
  }
  return hash >>> 0;
}

export function toUuid(...parts: readonly (string | number)[]): string {
  const random = createRandom(toSeed(...parts));
  let hex = '';
  while (hex.length < 32) {
    hex += Math.floor(random() * 0x10000)
      .toString(16)
      .padStart(4, '0');
  }
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20)}`;
}
