/** Returns the item that has been due longest (of equal items, the first); undefined if nothing is due. */
export function findLongestDue<Item>(
  items: Iterable<Item>,
  nowTicks: number,
  toDueTicks: (item: Item) => number,
): Item | undefined {
  const due = [...items].filter((item) => toDueTicks(item) <= nowTicks);
  return due.sort((one, other) => toDueTicks(one) - toDueTicks(other))[0];
}
