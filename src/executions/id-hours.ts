/** The least and the greatest id that started within an hour: a small picture of a sequence of ids. */
export type IdHour = { readonly hour: number; readonly leastId: number; readonly greatestId: number };

/** What is known of a server's ids, by the hour of their start; ids of imports and one-time runs are not in it. */
export type IdHours = ReadonlyMap<number, IdHour>;

type Started = { readonly id: number; readonly startedAtMs: number };

/** Whether an execution ended more than a day before the start of one with a lower id: it was brought in later. */
export function isImported(
  hours: IdHours,
  { id, endedAtMs }: { readonly id: number; readonly endedAtMs: number },
): boolean {
  const firstHour = toHour(endedAtMs + dayMs) + 1;
  return some(hours, (known) => known.hour >= firstHour && known.leastId < id);
}

/** Whether an execution's id is below one that started over a day before it: ids start again. */
export function startsAgain(hours: IdHours, { id, startedAtMs }: Started): boolean {
  const lastHour = toHour(startedAtMs - dayMs) - 1;
  return some(hours, (known) => known.hour <= lastHour && known.greatestId > id);
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

function some(hours: IdHours, holds: (hour: IdHour) => boolean): boolean {
  for (const hour of hours.values()) if (holds(hour)) return true;
  return false;
}
