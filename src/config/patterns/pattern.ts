import type { Parsed } from '../values/duration.ts';
import type { LabelPair } from '../values/labels.ts';
import { readPart, structured } from '../values/structure.ts';
import { parsedText, type ValueType } from '../values/value-type.ts';
import { countSteps, createMatcher } from './pattern-matcher.ts';
import { PatternError, parsePatternSyntax } from './pattern-syntax.ts';

/** A regular expression over the whole of a name. */
export type Pattern = { readonly source: string; readonly matches: (name: string) => boolean };

export const longestPattern = 200;

/** Reads a pattern; its dot takes every character, so that `.*` takes every name. */
export function parsePattern(source: string): Parsed<Pattern> {
  if (source === '') return { problem: 'is empty', hint: 'write .* for every name' };
  if (source.length > longestPattern)
    return { problem: `is longer than ${longestPattern} characters`, hint: 'write several patterns' };
  const fault = findFault(source);
  if (fault !== undefined) return { problem: 'is not a regular expression', hint: fault };
  try {
    const syntax = parsePatternSyntax(source);
    if (countSteps(syntax) > mostSteps)
      return { problem: 'has too many repetitions', hint: 'write smaller numbers in braces, or * or +' };
    return { value: { source, matches: source === '.*' ? () => true : createMatcher(syntax) } };
  } catch (error) {
    if (!(error instanceof PatternError)) throw error;
    return { problem: error.message, hint: 'patterns support characters, classes, groups, | and repetitions' };
  }
}

const mostSteps = 1000;

function findFault(source: string): string | undefined {
  try {
    void new RegExp(source, 'su');
    return undefined;
  } catch (error) {
    // The engine repeats the whole expression before it says what is wrong.
    const said = error instanceof Error ? (/: ([^:]+)$/.exec(error.message)?.[1] ?? '') : '';
    return said === '' ? 'write \\ before special characters' : said.toLowerCase();
  }
}

const mostPatterns = 100;

/** A list of patterns; a name needs to match only one of them. */
export type Patterns = { readonly sources: readonly string[]; readonly matches: (name: string) => boolean };

/** One pattern as an option. */
export const pattern: ValueType<Pattern, 'plain'> = parsedText(parsePattern, {
  takes: 'a pattern',
  examples: ['pay-.*'],
  placeholder: 'PATTERN',
  format: ({ source }) => source,
});

/** A list of patterns; a flag or a variable gives one, which can hold several by |. */
export const patternList: ValueType<Patterns, 'plain'> = structured(
  (found, add) => {
    if (!Array.isArray(found)) return undefined;
    if (found.length > mostPatterns) add({ path: [], message: `holds more than ${mostPatterns} patterns` });
    const read = found.slice(0, mostPatterns).map((raw, index) => readPart(pattern, raw, [index], add));
    const patterns = read.filter((one) => one !== undefined);
    return {
      sources: patterns.map(({ source }) => source),
      matches: (name) => patterns.some((one) => one.matches(name)),
    };
  },
  {
    takes: 'a list of patterns',
    example: '["pay-.*"]',
    placeholder: 'PATTERN',
    fromText: (text) => [text],
    format: ({ sources }) => sources,
    jsonSchema: {
      type: 'array',
      maxItems: mostPatterns,
      items: { type: 'string', minLength: 1, maxLength: longestPattern },
    },
  },
);

type Choice = { readonly include: Patterns; readonly exclude: Patterns };

/** Chooses names: those to include, or all if none are listed, except those to exclude. */
export function toChoice({ include, exclude }: Choice): (name: string) => boolean {
  return (name) => (include.sources.length === 0 || include.matches(name)) && !exclude.matches(name);
}

type Override = {
  readonly match: Pattern;
  readonly successAgeMs?: number | undefined;
  readonly overdueFactor?: number | undefined;
  readonly critical?: boolean | undefined;
};

/** Finds the overrides of a job: for each field the first matching entry that has it. */
export function toOverrideChoice(entries: readonly Override[]): {
  readonly successAgeMsOf: (path: string) => number | undefined;
  readonly overdueFactorOf: (path: string) => number | undefined;
  readonly isCritical: (path: string) => boolean;
} {
  const ofAges = entries.filter(({ successAgeMs }) => successAgeMs !== undefined);
  const ofFactors = entries.filter(({ overdueFactor }) => overdueFactor !== undefined);
  const ofSeverity = entries.filter(({ critical }) => critical !== undefined);
  return {
    successAgeMsOf: (path) => ofAges.find(({ match }) => match.matches(path))?.successAgeMs,
    overdueFactorOf: (path) => ofFactors.find(({ match }) => match.matches(path))?.overdueFactor,
    isCritical: (path) => ofSeverity.find(({ match }) => match.matches(path))?.critical ?? false,
  };
}

/** The labels of a name: every entry that matches adds its own, and the first to name a label wins. */
export function toLabelChoice(
  entries: readonly { readonly match: Pattern; readonly labels: readonly LabelPair[] }[],
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
