/** When a run started and ended, by one answer. */
export type RunTimes = { readonly startedAtMs: number; readonly endedAtMs?: number | undefined };

/**
 * Reports whether two answers about one id are about the same run; ids start again in a new or restored database.
 * Starts less than two seconds apart are equal, because some answers lack milliseconds. A row without a start has its
 * end instead. A server with local time shifts a start by one hour after a change of daylight saving time, at most
 * eight days after the run: exactly one hour, with the same end or one shifted too.
 */
export function isSameRun(one: RunTimes, other: RunTimes): boolean {
  const movedMs = other.startedAtMs - one.startedAtMs;
  if (Math.abs(movedMs) < sameTimeMs) return true;
  if (one.endedAtMs === undefined || other.endedAtMs === undefined) return false;
  const endMovedMs = other.endedAtMs - one.endedAtMs;
  if (startsAtEnd(one) || startsAtEnd(other)) return Math.abs(endMovedMs) < sameTimeMs;
  if (Math.abs(movedMs) !== hourMs || (endMovedMs !== 0 && endMovedMs !== movedMs)) return false;
  return changesZone(Math.min(one.endedAtMs, other.endedAtMs));
}

/** Reports whether the clocks of any country change soon enough after an end to affect later answers about it. */
function changesZone(endedAtMs: number): boolean {
  zones ??= zoneNames.map((timeZone) => new Intl.DateTimeFormat('en', { timeZone, timeZoneName: 'longOffset' }));
  const toOffset = (zone: Intl.DateTimeFormat, atMs: number): string | undefined =>
    zone.formatToParts(atMs).find(({ type }) => type === 'timeZoneName')?.value;
  return zones.some((zone) => toOffset(zone, endedAtMs) !== toOffset(zone, endedAtMs + readAgainMs));
}

let zones: readonly Intl.DateTimeFormat[] | undefined;
/** One for each rule of daylight saving time. */
const zoneNames = [
  'Europe/Berlin',
  'America/New_York',
  'America/Havana',
  'America/Santiago',
  'America/Asuncion',
  'Africa/Cairo',
  'Africa/Casablanca',
  'Asia/Beirut',
  'Asia/Jerusalem',
  'Australia/Sydney',
  'Pacific/Auckland',
];

function startsAtEnd({ startedAtMs, endedAtMs }: RunTimes): boolean {
  return startedAtMs === endedAtMs;
}

const sameTimeMs = 2000;
const hourMs = 3_600_000;
const readAgainMs = 8 * 24 * hourMs;
