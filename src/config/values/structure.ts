import * as z from 'zod';
import { describeFound } from '../../domain/complaint.ts';
import { checkValue, type Problem, type ValueType } from './value-type.ts';

/** Records a problem at a place within a value. */
export type AddProblem = (problem: Pick<Problem, 'path' | 'message'> & Partial<Problem>) => void;

type About<T> = Pick<ValueType<T>, 'takes' | 'placeholder' | 'fromText' | 'format'> & {
  example: string;
  jsonSchema: JsonSchema;
};
type Issue = { code: 'custom'; path?: PropertyKey[]; message: string; params: Readonly<Record<string, unknown>> };
type JsonSchema = Readonly<Record<string, unknown>>;

/** Declares a type of lists or maps: `read` complains about each part at its own place, and ignores a value of another type. */
export function structured<T>(
  read: (found: unknown, add: AddProblem) => T | undefined,
  { example, jsonSchema, ...about }: About<T>,
): ValueType<T, 'plain'> {
  const schema = z
    .unknown()
    .meta(jsonSchema)
    .transform((found, context): T => {
      const problems: Issue[] = [];
      const value = read(found, ({ path, message, hint, atKey }) => {
        problems.push({ code: 'custom', path: [...path], message, params: { hint, atKey } });
      });
      if (value !== undefined && problems.length === 0) return value;
      const message = `takes ${about.takes}, found ${describeFound(found)}`;
      const whole = { code: 'custom', message, params: { hint: `for example ${example}` } } satisfies Issue;
      for (const problem of problems.length === 0 ? [whole] : problems) context.addIssue(problem);
      return z.NEVER;
    });
  return { kind: 'plain', schema, examples: [], hint: () => undefined, ...about };
}

export function readPart<T>(
  type: ValueType<T>,
  raw: unknown,
  path: readonly PropertyKey[],
  add: AddProblem,
): T | undefined {
  const checked = checkValue(type, raw);
  if ('value' in checked) return checked.value;
  for (const problem of checked.problems) add({ ...problem, path: [...path, ...problem.path] });
  return undefined;
}

/** Returns the JSON Schema of a type as it is written in the file. */
export function toInputSchema(type: ValueType<unknown>): JsonSchema {
  const { $schema: _, ...schema } = z.toJSONSchema(type.schema, { io: 'input' });
  return schema;
}

/** A map from YAML or JSON. */
export function isMap(found: unknown): found is Readonly<Record<string, unknown>> {
  return typeof found === 'object' && found !== null && !Array.isArray(found);
}
