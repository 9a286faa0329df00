import { describeFound } from '../../domain/complaint.ts';
import { structured } from './structure.ts';
import type { ValueType } from './value-type.ts';

/** Names of labels; the family defines which exist. */
export const labelNames: ValueType<readonly string[], 'plain'> = structured(
  (found, add) => {
    if (!Array.isArray(found)) return undefined;
    return found.flatMap((name: unknown, index) => {
      if (typeof name === 'string') return [name];
      add({ path: [index], message: `takes a text, found ${describeFound(name)}` });
      return [];
    });
  },
  {
    takes: 'a list of labels',
    example: '[job_group]',
    placeholder: 'NAME,…',
    fromText: (text) => text.split(','),
    format: (names) => names,
    jsonSchema: { type: 'array', items: { type: 'string' } },
  },
);

const maxBuckets = 100;

/** Upper bounds of buckets, ascending, without the infinite one. */
export const bucketBounds: ValueType<readonly number[], 'plain'> = structured(
  (found, add) => {
    if (!Array.isArray(found) || found.length === 0) return undefined;
    if (found.length > maxBuckets) add({ path: [], message: `holds more than ${maxBuckets} bounds` });
    const bounds: number[] = [];
    for (const [index, bound] of found.slice(0, maxBuckets).entries()) {
      const before = bounds.at(-1);
      if (typeof bound !== 'number' || !Number.isFinite(bound) || bound <= 0)
        add({ path: [index], message: `takes a number above 0, found ${describeFound(bound)}` });
      else if (before !== undefined && bound <= before)
        add({
          path: [index],
          message: 'is not greater than the previous bound',
          hint: 'write them in ascending order',
        });
      else bounds.push(bound);
    }
    return bounds;
  },
  {
    takes: 'a list of numbers',
    example: '[1, 5, 15, 60]',
    placeholder: 'NUMBER,…',
    fromText: (text) => text.split(',').map(Number),
    format: (bounds) => bounds,
    jsonSchema: { type: 'array', minItems: 1, maxItems: maxBuckets, items: { type: 'number', exclusiveMinimum: 0 } },
  },
);
