import * as z from 'zod';
import type { ValueType } from './value-type.ts';

type Bounds = { readonly min: number; readonly max: number };

/** A number between two bounds, both of them allowed. */
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

/** A number without a fraction between two bounds, both of them allowed. */
export function wholeNumber({ min, max }: Bounds): ValueType<number, 'plain'> {
  return { ...number({ min, max }), schema: z.int().min(min).max(max), takes: `a whole number from ${min} to ${max}` };
}

/** The word `auto`, or a whole number between two bounds, both of them allowed. */
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
