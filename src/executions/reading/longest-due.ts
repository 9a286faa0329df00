/** Returns what has been due longest, and the first of equals; undefined if nothing is due. */
export function findLongestDue<Item>(
  items: Iterable<Item>,
  nowTicks: number,
  toDueTicks: (item: Item) => number,
): Item | undefined {
  const due = [...items].filter((item) => toDueTicks(item) <= nowTicks);
  return due.sort((one, other) => toDueTicks(one) - toDueTicks(other))[0];
}
