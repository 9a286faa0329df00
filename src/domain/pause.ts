import type { Clock } from './clock.ts';

/** Called between the pieces of long work: lets others have the event loop where this work has had it for long enough. */
export type Pause = () => Promise<void>;

/** Never pauses: for work that is short. */
export const noPause: Pause = () => Promise.resolve();

export function createPause({ ticks, nextTurn }: Pick<Clock, 'ticks' | 'nextTurn'>): Pause {
  let sinceTicks = ticks();
  return async () => {
    if (ticks() - sinceTicks < longestPieceMs) return;
    await nextTurn();
    sinceTicks = ticks();
  };
}

/** A scrape waits for a few pieces at most. */
const longestPieceMs = 8;

/** Chooses items, many of them in pieces. */
export async function filterInPieces<Item>(
  items: readonly Item[],
  isWanted: (item: Item) => boolean,
  pause: Pause,
): Promise<Item[]> {
  const wanted: Item[] = [];
  for (const [index, item] of items.entries()) {
    if (index % itemsPerPiece === 0) await pause();
    if (isWanted(item)) wanted.push(item);
  }
  return wanted;
}

const itemsPerPiece = 500;

type Sorting<Item> = {
  /** Names the bucket of an item; buckets come in ascending order. */
  readonly bucketOf: (item: Item) => number;
  readonly compare: (one: Item, other: Item) => number;
  readonly pause: Pause;
};

/** Sorts by bucket, then within each one: no piece of work is longer than the largest bucket. */
export async function sortInPieces<Item>(
  items: Iterable<Item>,
  { bucketOf, compare, pause }: Sorting<Item>,
): Promise<Item[]> {
  const buckets = new Map<number, Item[]>();
  for (const item of items) {
    const key = bucketOf(item);
    const bucket = buckets.get(key);
    if (bucket === undefined) buckets.set(key, [item]);
    else bucket.push(item);
    await pause();
  }
  const sorted: Item[] = [];
  for (const key of [...buckets.keys()].sort((one, other) => one - other)) {
    for (const item of (buckets.get(key) ?? []).sort(compare)) sorted.push(item);
    await pause();
  }
  return sorted;
}

/** Processes items, at most `width` at once; an error of one lets the others that have begun finish. */
export async function runLimited<Item>(
  items: readonly Item[],
  width: number,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const waiting = items[Symbol.iterator]();
  async function takeTurns(): Promise<void> {
    for (let next = waiting.next(); next.done !== true; next = waiting.next()) await work(next.value);
  }
  const turns = await Promise.allSettled(Array.from({ length: width }, takeTurns));
  for (const turn of turns) if (turn.status === 'rejected') throw turn.reason;
}
