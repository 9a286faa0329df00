import * as z from 'zod';
import type { LabelPair } from '../values/maps.ts';
import { type Parsed, parsedText, plain, takes, type ValueType } from '../values/value-type.ts';
import { createMatcher, PatternError } from './pattern-engine.ts';

export type Pattern = { readonly source: string; readonly matches: (name: string) => boolean };

const maxPatternLength = 200;

/** Parses a pattern. The dot of a pattern matches every character, so that `.*` matches every name. */
export function parsePattern(source: string): Parsed<Pattern> {
  if (source === '') return { problem: 'is empty', hint: 'write .* for every name' };
  if (source.length > maxPatternLength)
    return { problem: `is longer than ${maxPatternLength} characters`, hint: 'write several patterns' };
  const fault = findFault(source);
  if (fault !== undefined) return { problem: 'is not a regular expression', hint: fault };
  try {
    const matches = createMatcher(source);
    return { value: { source, matches: source === '.*' ? () => true : matches } };
  } catch (error) {
    if (!(error instanceof PatternError)) throw error;
    return { problem: error.message, hint: error.hint };
  }
}

function findFault(source: string): string | undefined {
  try {
    void new RegExp(source, 'su');
    return undefined;
  } catch (error) {
    // The error message contains the whole expression before the reason.
    const said = error instanceof Error ? (/: ([^:]+)$/.exec(error.message)?.[1] ?? '') : '';
    return said === '' ? 'write \\ before special characters' : said.toLowerCase();
  }
}

export type Patterns = { readonly sources: readonly string[]; readonly matches: (name: string) => boolean };

export const pattern = parsedText(parsePattern, {
  takes: 'a pattern',
  examples: ['pay-.*'],
  placeholder: 'PATTERN',
  json: { minLength: 1, maxLength: maxPatternLength },
  format: ({ source }) => source,
});

const patterns = z
  .array(pattern.schema, takes('a list of patterns', 'for example ["pay-.*"]'))
  .max(100, 'contains more than 100 patterns');

/** A list of patterns. A flag or a variable has one pattern, which may have alternatives separated by |. */
export const patternList: ValueType<Patterns, 'plain'> = plain(
  z.codec(patterns, z.custom<Patterns>(), {
    decode: (given) => ({
      sources: given.map(({ source }) => source),
      matches: (name) => given.some((one) => one.matches(name)),
    }),
    encode: ({ sources, matches }) => sources.map((source) => ({ source, matches })),
  }),
  { placeholder: 'PATTERN', fromText: (text) => [text] },
);

type Choice = { include: Patterns; exclude: Patterns };

/** Returns a function that selects names that match `include` (all if empty) and do not match `exclude`. */
export function toChoice({ include, exclude }: Choice): (name: string) => boolean {
  return (name) => (include.sources.length === 0 || include.matches(name)) && !exclude.matches(name);
}

type Override = {
  match: Pattern;
  success_age?: number | undefined;
  overdue_factor?: number | undefined;
  critical?: boolean | undefined;
  owner?: string | undefined;
  note?: string | undefined;
  runbook?: string | undefined;
};

/** The configured owner, note and runbook of a job. */
type AboutJob = Readonly<Partial<Record<(typeof aboutKeys)[number], string | undefined>>>;
const aboutKeys = ['owner', 'note', 'runbook'] as const;

/** The settings of single jobs, by path; undefined if not configured. */
export type JobOverrides = ReturnType<typeof toOverrideChoice>;

/** Returns a function that finds the settings of a job. Each field comes from the first matching entry with this field. */
export function toOverrideChoice(entries: readonly Override[]) {
  const toChoiceOf = <K extends keyof Override>(key: K): ((path: string) => Override[K] | undefined) => {
    const given = entries.filter((entry) => entry[key] !== undefined);
    return (path) => given.find(({ match }) => match.matches(path))?.[key];
  };
  const isCritical = toChoiceOf('critical');
  const about = aboutKeys.map((key) => [key, toChoiceOf(key)] as const);
  return {
    successAgeMsOf: toChoiceOf('success_age'),
    /** Returns the multiple of the average duration of a job after which a run is overdue. */
    overdueFactorOf: toChoiceOf('overdue_factor'),
    isCritical: (path: string): boolean => isCritical(path) ?? false,
    aboutOf: (path: string): AboutJob => Object.fromEntries(about.map(([key, choose]) => [key, choose(path)])),
  };
}

export function toLabelChoice(
  entries: readonly { match: Pattern; labels: readonly LabelPair[] }[],
): (name: string) => readonly LabelPair[] {
  return (name) => {
    const found = new Map<string, string>();
    for (const { match, labels } of entries) {
      if (!match.matches(name)) continue;
      for (const [label, value] of labels) if (!found.has(label)) found.set(label, value);
    }
    return [...found];
  };
}
