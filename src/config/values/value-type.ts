import * as z from 'zod';
import { describeFound, didYouMean } from '../../domain/complaint.ts';
import type { SecretForm } from '../../domain/secret.ts';

export type Kind = 'plain' | 'duration' | 'secret';

/** The type of an option: its forms in YAML, flags and the environment, and its value. */
export type ValueType<T, K extends Kind = Kind> = {
  /** The setting name of a duration ends in `Ms`; that of a secret loses `_file`. */
  readonly kind: K;
  /** Decodes and encodes a YAML value. The JSON Schema is made from the input type. */
  readonly schema: z.ZodType<T>;
  readonly examples: readonly string[];
  /** The placeholder in the help; undefined for a switch. */
  readonly placeholder: string | undefined;
  /** Converts the text of a flag or a variable to the value that YAML would give. */
  readonly fromText: (text: string) => unknown;
  /** How a secret is sent; as a header value by default. */
  readonly travels?: SecretForm;
};

/** A parsed text, or its problem and the right form. */
export type Parsed<T> = { readonly value: T } | { readonly problem: string; readonly hint?: string };

type Forms = Partial<Pick<ValueType<unknown>, 'examples' | 'placeholder' | 'fromText'>>;

export function plain<T>(schema: z.ZodType<T>, forms: Forms = {}): ValueType<T, 'plain'> {
  return { kind: 'plain', schema, examples: [], placeholder: undefined, fromText: (given) => given, ...forms };
}

type Hint = string | undefined | ((found: unknown) => string | undefined);

/** Returns the error of a schema for a value of the wrong form. A confidential value is named only by its type. */
export function takes(what: string, hint?: Hint, isConfidential = false): { error: (issue: Issue) => string } {
  return {
    error: ({ input }) => {
      const message =
        input === undefined ? 'is missing' : `takes ${what}, found ${describeFound(input, isConfidential)}`;
      return withHint(message, typeof hint === 'function' ? hint(input) : hint);
    },
  };
}

type Issue = { readonly input?: unknown };

export function withHint(message: string, hint: string | undefined): string {
  return hint === undefined ? message : `${message} (${hint})`;
}

export function toExampleHint(examples: readonly string[]): string | undefined {
  return examples.length === 0 ? undefined : `for example ${examples.join(' or ')}`;
}

/** A type with a parser for text that also explains problems. `hint` is for values that are not text. */
export function parsedText<T>(
  parse: (text: string) => Parsed<T>,
  about: Omit<Forms, 'fromText'> & {
    takes: string;
    json?: z.core.JSONSchemaMeta;
    format?: (value: T) => string;
    hint?: Hint;
  },
): ValueType<T, 'plain'> {
  const { takes: what, examples = [], json = {}, format = String } = about;
  const example = toExampleHint(examples);
  const schema = z.codec(z.string(takes(what, about.hint ?? example)).meta(json), z.custom<T>(), {
    decode: (input, context) => {
      const parsed = parse(input);
      if ('value' in parsed) return parsed.value;
      context.issues.push({ code: 'custom', input, message: withHint(parsed.problem, parsed.hint ?? example) });
      return z.NEVER;
    },
    encode: format,
  });
  return plain(schema, { examples, placeholder: about.placeholder });
}

export function text(
  pattern: RegExp,
  about: Pick<ValueType<unknown>, 'examples' | 'placeholder'> & { takes: string; problem: string },
  isConfidential = false,
): ValueType<string, 'plain'> {
  const { takes: what, problem, ...forms } = about;
  const example = toExampleHint(about.examples);
  return plain(z.string(takes(what, example, isConfidential)).regex(pattern, withHint(problem, example)), forms);
}

export const boolean = plain(z.boolean(takes('true or false', 'write true or false')), {
  fromText: (given) => (given === 'true' ? true : given === 'false' ? false : given),
});

/** One word of a closed list. `on` and `off` may also be `true` and `false`, because programs with YAML 1.1 write them so. */
export function choice<const W extends string>(...words: readonly W[]): ValueType<W, 'plain'> {
  const error = takes(`one of ${words.join(', ')}`, (found) =>
    typeof found === 'string' ? didYouMean(found, words) : undefined,
  );
  const word = z.enum(words, error);
  const placeholder = words.join('|');
  const switches = new Map(
    words.flatMap((one) => (one === 'on' || one === 'off' ? [[one === 'on', one] as const] : [])),
  );
  if (switches.size === 0) return plain(word, { placeholder });
  const written = z.literal([...words, ...switches.keys()], error).meta({ type: ['string', 'boolean'] });
  const schema = z.codec(written, word, {
    // This cast is safe: a boolean stands for on or off.
    decode: (given) => (typeof given === 'boolean' ? (switches.get(given) as W) : given),
    encode: (given) => given,
  });
  const fromText = (given: string): unknown => (given === 'true' || given === 'false' ? given === 'true' : given);
  return plain(schema, { placeholder, fromText });
}

/** A problem of a value, with the right form if known. */
type Problem = {
  readonly path: readonly PropertyKey[];
  /** True if the key is wrong, not its value. */
  readonly atKey: boolean;
  readonly message: string;
};

/** Returns the parsed value, or its problems: at each place in the value, only the first problem. */
export function checkValue<T>(type: ValueType<T>, raw: unknown): { value: T } | { problems: readonly Problem[] } {
  const { success, data, error } = type.schema.safeParse(raw, { reportInput: true });
  if (success) return { value: data };
  const found = new Map<string, readonly Problem[]>();
  for (const issue of error.issues) {
    const at = JSON.stringify([issue.path, isAtKey(issue)]);
    if (!found.has(at)) found.set(at, toProblems(issue));
  }
  return { problems: [...found.values()].flat() };
}

function toProblems(issue: z.core.$ZodIssue): Problem[] {
  const { path, message } = issue;
  const key = path.at(-1);
  if (issue.code === 'unrecognized_keys') {
    const messages = message.split('\n');
    return issue.keys.map((unknown, index) => {
      return { path: [...path, unknown], atKey: true, message: messages[index] ?? '' };
    });
  }
  if (issue.input === undefined && typeof key === 'string')
    return [{ path: path.slice(0, -1), atKey: false, message: `${key} ${message}` }];
  return [{ path, atKey: isAtKey(issue), message }];
}

function isAtKey(issue: z.core.$ZodIssue): boolean {
  return issue.code === 'custom' && issue.params?.['atKey'] === true;
}
