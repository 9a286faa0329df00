const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

/** The intervals that cron can repeat evenly: intervals that divide a minute, an hour or a day. */
const evenIntervalsMs: readonly number[] = [
  ...divisorsOf(60).map((seconds) => seconds * second),
  ...divisorsOf(60).map((minutes) => minutes * minute),
  ...divisorsOf(24).map((hours) => hours * hour),
];

/** Explains why an interval cannot be used, with the nearest possible intervals. Returns undefined for a usable interval. */
export function checkInterval(everyMs: number): string | undefined {
  if (evenIntervalsMs.includes(everyMs)) return undefined;
  const shorter = evenIntervalsMs.findLast((interval) => interval < everyMs);
  const longer = evenIntervalsMs.find((interval) => interval > everyMs);
  const nearest = [shorter, longer].filter((interval) => interval !== undefined).map(formatInterval);
  return `polls cannot be spaced evenly at this interval; nearest possible: ${nearest.join(', ')}`;
}

/** Returns the cron expression of an interval, shifted by whole seconds so that polls do not all start at once. */
export function toCronExpression(everyMs: number, offsetSeconds: number): string {
  const offset = offsetSeconds % (everyMs / second);
  const parts = [
    { unitMs: second, size: 60, first: offset },
    { unitMs: minute, size: 60, first: Math.floor(offset / 60) },
    { unitMs: hour, size: 24, first: Math.floor(offset / 3600) },
  ];
  return `${parts.map((part) => toField(everyMs, part)).join(' ')} * * *`;
}

/** Times of each day, in UTC, because some hours of time zones occur twice or never. Each list of times is sorted. */
export type TimesOfDay = {
  readonly second: readonly number[];
  readonly minute: readonly number[];
  readonly hour: readonly number[];
};

export function findNextMs(times: TimesOfDay, afterMs: number): number {
  const dayMs = Math.floor(afterMs / day) * day;
  return findInDay(times, dayMs, afterMs) ?? findInDay(times, dayMs + day, afterMs) ?? dayMs + 2 * day;
}

function findInDay(times: TimesOfDay, dayMs: number, afterMs: number): number | undefined {
  for (const atHour of times.hour) {
    const hourMs = dayMs + atHour * hour;
    if (hourMs + hour <= afterMs) continue;
    for (const atMinute of times.minute) {
      const minuteMs = hourMs + atMinute * minute;
      if (minuteMs + minute <= afterMs) continue;
      const found = times.second.find((atSecond) => minuteMs + atSecond * second > afterMs);
      if (found !== undefined) return minuteMs + found * second;
    }
  }
  return undefined;
}

type CronPart = { readonly unitMs: number; readonly size: number; readonly first: number };

/**
 * Returns a cron field: `*` if the interval is at most the unit, one fixed value if the interval is at least the range of the
 * field, otherwise evenly spaced values.
 */
function toField(everyMs: number, { unitMs, size, first }: CronPart): string {
  if (everyMs <= unitMs) return '*';
  const step = everyMs / unitMs;
  if (step >= size) return String(first % size);
  const values: number[] = [];
  for (let value = first % step; value < size; value += step) values.push(value);
  return values.join(',');
}

function divisorsOf(whole: number): number[] {
  return Array.from({ length: whole }, (_, index) => index + 1).filter((part) => whole % part === 0);
}

function formatInterval(intervalMs: number): string {
  if (intervalMs >= day) return `${intervalMs / day}d`;
  if (intervalMs >= hour) return `${intervalMs / hour}h`;
  return intervalMs >= minute ? `${intervalMs / minute}m` : `${intervalMs / second}s`;
}
