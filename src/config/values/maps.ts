import * as z from 'zod';
import { isMap } from './lists.ts';
import { choice, plain, takes } from './value-type.ts';

/** A map with keys of the user. Unlike the records of zod, this type permits `__proto__` as a key. */
export function map<V>(
  value: z.ZodType<V>,
  about: {
    takes: string;
    example: string;
    max?: number;
    /** Returns the problem of a key. `schema` is the JSON Schema of valid keys. */
    findProblem: (key: string) => string | undefined;
    keys?: z.core.JSONSchemaMeta;
  },
): z.ZodType<ReadonlyMap<string, V>> {
  const key = z.string().superRefine((name, context) => {
    const message = about.findProblem(name);
    if (message !== undefined) context.addIssue({ code: 'custom', message, params: { atKey: true } });
  });
  const { max = Number.POSITIVE_INFINITY, keys = {} } = about;
  const { $schema: _, ...additionalProperties } = z.toJSONSchema(value, { io: 'input', unrepresentable: 'any' });
  const written = z
    .custom<Readonly<Record<string, unknown>>>(isMap, takes(about.takes, `for example ${about.example}`, true))
    .meta({ type: 'object', maxProperties: max, propertyNames: keys, additionalProperties });
  const read = z.map(key, value).max(max, `contains more than ${max} ${about.takes.replace('a map of ', '')}`);
  return z.codec(written, read, {
    decode: (found) => new Map(Object.entries(found)),
    encode: (known) => Object.fromEntries(known),
  });
}

/** Reads `a=b,c=d`. Other text is returned unchanged, so that the schema complains about it. */
function fromPairs(text: string): unknown {
  const pairs = text.split(',').map((pair) => /^\s*([^=]*?)\s*=(.*)$/su.exec(pair));
  if (pairs.includes(null)) return text;
  return Object.fromEntries(pairs.map((pair) => [pair?.[1] ?? '', pair?.[2] ?? '']));
}

function isScalar(found: unknown): boolean {
  return typeof found === 'number' || typeof found === 'boolean';
}

export type LabelPair = readonly [name: string, value: string];

const labelName = '^(?!__)[a-zA-Z_][a-zA-Z0-9_]*$';

const labelMap = map(
  z
    .string(takes('a text', (found) => (isScalar(found) ? `write "${String(found)}"` : undefined)))
    .min(1, 'is empty (a label without a value does not exist: remove it)')
    .max(200, 'is longer than 200 characters'),
  {
    takes: 'a map of labels',
    example: '{ site: eu }, or site=eu outside the file',
    max: 20,
    findProblem: (name) => {
      if (name.startsWith('__')) return 'begins with __, which is reserved by Prometheus (choose another name)';
      if (new RegExp(labelName).test(name)) return undefined;
      return 'is not a label name (letters, digits and _, and no digit first)';
    },
    keys: { pattern: labelName },
  },
);

export const labels = plain(
  z.codec(labelMap, z.custom<readonly LabelPair[]>(), {
    decode: (given) => [...given],
    encode: (pairs) => new Map(pairs),
  }),
  { placeholder: 'NAME=VALUE,…', fromText: fromPairs },
);

/** The built-in statuses of the server, which cannot be mapped. */
const settled: readonly string[] = [
  'succeeded',
  'failed',
  'aborted',
  'timedout',
  'failed-with-retry',
  'retried',
  'running',
  'scheduled',
  'queued',
  'missed',
  'incomplete',
];

const ending = choice('success', 'failure', 'error', 'timeout', 'cancellation', 'skip').schema;

type StatusMap = Readonly<Record<string, z.output<typeof ending>>>;

const maxStatusLength = 200;

const statuses = map(ending, {
  takes: 'a map of statuses',
  example: '{ warning: success }, or warning=success outside the file',
  max: 100,
  findProblem: (status) => {
    if (status === '' || status.length > maxStatusLength)
      return `is not a status of 1 to ${maxStatusLength} characters`;
    return settled.includes(status) ? 'is a built-in status (only custom statuses can be mapped)' : undefined;
  },
  keys: { minLength: 1, maxLength: maxStatusLength, not: { enum: settled } },
});

/** Maps custom statuses to results. A flag or a variable has the form `warning=success,held=skip`. */
export const statusMap = plain(
  z.codec(statuses, z.custom<StatusMap>(), {
    decode: (given) => Object.fromEntries(given),
    encode: (known) => new Map(Object.entries(known)),
  }),
  { placeholder: 'STATUS=RESULT,…', fromText: (text) => fromPairs(text.trim().replaceAll(/\s*([=,])\s*/g, '$1')) },
);
