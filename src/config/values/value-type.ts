import * as z from 'zod';
import { describeFound, didYouMean } from '../../domain/complaint.ts';
import type { SecretForm } from '../../domain/secret.ts';
import { formatDuration, type Parsed, parseDuration } from './duration.ts';

export type Kind = 'plain' | 'duration' | 'secret';

/** The type of an option: its forms in YAML, flags and the environment, and its value. */
export type ValueType<T, K extends Kind = Kind> = {
  /** The key of a duration ends in `Ms` in the settings; the key of a secret loses `_file`. */
  readonly kind: K;
  /** Reads YAML's value; its input side is the JSON Schema. */
  readonly schema: z.ZodType<T>;
  /** Completes "takes …, found …". */
  readonly takes: string;
  readonly examples: readonly string[];
  /** The placeholder in the help; none for a switch. */
  readonly placeholder: string | undefined;
  /** Suggests the right form for a value of the wrong type. */
  hint(found: unknown): string | undefined;
  /** Converts the text of a flag or a variable to what YAML would give. */
  fromText(text: string): unknown;
  /** How a secret is sent; as a header value by default. */
  readonly travels?: SecretForm;
  /** Converts a value back to what YAML takes. */
  format(value: T): unknown;
};

/** A type with a parser from text, which also explains what is wrong. */
export function parsedText<T>(
  parse: (text: string) => Parsed<T>,
  about: Pick<ValueType<T>, 'takes' | 'examples' | 'format'> & { placeholder: string; pattern?: string },
): ValueType<T, 'plain'> {
  const { pattern, ...words } = about;
  const text = z.string().meta(pattern === undefined ? {} : { pattern });
  const schema = text.transform((found, context) => {
    const parsed = parse(found);
    if ('value' in parsed) return parsed.value;
    const hint = parsed.hint ?? toExampleHint(about.examples);
    context.addIssue({ code: 'custom', message: parsed.problem, params: { hint } });
    return z.NEVER;
  });
  return { kind: 'plain', schema, ...words, fromText: (given) => given, hint: () => toExampleHint(about.examples) };
}

export function text(about: {
  takes: string;
  pattern: RegExp;
  problem: string;
  examples: readonly string[];
  placeholder: string;
}): ValueType<string, 'plain'> {
  const { pattern, problem, ...words } = about;
  const parse = (found: string) => (pattern.test(found) ? { value: found } : { problem });
  return parsedText(parse, { ...words, pattern: pattern.source, format: (value) => value });
}

export function path(example: string): ValueType<string, 'plain'> {
  return text({
    takes: 'a path',
    pattern: /^[\x20-\x7e\u00a0-\uffff]+$/,
    problem: 'is not a path',
    examples: [example],
    placeholder: 'PATH',
  });
}

/** The path of a file with a secret; the setting is the `Secret`. */
export const secretFile: ValueType<string, 'secret'> = { ...path('/run/secrets/automation-token'), kind: 'secret' };

/** A password is sent in the body of a form, which allows more characters than a header. */
export const passwordFile: ValueType<string, 'secret'> = {
  ...path('/run/secrets/automation-password'),
  kind: 'secret',
  travels: 'form',
};

export const boolean: ValueType<boolean, 'plain'> = {
  kind: 'plain',
  schema: z.boolean(),
  takes: 'true or false',
  examples: [],
  placeholder: undefined,
  hint: () => 'write true or false',
  fromText: (given) => (given === 'true' ? true : given === 'false' ? false : given),
  format: (value) => value,
};

/** A duration between two bounds, inclusive. */
export function duration({ min, max }: { min: string; max?: string }): ValueType<number, 'duration'> {
  const minMs = toMs(min);
  const maxMs = max === undefined ? Number.MAX_SAFE_INTEGER : toMs(max);
  const parse = (found: string): Parsed<number> => {
    const parsed = parseDuration(found);
    if ('problem' in parsed) return parsed;
    if (parsed.value < minMs) return { problem: 'is too short', hint: `at least ${min}` };
    if (parsed.value > maxMs) return { problem: 'is too long', hint: `at most ${max}` };
    return parsed;
  };
  const examples = ['15s', '1h30m'];
  const pattern = '^(\\d+w)?(\\d+d)?(\\d+h)?(\\d+m)?(\\d+s)?(\\d+ms)?$';
  const type = parsedText(parse, {
    takes: 'a duration',
    examples,
    pattern,
    placeholder: 'DURATION',
    format: formatDuration,
  });
  const hint = (found: unknown) =>
    typeof found === 'number' ? `write ${found}s for seconds, ${found}m for minutes` : toExampleHint(examples);
  return { ...type, kind: 'duration', hint };
}

/** One word of a closed list. YAML 1.1 programs write `on` and `off` as `true` and `false`, which are accepted here. */
export function choice<const W extends string>(...words: readonly W[]): ValueType<W, 'plain'> {
  const known = words.join(', ');
  const switches = new Map(
    words.flatMap((word) => (word === 'on' || word === 'off' ? [[word === 'on', word] as const] : [])),
  );
  const toWord = (given: unknown): unknown => (typeof given === 'boolean' ? (switches.get(given) ?? given) : given);
  const word = z.enum(words);
  return {
    kind: 'plain',
    schema:
      switches.size === 0
        ? word
        : z.preprocess(toWord, word).meta({ type: ['string', 'boolean'], enum: [...words, ...switches.keys()] }),
    takes: `one of ${known}`,
    examples: [],
    placeholder: words.join('|'),
    hint: (found) => (typeof found === 'string' ? didYouMean(found, words) : undefined),
    fromText: (given) => (given === 'true' || given === 'false' ? (switches.get(given === 'true') ?? given) : given),
    format: (value) => value,
  };
}

function toExampleHint(examples: readonly string[]): string | undefined {
  return examples.length === 0 ? undefined : `for example ${examples.join(' or ')}`;
}

// Bounds are in the source code, so a wrong one is a bug.
function toMs(written: string): number {
  const parsed = parseDuration(written);
  if ('problem' in parsed) throw new TypeError(`${written} ${parsed.problem}`);
  return parsed.value;
}

/** An error in a value: its place within the value, and the right form. */
export type Problem = {
  readonly path: readonly PropertyKey[];
  /** True if the key at that place is wrong, not its value. */
  readonly atKey: boolean;
  readonly message: string;
  readonly hint: string | undefined;
};

/** The parsed value, or all that is wrong with it. */
export function checkValue<T>(type: ValueType<T>, raw: unknown): { value: T } | { problems: readonly Problem[] } {
  const result = type.schema.safeParse(raw);
  if (result.success) return { value: result.data };
  const takes = `takes ${type.takes}, found ${describeFound(raw, type.kind === 'secret')}`;
  const problems = result.error.issues.map((issue) => ({
    path: issue.path,
    atKey: issue.code === 'custom' && issue.params?.['atKey'] === true,
    message: describeIssue(issue) ?? takes,
    hint: toHint(issue) ?? type.hint(raw),
  }));
  return { problems };
}

// Only the exporter's own checks have their own messages; the library's are replaced by what the option takes.
function describeIssue(issue: z.core.$ZodIssue): string | undefined {
  return issue.code === 'custom' ? issue.message : undefined;
}

function toHint(issue: z.core.$ZodIssue): string | undefined {
  const hint: unknown = issue.code === 'custom' ? issue.params?.['hint'] : undefined;
  return typeof hint === 'string' ? hint : undefined;
}
