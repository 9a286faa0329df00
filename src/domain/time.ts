/**
 * The moment that a date of the service names, in whole ms since 1970. Servers write three forms: `…T10:13:20Z`, the same with
 * milliseconds (release 6.0), and an object with `unixtime` or `epoch` in ms; anything else is no date.
 */
export function toTimestampMs(date: unknown): number | undefined {
  if (typeof date === 'number') return Number.isFinite(date) ? Math.floor(date) : undefined;
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

const isoDate = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{1,9})?(Z|[+-]\d{2}:?\d{2})$/;

function fromText(text: string): number | undefined {
  if (/^\d{1,16}$/.test(text)) return Number(text);
  if (!isoDate.test(text)) return undefined;
  const timestampMs = Date.parse(text);
  return Number.isNaN(timestampMs) ? undefined : timestampMs;
}
