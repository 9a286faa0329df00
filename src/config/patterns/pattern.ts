import type { Parsed } from '../values/duration.ts';
import type { LabelPair } from '../values/labels.ts';
import { readPart, structured } from '../values/structure.ts';
import { parsedText, type ValueType } from '../values/value-type.ts';
import { countSteps, createMatcher } from './pattern-matcher.ts';
import { PatternError, parsePatternSyntax } from './pattern-syntax.ts';

export type Pattern = { readonly source: string; readonly matches: (name: string) => boolean };

export const maxPatternLength = 200;

/** Parses a pattern; its dot matches every character, so that `.*` matches every name. */
export function parsePattern(source: string): Parsed<Pattern> {
  if (source === '') return { problem: 'is empty', hint: 'write .* for every name' };
  if (source.length > maxPatternLength)
    return { problem: `is longer than ${maxPatternLength} characters`, hint: 'write several patterns' };
  const fault = findFault(source);
  if (fault !== undefined) return { problem: 'is not a regular expression', hint: fault };
  try {
    const syntax = parsePatternSyntax(source);
    if (countSteps(syntax) > maxSteps)
      return { problem: 'has too many repetitions', hint: 'write smaller numbers in braces, or * or +' };
    return { value: { source, matches: source === '.*' ? () => true : createMatcher(syntax) } };
  } catch (error) {
    if (!(error instanceof PatternError)) throw error;
    return { problem: error.message, hint: 'patterns support characters, classes, groups, | and repetitions' };
  }
}

const maxSteps = 1000;

function findFault(source: string): string | undefined {
  try {
    void new RegExp(source, 'su');
    return undefined;
  } catch (error) {
    // The error message repeats the whole expression before the reason.
    const said = error instanceof Error ? (/: ([^:]+)$/.exec(error.message)?.[1] ?? '') : '';
    return said === '' ? 'write \\ before special characters' : said.toLowerCase();
  }
}

const maxPatterns = 100;

export type Patterns = { readonly sources: readonly string[]; readonly matches: (name: string) => boolean };

export const pattern: ValueType<Pattern, 'plain'> = parsedText(parsePattern, {
  takes: 'a pattern',
  examples: ['pay-.*'],
  placeholder: 'PATTERN',
  format: ({ source }) => source,
});

/** A flag or a variable has one pattern, which may have alternatives separated by |. */
export const patternList: ValueType<Patterns, 'plain'> = structured(
  (found, add) => {
    if (!Array.isArray(found)) return undefined;
    if (found.length > maxPatterns) add({ path: [], message: `holds more than ${maxPatterns} patterns` });
    const read = found.slice(0, maxPatterns).map((raw, index) => readPart(pattern, raw, [index], add));
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
      maxItems: maxPatterns,
      items: { type: 'string', minLength: 1, maxLength: maxPatternLength },
    },
  },
);

type Choice = { include: Patterns; exclude: Patterns };

/** Returns a function that selects names in `include` (all if empty) and not in `exclude`. */
export function toChoice({ include, exclude }: Choice): (name: string) => boolean {
  return (name) => (include.sources.length === 0 || include.matches(name)) && !exclude.matches(name);
}

type Override = {
  match: Pattern;
  successAgeMs?: number | undefined;
  overdueFactor?: number | undefined;
  critical?: boolean | undefined;
};

/** Returns the overrides of a job: for each field, the first matching entry that has it. */
export function toOverrideChoice(entries: readonly Override[]): {
  successAgeMsOf: (path: string) => number | undefined;
  overdueFactorOf: (path: string) => number | undefined;
  isCritical: (path: string) => boolean;
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
