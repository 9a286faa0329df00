import { describeFound } from '../../domain/complaint.ts';
import { type AddProblem, isMap, structured } from './structure.ts';
import type { ValueType } from './value-type.ts';

export type LabelPair = readonly [name: string, value: string];

const maxLabels = 20;
const maxValueLength = 200;
const namePattern = '^(?!__)[a-zA-Z_][a-zA-Z0-9_]*$';

export const labels: ValueType<readonly LabelPair[], 'plain'> = structured(
  (found, add) => {
    if (!isMap(found)) return undefined;
    const given = Object.entries(found);
    if (given.length > maxLabels) add({ path: [], message: `holds more than ${maxLabels} labels` });
    return given.slice(0, maxLabels).flatMap(([name, value]) => readLabel(name, value, add));
  },
  {
    takes: 'a map of labels',
    example: '{ site: eu }',
    placeholder: 'NAME=VALUE,…',
    fromText: fromPairs,
    format: (pairs) => Object.fromEntries(pairs),
    jsonSchema: {
      type: 'object',
      maxProperties: maxLabels,
      propertyNames: { pattern: namePattern },
      additionalProperties: { type: 'string', minLength: 1, maxLength: maxValueLength },
    },
  },
);

function readLabel(name: string, value: unknown, add: AddProblem): LabelPair[] {
  const path = [name];
  if (name.startsWith('__'))
    add({
      path,
      message: 'begins with __, which is reserved by Prometheus',
      hint: 'choose another name',
      atKey: true,
    });
  else if (!new RegExp(namePattern).test(name))
    add({ path, message: 'is not a label name', hint: 'letters, digits and _, and no digit first', atKey: true });
  if (typeof value !== 'string') {
    const hint = typeof value === 'number' || typeof value === 'boolean' ? `write "${value}"` : undefined;
    add({ path, message: `takes a text, found ${describeFound(value)}`, hint });
    return [];
  }
  if (value === '') add({ path, message: 'is empty', hint: 'a label without a value does not exist: remove it' });
  if (value.length > maxValueLength) add({ path, message: `is longer than ${maxValueLength} characters` });
  return [[name, value]];
}

function fromPairs(text: string): unknown {
  const pairs = text.split(',').map((pair) => /^\s*([^=]*?)\s*=(.*)$/su.exec(pair));
  if (pairs.includes(null)) return text;
  return Object.fromEntries(pairs.map((pair) => [pair?.[1] ?? '', pair?.[2] ?? '']));
}
