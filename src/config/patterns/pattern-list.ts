import { readPart, structured } from '../values/structure.ts';
import { parsedText, type ValueType } from '../values/value-type.ts';
import { longestPattern, type Pattern, parsePattern } from './pattern.ts';

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
