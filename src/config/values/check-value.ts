import type * as z from 'zod';
import { describeFound } from '../complaint.ts';
import type { ValueType } from './value-type.ts';

/** A fault of a value: its place within the value, and the right form. */
export type Problem = {
  readonly path: readonly PropertyKey[];
  /** True if it is the key at that place that is wrong, not its value. */
  readonly atKey: boolean;
  readonly message: string;
  readonly hint: string | undefined;
};

/** The value as its type reads it, or all that is wrong with it. */
export function checkValue<T>(
  type: ValueType<T>,
  raw: unknown,
): { readonly value: T } | { readonly problems: readonly Problem[] } {
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

// Only our own checks speak for themselves; the library's words are replaced by what the option takes.
function describeIssue(issue: z.core.$ZodIssue): string | undefined {
  return issue.code === 'custom' ? issue.message : undefined;
}

function toHint(issue: z.core.$ZodIssue): string | undefined {
  const hint: unknown = issue.code === 'custom' ? issue.params?.['hint'] : undefined;
  return typeof hint === 'string' ? hint : undefined;
}
