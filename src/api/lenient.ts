import { z } from 'zod';
import { toTimestampMs } from '../domain/time.ts';

// Decoders for values that vary by release: numbers and booleans as text since 4.3, null in place of text. The decoders accept
// anything, and return `undefined` for unreadable values.

export const number = lenient(toNumber);
export const text = lenient(toText);
export const flag = lenient(toFlag);
export const timestampMs = lenient(toTimestampMs);

/** Decodes a part that has only optional fields. Null, a missing part or another shape becomes a part without fields. */
export function section<const Shape extends z.ZodRawShape>(shape: Shape) {
  const fields = z.object(shape);
  return z
    .unknown()
    .transform((value) => {
      const parsed = fields.safeParse(value);
      return parsed.success ? parsed.data : fields.parse({});
    })
    .prefault({});
}

/** Decodes a list. Stops at the first invalid item, because a long list of invalid items would give a million complaints. */
export function list<Item>(item: z.ZodType<Item>) {
  return z.array(z.unknown()).transform((values, context): Item[] => {
    const items: Item[] = [];
    for (const [index, value] of values.entries()) {
      const parsed = item.safeParse(value);
      if (!parsed.success) {
        const [issue] = parsed.error.issues;
        const path = [index, ...(issue?.path ?? [])];
        context.addIssue({ code: 'custom', message: issue?.message ?? 'has an unexpected form', path });
        return z.NEVER;
      }
      items.push(parsed.data);
    }
    return items;
  });
}

function lenient<Value>(read: (value: unknown) => Value | undefined) {
  return z.unknown().transform(read).optional();
}

/** The maximum length of a number as text. Patterns are slow for longer texts. */
const maxNumberLength = 40;
const decimal = /^[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?$/;

export function toNumber(value: unknown): number | undefined {
  if (typeof value === 'number') return Number.isFinite(value) ? value : undefined;
  if (typeof value !== 'string' || value.length > maxNumberLength) return undefined;
  const text = value.trim();
  const parsed = Number(text);
  return decimal.test(text) && Number.isFinite(parsed) ? parsed : undefined;
}

export function toText(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined;
}

export function toFlag(value: unknown): boolean | undefined {
  if (typeof value === 'boolean') return value;
  if (value === 'true') return true;
  return value === 'false' ? false : undefined;
}
