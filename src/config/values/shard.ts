import { hash } from 'node:crypto';
import { parsedText, type ValueType } from './value-type.ts';

/** One of several exporters that share the servers of one configuration. */
export type Shard = { readonly index: number; readonly count: number };

/** A shard, written as its number and their count. */
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

/** Reports whether a server belongs to a shard: of all shards the one with the highest digest, so that few servers move when shards are added. */
export function isInShard(server: string, { index, count }: Shard): boolean {
  const digestOf = (place: number): string => hash('sha256', `${place}\n${server}`);
  const own = digestOf(index);
  return Array.from({ length: count }, (_, place) => digestOf(place + 1)).every((digest) => digest <= own);
}
