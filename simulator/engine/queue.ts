export type Queue<T> = ReturnType<typeof createQueue<T>>;

/** Items in order of time; items of the same time in the order of insertion. */
export function createQueue<T>() {
  // The next item is the last entry.
  const entries: { readonly atMs: number; readonly item: T }[] = [];
  return {
    push: (atMs: number, item: T): void => {
      let [low, high] = [0, entries.length];
      while (low < high) {
        const middle = (low + high) >> 1;
        if ((entries[middle]?.atMs ?? atMs) > atMs) low = middle + 1;
        else high = middle;
      }
      entries.splice(low, 0, { atMs, item });
    },
    nextAtMs: () => entries.at(-1)?.atMs,
    pop: () => entries.pop(),
    get size() {
      return entries.length;
    },
  };
}
