import type { Release } from '../release.ts';

/** Writes whole seconds in UTC, ending in Z. */
export function toDate(ms: number): string {
  return `${new Date(Math.floor(ms / 1000) * 1000).toISOString().slice(0, 19)}Z`;
}

/** Writes a date of a marshalled object. Some releases add milliseconds. */
export function toObjectDate(ms: number, release: Release): string {
  return release.fractionalDates ? new Date(ms).toISOString() : toDate(ms);
}

export function toUnixDate(ms: number): { readonly unixtime: number; readonly date: string } {
  return { unixtime: ms, date: toDate(ms) };
}

/** Subtracts a relative date such as `1h`. The units are `s n h d w m y`; `n` means minutes and `m` months. */
export function beforeNow(text: string, nowMs: number, units = 'snhdwmy'): number | undefined {
  const match = /^(\d+)([snhdwmy])$/.exec(text);
  const unit = match?.[2];
  if (match === null || unit === undefined || !units.includes(unit)) return undefined;
  return shift(nowMs, -Number(match[1]), unit);
}

export function afterNow(text: string, nowMs: number): number | undefined {
  const match = /^(\d+)([snhdwmy])$/.exec(text);
  return match === null ? undefined : shift(nowMs, Number(match[1]), match[2] ?? 's');
}

/** Reads milliseconds since 1970, or exactly `yyyy-MM-dd'T'HH:mm:ss'Z'`. */
export function readDate(text: string): number | undefined {
  if (/^\d+$/.test(text)) return Number(text) > 0 ? Number(text) : undefined;
  const ms = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(ms) ? undefined : ms;
}

function shift(fromMs: number, count: number, unit: string): number {
  const date = new Date(fromMs);
  switch (unit) {
    case 'm':
      date.setUTCMonth(date.getUTCMonth() + count);
      return date.getTime();
    case 'y':
      date.setUTCFullYear(date.getUTCFullYear() + count);
      return date.getTime();
    default:
      return fromMs + count * (unitMs[unit] ?? 0);
  }
}

const unitMs: Readonly<Record<string, number>> = { s: 1000, n: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };
