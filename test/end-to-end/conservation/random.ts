export type Random = {
  /** Returns a number from 0 to below 1. */
  readonly next: () => number;
  readonly between: (least: number, greatest: number) => number;
  readonly pick: <Item>(items: readonly [Item, ...Item[]]) => Item;
  readonly shuffle: <Item>(items: readonly Item[]) => Item[];
};

/** The same seed always gives the same numbers. */
export function createRandom(seed: number): Random {
  let state = seed;

  function next(): number {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    const mixed = Math.imul(state ^ (state >>> 15), 2_246_822_519) >>> 0;
    return ((mixed ^ (mixed >>> 13)) >>> 0) / 2 ** 32;
  }

  function between(least: number, greatest: number): number {
    return least + Math.floor(next() * (greatest - least + 1));
  }

  return {
    next,
    between,
    pick: (items) => items[between(0, items.length - 1)] ?? items[0],
    shuffle: (items) => {
      const drawn = items.map((item) => ({ item, at: next() }));
      return drawn.sort((one, other) => one.at - other.at).map(({ item }) => item);
    },
  };
}
