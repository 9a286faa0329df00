import { parsedText, type ValueType } from './value-type.ts';

const units = { KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30 } as const;
const pattern = /^([1-9]\d{0,6})(KiB|MiB|GiB)$/;

/** A size, read as bytes. */
export const size: ValueType<number, 'plain'> = parsedText(
  (text) => {
    const [, count, unit] = pattern.exec(text) ?? [];
    if (count === undefined || unit === undefined) return { problem: 'is not a size' };
    // The cast is true: the pattern knows no other units.
    return { value: Number(count) * units[unit as keyof typeof units] };
  },
  {
    takes: 'a size',
    examples: ['256MiB'],
    placeholder: 'SIZE',
    pattern: pattern.source,
    format: (bytes) => (bytes % units.MiB === 0 ? `${bytes / units.MiB}MiB` : `${bytes / units.KiB}KiB`),
  },
);
