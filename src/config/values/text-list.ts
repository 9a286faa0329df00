import { describeFound } from '../complaint.ts';
import { structured } from './structure.ts';
import type { ValueType } from './value-type.ts';

const mostTexts = 100;
const longestText = 200;

/** A list of names; a flag or a variable parts them by commas. */
export const textList: ValueType<readonly string[], 'plain'> = structured(
  (found, add) => {
    if (!Array.isArray(found)) return undefined;
    if (found.length > mostTexts) add({ path: [], message: `holds more than ${mostTexts} names` });
    return found.slice(0, mostTexts).flatMap((text: unknown, index) => {
      if (typeof text === 'string' && text !== '' && text.length <= longestText) return [text];
      add({ path: [index], message: `takes a text, found ${describeFound(text)}` });
      return [];
    });
  },
  {
    takes: 'a list of names',
    example: '[version, region]',
    placeholder: 'NAME,…',
    fromText: (text) => text.split(','),
    format: (texts) => texts,
    jsonSchema: {
      type: 'array',
      maxItems: mostTexts,
      items: { type: 'string', minLength: 1, maxLength: longestText },
    },
  },
);
