import { hash } from 'node:crypto';
import * as z from 'zod';
import { parsedText, type ValueType } from './value-type.ts';

type Bounds = { min: number; max: number };

/** A number between two bounds, inclusive. */
export function number({ min, max }: Bounds): ValueType<number, 'plain'> {
  return {
    kind: 'plain',
    schema: z.number().min(min).max(max),
    takes: `a number from ${min} to ${max}`,
    examples: [],
    placeholder: 'NUMBER',
    hint: () => undefined,
    fromText: toNumber,
    format: (value) => value,
  };
}

export function wholeNumber({ min, max }: Bounds): ValueType<number, 'plain'> {
  return { ...number({ min, max }), schema: z.int().min(min).max(max), takes: `a whole number from ${min} to ${max}` };
}

/** The word `auto`, or a whole number between two bounds, inclusive. */
export function autoOrNumber({ min, max }: Bounds): ValueType<'auto' | number, 'plain'> {
  return {
    kind: 'plain',
    schema: z.union([z.literal('auto'), z.int().min(min).max(max)]),
    takes: `auto or a whole number from ${min} to ${max}`,
    examples: [],
    placeholder: 'auto|NUMBER',
    hint: () => undefined,
    fromText: toNumber,
    format: (value) => value,
  };
}

function toNumber(given: string): unknown {
  return /^\d{1,9}(\.\d{1,9})?$/.test(given) ? Number(given) : given;
}

const units = { KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30 } as const;
const pattern = /^([1-9]\d{0,6})(KiB|MiB|GiB)$/;

export const size: ValueType<number, 'plain'> = parsedText(
  (text) => {
    const [, count, unit] = pattern.exec(text) ?? [];
    if (count === undefined || unit === undefined) return { problem: 'is not a size' };
    // The cast is true: the pattern allows no other units.
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

/** One of several exporters that share the servers of one configuration. */
type Shard = { index: number; count: number };

export const shard: ValueType<Shard, 'plain'> = parsedText(
  (text) => {
    const [, index, count] = /^([1-9]\d{0,2})\/([1-9]\d{0,2})$/.exec(text) ?? [];
    if (index === undefined || count === undefined) return { problem: 'is not a shard' };
    if (Number(index) > Number(count)) return { problem: `has only the shards 1/${count} to ${count}/${count}` };
    return { value: { index: Number(index), count: Number(count) } };
  },
  {
    takes: 'a shard',
    examples: ['1/3'],
    placeholder: 'I/N',
    pattern: '^[1-9]\\d{0,2}/[1-9]\\d{0,2}$',
    format: ({ index, count }) => `${index}/${count}`,
  },
);

/** Reports whether a server belongs to a shard: to the one with the highest digest, so that few servers move when shards are added. */
export function isInShard(server: string, { index, count }: Shard): boolean {
  const digestOf = (place: number): string => hash('sha256', `${place}\n${server}`);
  const own = digestOf(index);
  return Array.from({ length: count }, (_, place) => digestOf(place + 1)).every((digest) => digest <= own);
}
