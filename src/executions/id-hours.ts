/** The least and the greatest id that started within an hour: a small picture of a sequence of ids. */
export type IdHour = { readonly hour: number; readonly leastId: number; readonly greatestId: number };

/** What is known of a server's ids, by the hour of their start; ids of imports and one-time runs are not in it. */
export type IdHours = ReadonlyMap<number, IdHour>;

type Started = { readonly id: number; readonly startedAtMs: number };

export type IdOrder = {
  /** Whether an execution ended more than a day before the start of one with a lower id: it was brought in later. */
  readonly isImported: (run: { readonly id: number; readonly endedAtMs: number }) => boolean;
  /** Whether an execution's id is below one that started over a day before it: ids start again. */
  readonly startsAgain: (run: Started) => boolean;
};

/** Compares ids with those that are known. */
export function createIdOrder(hours: IdHours): IdOrder {
  const sorted = [...hours.values()].sort((one, other) => one.hour - other.hour);
  // The greatest id up to each hour, and the least from each hour on.
  const greatest: number[] = [];
  for (const { greatestId } of sorted) greatest.push(Math.max(greatest.at(-1) ?? greatestId, greatestId));
  const least: number[] = Array.from(sorted, ({ leastId }) => leastId);
  for (let index = least.length - 2; index >= 0; index -= 1)
    least[index] = Math.min(least[index] ?? 0, least[index + 1] ?? 0);

  return {
    isImported: ({ id, endedAtMs }) => {
      const firstHour = toHour(endedAtMs + dayMs) + 1;
      const leastId = least[findHour(sorted, firstHour)];
      return leastId !== undefined && leastId < id;
    },
    startsAgain: ({ id, startedAtMs }) => {
      const nextHour = toHour(startedAtMs - dayMs);
      const greatestId = greatest[findHour(sorted, nextHour) - 1];
      return greatestId !== undefined && greatestId > id;
    },
  };
}

/** The oldest hours of too many, but for the one that tells how far ids have come. */
export function toForgottenHours(hours: IdHours, most: number): number[] {
  if (hours.size <= most) return [];
  const sorted = [...hours.values()].sort((one, other) => one.hour - other.hour);
  const greatestId = Math.max(...sorted.map((hour) => hour.greatestId));
  return sorted
    .slice(0, sorted.length - most)
    .filter((hour) => hour.greatestId !== greatestId)
    .map(({ hour }) => hour);
}

/** The hours that change when these executions become known. */
export function withIds(hours: IdHours, started: readonly Started[]): IdHour[] {
  const changed = new Map<number, IdHour>();
  for (const { id, startedAtMs } of started) {
    const hour = toHour(startedAtMs);
    const known = changed.get(hour) ?? hours.get(hour);
    const leastId = Math.min(known?.leastId ?? id, id);
    const greatestId = Math.max(known?.greatestId ?? id, id);
    if (leastId !== known?.leastId || greatestId !== known.greatestId) changed.set(hour, { hour, leastId, greatestId });
  }
  return [...changed.values()];
}

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

function toHour(timestampMs: number): number {
  return Math.floor(timestampMs / hourMs);
}

/** Where the first hour is that is not before this one. */
function findHour(sorted: readonly IdHour[], hour: number): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle]?.hour ?? 0) < hour) low = middle + 1;
    else high = middle;
  }
  return low;
}
