export type Queue<T> = {
  push(atMs: number, item: T): void;
  nextAtMs(): number | undefined;
  pop(): { readonly atMs: number; readonly item: T } | undefined;
  clear(): void;
  readonly size: number;
};

/** A binary heap in time order; items of the same instant come out in the order they went in. */
export function createQueue<T>(): Queue<T> {
  let entries: Entry<T>[] = [];
  let order = 0;
  return {
    push: (atMs, item) => {
      entries.push({ atMs, order: order++, item });
      siftUp(entries, entries.length - 1);
    },
    nextAtMs: () => entries[0]?.atMs,
    pop: () => {
      const first = entries[0];
      const last = entries.pop();
      if (first === undefined || last === undefined) return undefined;
      if (entries.length > 0) {
        entries[0] = last;
        siftDown(entries);
      }
      return first;
    },
    clear: () => {
      entries = [];
    },
    get size() {
      return entries.length;
    },
  };
}

type Entry<T> = { readonly atMs: number; readonly order: number; readonly item: T };

function siftUp<T>(entries: Entry<T>[], start: number): void {
  let index = start;
  while (index > 0) {
    const parent = (index - 1) >> 1;
    if (!swapWhenLater(entries, parent, index)) return;
    index = parent;
  }
}

function siftDown<T>(entries: Entry<T>[]): void {
  let index = 0;
  for (;;) {
    const left = index * 2 + 1;
    const right = left + 1;
    let least = index;
    for (const child of [left, right]) {
      const candidate = entries[child];
      const best = entries[least];
      if (candidate !== undefined && best !== undefined && isLater(best, candidate)) least = child;
    }
    if (least === index) return;
    swapWhenLater(entries, index, least);
    index = least;
  }
}

function swapWhenLater<T>(entries: Entry<T>[], upper: number, lower: number): boolean {
  const above = entries[upper];
  const below = entries[lower];
  if (above === undefined || below === undefined || !isLater(above, below)) return false;
  entries[upper] = below;
  entries[lower] = above;
  return true;
}

function isLater<T>(one: Entry<T>, other: Entry<T>): boolean {
  return one.atMs > other.atMs || (one.atMs === other.atMs && one.order > other.order);
}
