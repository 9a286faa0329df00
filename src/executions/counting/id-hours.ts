/**
 * The smallest id of the runs that started in an hour, and the greatest id that became known in the same hour. Later
 * runs have greater ids, except imported executions, which get their ids long after their start.
 */
export type IdHour = {
  readonly hour: number;
  readonly leastId?: number | undefined;
  readonly greatestId?: number | undefined;
};

/** The known ids of a server by hour, except ids of imports and one-time runs. */
export type IdHours = ReadonlyMap<number, IdHour>;

type Started = { readonly id: number; readonly startedAtMs: number };

/** Compares ids with the known ids. Hours after `nowMs` come from a fast clock, and are ignored. */
export function createIdOrder(hours: IdHours, nowMs: number) {
  const sorted = toSorted(hours).filter(({ hour }) => hour <= toHour(nowMs + stepMs));
  // For each hour: the greatest id up to the hour, and the smallest id from the hour on.
  const greatest: number[] = [];
  for (const { greatestId = noGreatest } of sorted) greatest.push(Math.max(greatest.at(-1) ?? noGreatest, greatestId));
  const least = sorted.map(({ leastId = noLeast }) => leastId);
  for (let index = least.length - 2; index >= 0; index -= 1)
    least[index] = Math.min(least[index] ?? noLeast, least[index + 1] ?? noLeast);

  function isBehind(id: number, timeMs: number): boolean {
    const leastId = least[findHour(sorted, toHour(timeMs) + 1)];
    return leastId !== undefined && leastId < id;
  }

  function isAhead(id: number, timeMs: number): boolean {
    const greatestId = greatest[findHour(sorted, toHour(timeMs)) - 1];
    return greatestId !== undefined && greatestId > id;
  }

  return {
    /**
     * Reports whether an execution was imported: it ended more than a day before a run with a smaller id started. If
     * the start is after the end, because the clock was set back, the start is compared instead of the end.
     */
    isImported: ({ id, startedAtMs, endedAtMs }: Started & { readonly endedAtMs: number }): boolean =>
      isBehind(id, Math.max(startedAtMs, endedAtMs) + dayMs),
    /** Reports whether a slow clock explains the early start of a run. */
    isOfSlowClock: (
      { id, startedAtMs, endedAtMs }: Started & { readonly endedAtMs: number },
      slowByMs: readonly number[],
    ): boolean =>
      slowByMs.some(
        (byMs) =>
          endedAtMs + byMs <= nowMs + hourMs &&
          !isBehind(id, endedAtMs + byMs + hourMs) &&
          !isAhead(id, startedAtMs + byMs - hourMs),
      ),
    /** Reports whether ids started again: a greater id was already known more than a day before the run started. */
    startsAgain: ({ id, startedAtMs }: Started): boolean => isAhead(id, startedAtMs - dayMs),
  };
}

export type IdOrder = ReturnType<typeof createIdOrder>;

const noGreatest = Number.NEGATIVE_INFINITY;
const noLeast = Number.POSITIVE_INFINITY;

/**
 * Lists hours to remove: hours after `latestMs`, and the oldest hours if there are too many. The hour with the greatest id
 * stays.
 */
export function toForgottenHours(hours: IdHours, most: number, latestMs: number): number[] {
  const late = [...hours.keys()].filter((hour) => hour > toHour(latestMs + stepMs));
  if (hours.size <= most) return late;
  const sorted = toSorted(hours);
  const greatestId = toGreatestId(hours);
  const old = sorted.slice(0, sorted.length - most).filter((hour) => hour.greatestId !== greatestId);
  return [...new Set([...old.map(({ hour }) => hour), ...late])];
}

function toSorted(hours: IdHours): IdHour[] {
  return [...hours.values()].sort((one, other) => one.hour - other.hour);
}

export function toGreatestId(hours: IdHours): number | undefined {
  const greatestId = Math.max(...[...hours.values()].map((hour) => hour.greatestId ?? noGreatest));
  return greatestId === noGreatest ? undefined : greatestId;
}

/** Returns the hours that change with these executions. If the clock is behind, ids are added to the latest known hour. */
export function withIds(
  hours: IdHours,
  started: readonly Started[],
  { seenAtMs, latestMs }: { seenAtMs: number; latestMs: number },
): IdHour[] {
  if (started.length === 0) return [];
  const known = [...hours.keys()].filter((hour) => hour <= toHour(latestMs));
  const seenHour = toHour(seenAtMs);
  const greatestHour = Math.max(seenHour, ...known);
  const changed = new Map<number, IdHour>();
  const change = (hour: number, toNext: (before: IdHour) => IdHour): void => {
    const before = changed.get(hour) ?? hours.get(hour) ?? { hour };
    const next = toNext(before);
    if (next.leastId !== before.leastId || next.greatestId !== before.greatestId) changed.set(hour, next);
  };
  for (const { id, startedAtMs } of started) {
    const startHour = Math.min(toHour(startedAtMs), seenHour);
    change(startHour, (before) => ({ ...before, leastId: Math.min(before.leastId ?? id, id) }));
    change(greatestHour, (before) => ({ ...before, greatestId: Math.max(before.greatestId ?? id, id) }));
  }
  return [...changed.values()];
}

const hourMs = 3_600_000;
/** Hours up to two hours ahead are accepted: after the clock was set back by an hour, the last correct hour is in the future. */
const stepMs = 2 * hourMs;
const dayMs = 24 * hourMs;

function toHour(timestampMs: number): number {
  return Math.floor(timestampMs / hourMs);
}

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
