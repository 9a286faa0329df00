import type { Clock } from './clock.ts';

/** Call between pieces of long work. Gives other work a turn of the event loop if the long work has run long enough. */
export type Pause = () => Promise<void>;

/** A pause that does nothing, for short work. */
export const noPause: Pause = () => Promise.resolve();

export function createPause({ ticks, nextTurn }: Pick<Clock, 'ticks' | 'nextTurn'>): Pause {
  let sinceTicks = ticks();
  return async () => {
    if (ticks() - sinceTicks < maxPieceMs) return;
    await nextTurn();
    sinceTicks = ticks();
  };
}

/** The maximum duration of a piece. A scrape waits for at most a few pieces. */
export const maxPieceMs = 8;

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

/** Work in small pieces, between which it can be paused. */
export type Pieces<Result> = Generator<void, Result, void>;

export function* mapInPieces<Item, Result>(
  items: readonly Item[],
  toResult: (item: Item) => Pieces<Result>,
): Pieces<Result[]> {
  const results: Result[] = [];
  for (const item of items) {
    results.push(yield* toResult(item));
    if (isPieceOver()) yield;
  }
  return results;
}

/** Processes at most `width` items at the same time. After an error, items in progress still finish. */
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

/** Returns a function that runs one piece of work at a time, in order. An error does not stop the next piece of work. */
export function createQueue(): <Result>(work: () => Promise<Result>) => Promise<Result> {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const done = last.then(work);
    last = done.catch(() => undefined);
    return done;
  };
}

/** Returns a function that starts work, or joins the work in progress. */
export function createJoin<Result>(): (work: () => Promise<Result>) => Promise<Result> {
  let underWay: Promise<Result> | undefined;
  return (work) => {
    underWay ??= work().finally(() => {
      underWay = undefined;
    });
    return underWay;
  };
}

let steps = 0;

/** Returns true for every 50th call, because yielding after each step would take as long as the steps. */
export function isPieceOver(): boolean {
  steps = (steps + 1) % 50;
  return steps === 0;
}

export function finish<Result>(work: Pieces<Result>): Result {
  let piece = work.next();
  while (piece.done !== true) piece = work.next();
  return piece.value;
}

export async function finishInPieces<Result>(work: Pieces<Result>, pause: Pause): Promise<Result> {
  let piece = work.next();
  for (; piece.done !== true; piece = work.next()) await pause();
  return piece.value;
}

/** Sorts short pieces and merges them. Equal items keep their order. */
export function* sortInPieces<Item>(items: Iterable<Item>, compare: Compare<Item>): Pieces<Item[]> {
  let runs: Item[][] = [];
  let last: Item[] = [];
  for (const item of items) {
    if (last.push(item) < itemsPerRun) continue;
    runs.push(last.sort(compare));
    last = [];
    yield;
  }
  runs.push(last.sort(compare));
  while (runs.length > 1) {
    const merged: Item[][] = [];
    for (let index = 0; index < runs.length; index += 2)
      merged.push(yield* merge(runs[index] ?? [], runs[index + 1] ?? [], compare));
    runs = merged;
  }
  return runs[0] ?? [];
}

type Compare<Item> = (one: Item, other: Item) => number;

function* merge<Item>(left: readonly Item[], right: readonly Item[], compare: Compare<Item>): Pieces<Item[]> {
  const merged: Item[] = [];
  const rest = right.values();
  let next = rest.next();
  for (const item of left) {
    for (; next.done !== true && compare(next.value, item) < 0; next = rest.next()) merged.push(next.value);
    merged.push(item);
    if (isPieceOver()) yield;
  }
  for (; next.done !== true; next = rest.next()) merged.push(next.value);
  return merged;
}

const itemsPerRun = 50;
