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
