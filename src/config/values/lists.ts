import * as z from 'zod';
import { didYouMean } from '../../domain/complaint.ts';
import { choice, plain, takes, type ValueType, withHint } from './value-type.ts';

const aText = takes('a text');

export const textList: ValueType<readonly string[], 'plain'> = plain(
  z
    .array(z.string(aText).min(1, aText).max(200, aText), takes('a list of names', 'for example [version, region]'))
    .max(100, 'contains more than 100 names'),
  { placeholder: 'NAME,…', fromText: (text) => text.split(',') },
);

/** Names of labels. Each family has its own valid labels. */
export const labelNames: ValueType<readonly string[], 'plain'> = plain(
  z.array(z.string(aText), takes('a list of labels', 'for example [job_group]')),
);

export function choices<const W extends string>(what: string, words: readonly W[]): ValueType<readonly W[], 'plain'> {
  const list = z.array(choice(...words).schema, takes(what, `for example [${words[0]}]`));
  return plain(list, { placeholder: 'NAME,…', fromText: (text) => text.split(',') });
}

const aNumber = takes('a number above 0');
const numbers = takes('a list of numbers', 'for example [1, 5, 15, 60]');

/** Upper bounds of buckets in ascending order, without the infinite bound. */
export const bucketBounds: ValueType<readonly number[], 'plain'> = plain(
  z
    .array(z.number(aNumber).gt(0, aNumber), numbers)
    .min(1, numbers)
    .max(100, 'contains more than 100 bounds')
    .superRefine(
      (bounds, context) => {
        const message = withHint('is not greater than the previous bound', 'write them in ascending order');
        for (const [index, bound] of bounds.entries())
          if (bound <= (bounds[index - 1] ?? 0)) context.addIssue({ code: 'custom', path: [index], message });
      },
      { when: ({ value }) => Array.isArray(value) },
    ),
);

/** A list of maps. A map with optional fields needs at least one field. The `unique` fields identify a map. */
export function mapList<const S extends z.core.$ZodLooseShape>(
  shape: S,
  about: { takes: string; example: string; unique: readonly (keyof S & string)[] },
): ValueType<readonly z.output<z.ZodObject<S>>[], 'plain'> {
  const keys = Object.keys(shape);
  const choices = keys.filter((key) => shape[key] instanceof z.ZodOptional);
  const noMap = takes('a map', `with the keys ${keys.join(', ')}`);
  const known = `known here: ${keys.toSorted().join(', ')}`;
  const item = z
    .strictObject(shape, {
      // Each unknown key gets a line of its own.
      error: (issue) =>
        issue.code === 'unrecognized_keys'
          ? issue.keys.map((key) => withHint('is not a known key', didYouMean(key, keys) ?? known)).join('\n')
          : noMap.error(issue),
    })
    .superRefine(
      (found, context) => {
        // The absence of a setting is not reported beside an unknown key, which may be a misspelt setting.
        if (choices.some((key) => Object.hasOwn(found, key))) return;
        if (context.issues.some(({ code }) => code === 'unrecognized_keys')) return;
        context.addIssue(withHint('has no setting', `give ${choices.join(' or ')}`));
      },
      { when: ({ value }) => choices.length > 0 && isMap(value) },
    )
    .meta(choices.length === 0 ? {} : { anyOf: choices.map((key) => ({ required: [key] })) });
  const list = z.array(item, takes(about.takes, `for example ${about.example}`)).superRefine(
    (items, context) => {
      for (const key of about.unique)
        for (const [index, first] of findTwice(items, key))
          context.addIssue({
            code: 'custom',
            path: [index, key],
            message: withHint('is given twice', `first in [${first}].${key}`),
          });
    },
    { when: ({ value }) => Array.isArray(value) },
  );
  return plain(list, { placeholder: 'JSON', fromText: fromJson });
}

/** Returns the index of each item whose text at `key` is repeated, and the index of the earlier item. */
function findTwice(items: readonly unknown[], key: string): [number, number][] {
  const seen = new Map<string, number>();
  return items.flatMap((item, index) => {
    const value = isMap(item) ? item[key] : undefined;
    const first = typeof value === 'string' ? seen.get(value) : undefined;
    if (typeof value === 'string' && first === undefined) seen.set(value, index);
    return first === undefined ? [] : [[index, first]];
  });
}

function fromJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

export function isMap(found: unknown): found is Readonly<Record<string, unknown>> {
  return typeof found === 'object' && found !== null && !Array.isArray(found);
}
