/**
 * Reads a date of the API as whole ms since 1970. Servers write three forms: `…T10:13:20Z`, the same with milliseconds (release
 * 6.0), and an object with `unixtime` or `epoch` in ms. Returns undefined for other values, and for times before 1970 or after
 * 2200.
 */
export function toTimestampMs(date: unknown): number | undefined {
  if (typeof date === 'number') return toPlausible(Math.floor(date));
  if (typeof date === 'string') return fromText(date);
  if (typeof date !== 'object' || date === null) return undefined;
  const { epoch, unixtime, datetime, date: text } = date as Readonly<Record<string, unknown>>;
  for (const candidate of [epoch, unixtime, datetime, text]) {
    if (typeof candidate === 'object') continue;
    const timestampMs = toTimestampMs(candidate);
    if (timestampMs !== undefined) return timestampMs;
  }
  return undefined;
}

/** Reads the start of an execution. Starts before the first release of the product come from a wrong clock. */
export function toStartMs(date: unknown): number | undefined {
  const startedAtMs = toTimestampMs(date);
  return startedAtMs === undefined || startedAtMs < firstServerMs ? undefined : startedAtMs;
}

const firstServerMs = Date.UTC(2010, 0, 1);

const isoDate = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{1,9})?(Z|[+-]\d{2}:?\d{2})$/;

function fromText(text: string): number | undefined {
  if (/^\d{1,16}$/.test(text)) return toPlausible(Number(text));
  if (!isoDate.test(text)) return undefined;
  return toPlausible(parseDate(text));
}

/** Reads a date; `NaN` for days such as 30 February, which `Date.parse` accepts. */
export function parseDate(text: string): number {
  const [year, month, day] = text.slice(0, 10).split('-').map(Number);
  const isDay = new Date(Date.UTC(year ?? 0, (month ?? 0) - 1, day)).getUTCDate() === day;
  return isDay ? Date.parse(text) : Number.NaN;
}

/** Reports whether a time is between 1970 and 2200. JavaScript dates end in 275760, and later times cannot be formatted. */
export function isPlausibleTime(timestampMs: number): boolean {
  return timestampMs >= 0 && timestampMs <= lastMs;
}

function toPlausible(timestampMs: number): number | undefined {
  return isPlausibleTime(timestampMs) ? timestampMs : undefined;
}

const lastMs = Date.UTC(2200, 11, 31, 23, 59, 59, 999);

/** A smaller difference is not a step: dates are cut to the second, and responses take time. */
export const stepMs = 30_000;

/** The maximum step of a clock. A larger step comes from a completely wrong clock. */
export const maxLeapMs = 32 * 86_400_000;
