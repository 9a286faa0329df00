/** Random numbers from a seed. Each name has its own sequence of numbers. */
export type Dice = {
  /** Returns a number from 0 to below 1. */
  readonly next: () => number;
  /** Returns a whole number from `least` to `greatest`, including both. */
  readonly between: (least: number, greatest: number) => number;
  readonly pick: <Item>(items: readonly [Item, ...Item[]]) => Item;
  readonly chance: (share: number) => boolean;
  readonly of: (name: string) => Dice;
};

export function createDice(seed: number | string): Dice {
  let [a, b, c] = toWords(String(seed));

  /** The 32-bit generator sfc32 of Chris Doty-Humphrey. */
  function next(): number {
    const sum = (a + b + 1) >>> 0;
    a = (b ^ (b >>> 9)) >>> 0;
    b = (c + (c << 3)) >>> 0;
    c = (((c << 21) | (c >>> 11)) + sum) >>> 0;
    return sum / 2 ** 32;
  }

  const between = (least: number, greatest: number): number => least + Math.floor(next() * (greatest - least + 1));
  for (let count = 0; count < 12; count += 1) next();
  return {
    next,
    between,
    pick: (items) => items[between(0, items.length - 1)] ?? items[0],
    chance: (share) => next() < share,
    of: (name) => createDice(`${seed}/${name}`),
  };
}

function toWords(text: string): [number, number, number] {
  let one = 0x9e3779b9;
  let other = 0x85ebca6b;
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0;
    one = Math.imul(one ^ code, 0x01000193) >>> 0;
    other = Math.imul(other + code, 0xc2b2ae35) >>> 0;
  }
  return [one, other, (one ^ (other >>> 7)) >>> 0];
}
