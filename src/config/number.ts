import * as z from 'zod';
import type { ValueType } from './value-type.ts';

/** The word `auto`, or a whole number between two bounds, both of them allowed. */
export function autoOrNumber(min: number, max: number): ValueType<'auto' | number, 'plain'> {
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
