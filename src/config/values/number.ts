import { hash } from 'node:crypto';
import * as z from 'zod';
import { parsedText, plain, takes, type ValueType } from './value-type.ts';

/** A number between two bounds, inclusive. */
export function number(min: number, max: number): ValueType<number, 'plain'> {
  const error = takes(`a number from ${min} to ${max}`);
  return plain(z.number(error).min(min, error).max(max, error), { placeholder: 'NUMBER', fromText: toNumber });
}

export function wholeNumber(min: number, max: number): ValueType<number, 'plain'> {
  const error = takes(`a whole number from ${min} to ${max}`);
  return plain(z.int(error).min(min, error).max(max, error), { placeholder: 'NUMBER', fromText: toNumber });
}

/** The word `auto`, or a whole number between two bounds, inclusive. */
export function autoOrNumber(min: number, max: number): ValueType<'auto' | number, 'plain'> {
  const error = takes(`auto or a whole number from ${min} to ${max}`);
  const schema = z.union([z.literal('auto', error), z.int(error).min(min, error).max(max, error)], error);
  return plain(schema, { placeholder: 'auto|NUMBER', fromText: toNumber });
}

function toNumber(given: string): unknown {
  return /^\d{1,9}(\.\d{1,9})?$/.test(given) ? Number(given) : given;
}

const units = { KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30 } as const;
const pattern = /^([1-9]\d{0,6})(KiB|MiB|GiB)$/;

export const size = parsedText(
  (text) => {
    const [, count, unit] = pattern.exec(text) ?? [];
    if (count === undefined || unit === undefined) return { problem: 'is not a size' };
    // This cast is safe: the pattern permits only these units.
    return { value: Number(count) * units[unit as keyof typeof units] };
  },
  {
    takes: 'a size',
    examples: ['256MiB'],
    placeholder: 'SIZE',
    json: { pattern: pattern.source },
    format: (bytes) => (bytes % units.MiB === 0 ? `${bytes / units.MiB}MiB` : `${bytes / units.KiB}KiB`),
  },
);

/** One of several exporters that share the servers of one configuration. */
type Shard = { index: number; count: number };

export const shard: ValueType<Shard, 'plain'> = parsedText(
  (text) => {
    const [, index, count] = /^([1-9]\d{0,2})\/([1-9]\d{0,2})$/.exec(text) ?? [];
    if (index === undefined || count === undefined) return { problem: 'is not a shard' };
    if (Number(index) > Number(count)) return { problem: `has only the shards 1/${count} to ${count}/${count}` };
    return { value: { index: Number(index), count: Number(count) } };
  },
  { takes: 'a shard', examples: ['1/3'], placeholder: 'I/N' },
);

/** Reports whether a server belongs to a shard: the shard with the highest digest. If shards are added, few servers move. */
export function isInShard(server: string, { index, count }: Shard): boolean {
  const digestOf = (place: number): string => hash('sha256', `${place}\n${server}`);
  const own = digestOf(index);
  return Array.from({ length: count }, (_, place) => digestOf(place + 1)).every((digest) => digest <= own);
}
