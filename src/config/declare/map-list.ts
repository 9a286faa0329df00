import { describeFound, didYouMean } from '../../domain/complaint.ts';
import { type AddProblem, isMap, readPart, structured, toInputSchema } from '../values/structure.ts';
import type { ValueType } from '../values/value-type.ts';
import { type NameOfKind, toSettingName } from './option.ts';

type Fields = { readonly [key: string]: ValueType<unknown> };
type Values<F extends Fields> = {
  readonly [K in keyof F & string as F[K] extends ValueType<unknown, infer M>
    ? NameOfKind<K, M>
    : never]: F[K] extends ValueType<infer V> ? V : never;
};
type Item<F extends Fields, O extends Fields> = Values<F> & { readonly [K in keyof Values<O>]?: Values<O>[K] };

/** A list of maps with all `fields`, at least one of the optional fields if there are any, and no other key. The `unique` fields identify an item. */
export function mapList<const F extends Fields, const O extends Fields = Record<never, never>>(
  fields: F,
  about: { takes: string; example: string; unique: readonly (keyof F & string)[]; optional?: O },
): ValueType<readonly Item<F, O>[], 'plain'> {
  const { takes, example, unique, optional = {} } = about;
  const known = { ...fields, ...optional };
  return structured(
    (found, add) => {
      if (!Array.isArray(found)) return undefined;
      const items = found.map((item, index) => readMap({ fields, optional }, item, { path: [index], add }));
      for (const key of unique) complainTwice(items, key, add);
      // The cast is true: every field was read by its type, or has a complaint.
      return items as unknown as readonly Item<F, O>[];
    },
    {
      takes,
      example,
      placeholder: 'JSON',
      fromText: fromJson,
      format: (items) => items.map((item) => formatMap(known, item)),
      jsonSchema: { type: 'array', items: toMapSchema(fields, optional) },
    },
  );
}

type Plain = Readonly<Record<string, unknown>>;

function readMap(
  { fields, optional }: { fields: Fields; optional: Fields },
  found: unknown,
  { path, add }: { path: readonly PropertyKey[]; add: AddProblem },
): Plain {
  const choices = Object.keys(optional);
  const keys = [...Object.keys(fields), ...choices];
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
  for (const [key, type] of Object.entries({ ...fields, ...optional })) {
    const name = toSettingName(key, type.kind);
    if (Object.hasOwn(found, key)) values.set(name, readPart(type, found[key], [...path, key], add));
    else if (!choices.includes(key)) add({ path, message: `${key} is missing`, hint: type.hint(undefined) });
  }
  // An unknown key may be a misspelt field.
  if (choices.length > 0 && Object.keys(found).every((key) => Object.hasOwn(fields, key)))
    add({ path, message: 'says nothing beside', hint: `give ${choices.join(' or ')}` });
  return Object.fromEntries(values);
}

function complainTwice(items: readonly Plain[], key: string, add: AddProblem): void {
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

function formatMap(fields: Fields, item: Plain): Plain {
  const given = Object.entries(fields).flatMap(([key, type]) => {
    const value = item[toSettingName(key, type.kind)];
    return value === undefined ? [] : [[key, type.format(value)] as const];
  });
  return Object.fromEntries(given);
}

function toMapSchema(fields: Fields, optional: Fields): Plain {
  const known = Object.entries({ ...fields, ...optional });
  const properties = Object.fromEntries(known.map(([key, type]) => [key, toInputSchema(type)]));
  const choices = Object.keys(optional).map((key) => ({ required: [key] }));
  const required = Object.keys(fields);
  const oneOfThem = choices.length === 0 ? {} : { anyOf: choices };
  return { type: 'object', additionalProperties: false, required, ...oneOfThem, properties };
}
