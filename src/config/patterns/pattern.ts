import type { Parsed } from '../values/duration.ts';
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
