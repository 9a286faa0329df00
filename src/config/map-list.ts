import { describeFound } from './complaint.ts';
import { didYouMean } from './did-you-mean.ts';
import { type AddProblem, isMap, readPart, structured, toInputSchema } from './structure.ts';
import type { ValueType } from './value-type.ts';

type Fields = { readonly [key: string]: ValueType<unknown> };
type Values<F extends Fields> = { readonly [K in keyof F]: F[K] extends ValueType<infer V> ? V : never };

/** A list of maps that have all of these keys and no other; the `unique` ones tell them apart. */
export function mapList<const F extends Fields>(
  fields: F,
  about: { readonly takes: string; readonly example: string; readonly unique: readonly (keyof F & string)[] },
): ValueType<readonly Values<F>[], 'plain'> {
  const { takes, example, unique } = about;
  return structured(
    (found, add) => {
      if (!Array.isArray(found)) return undefined;
      const items = found.map((item, index) => readMap(fields, item, { path: [index], add }));
      for (const key of unique) complainTwice(items, key, add);
      // The cast is true: every field was read by its own type, and what could not be has its complaint.
      return items as unknown as readonly Values<F>[];
    },
    {
      takes,
      example,
      placeholder: 'JSON',
      fromText: fromJson,
      format: (items) => items.map((item) => formatMap(fields, item)),
      jsonSchema: { type: 'array', items: toMapSchema(fields) },
    },
  );
}

type Item = Readonly<Record<string, unknown>>;

function readMap(
  fields: Fields,
  found: unknown,
  { path, add }: { readonly path: readonly PropertyKey[]; readonly add: AddProblem },
): Item {
  const keys = Object.keys(fields);
  if (!isMap(found)) {
    add({ path, message: `takes a map, found ${describeFound(found)}`, hint: `with the keys ${keys.join(', ')}` });
    return {};
  }
  for (const key of Object.keys(found)) {
    if (keys.includes(key)) continue;
    const hint = didYouMean(key, keys) ?? `known here: ${keys.toSorted().join(', ')}`;
    add({ path: [...path, key], message: 'is not a known key', hint, atKey: true });
  }
  const values = new Map<string, unknown>();
  for (const [key, type] of Object.entries(fields)) {
    if (Object.hasOwn(found, key)) values.set(key, readPart(type, found[key], [...path, key], add));
    else add({ path, message: `${key} is missing`, hint: type.hint(undefined) });
  }
  return Object.fromEntries(values);
}

function complainTwice(items: readonly Item[], key: string, add: AddProblem): void {
  const seen = new Map<unknown, number>();
  for (const [index, item] of items.entries()) {
    const value = item[key];
    const first = seen.get(value);
    if (value === undefined) continue;
    if (first === undefined) seen.set(value, index);
    else add({ path: [index, key], message: 'is given twice', hint: `first in [${first}].${key}` });
  }
}

function fromJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function formatMap(fields: Fields, item: Item): Item {
  return Object.fromEntries(Object.entries(fields).map(([key, type]) => [key, type.format(item[key])]));
}

function toMapSchema(fields: Fields): Readonly<Record<string, unknown>> {
  const properties = Object.fromEntries(Object.entries(fields).map(([key, type]) => [key, toInputSchema(type)]));
  return { type: 'object', additionalProperties: false, required: Object.keys(fields), properties };
}
