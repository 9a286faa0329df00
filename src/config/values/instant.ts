import { toTimestampMs } from '../../domain/time.ts';
import { parsedText } from './value-type.ts';

/** A time with its offset from UTC, as milliseconds since 1970. */
export const instant = parsedText(
  (text) => {
    const timeMs = /^\d+$/.test(text) ? undefined : toTimestampMs(text);
    return timeMs === undefined ? { problem: 'is not a time' } : { value: timeMs };
  },
  {
    takes: 'a time',
    examples: ['2026-11-22T18:00:00Z'],
    placeholder: 'TIME',
    json: { format: 'date-time' },
    format: (timeMs: number) => new Date(timeMs).toISOString(),
  },
);
