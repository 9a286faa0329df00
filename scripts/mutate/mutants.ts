import { createHash } from 'node:crypto';
import { type Change, changesOf } from './changes.ts';
import { isHarmless } from './harmless.ts';
import { below, type Node, parseSource } from './syntax.ts';

/** One fault in one file. */
export type Mutant = Change & {
  /** An id that does not depend on the line number or the folder. */
  readonly id: string;
  readonly file: string;
  readonly line: number;
  /** The line in which the change begins, without its indentation. */
  readonly code: string;
  readonly original: string;
};

/** Finds every mutant of a file, in the order of its text. */
export function findMutants(file: string, text: string): readonly Mutant[] {
  const changes = [...changesBelow(parseSource(text), [], text)].toSorted((a, b) => a.start - b.start);
  const seen = new Map<string, number>();
  return withoutTwins(changes).map((change) => {
    const place = placeOf(change.start, text);
    const original = text.slice(change.start, change.end);
    const key = [withoutFolders(file), place.code, place.column, original, change.replacement].join('\n');
    const before = seen.get(key) ?? 0;
    seen.set(key, before + 1);
    return {
      ...change,
      id: digest(`${key}\n${before}`).slice(0, 8),
      file,
      line: place.line,
      code: place.code,
      original,
    };
  });
}

function withoutFolders(file: string): string {
  return file.replace(/^(src\/[^/]+\/).*\//, '$1');
}

/** Returns the text with the fault. */
export function applyChange(text: string, { start, end, replacement }: Change): string {
  return text.slice(0, start) + replacement + text.slice(end);
}

/** Returns this many mutants, the same ones for the same seed; changes of other code do not change the choice. */
export function sampleOf(mutants: readonly Mutant[], size: number, seed: number): readonly Mutant[] {
  const keyed = mutants.map((mutant) => ({ mutant, key: digest(`${seed}\n${mutant.id}`) }));
  const chosen = keyed.toSorted((a, b) => (a.key < b.key ? -1 : 1)).slice(0, size);
  return chosen
    .map(({ mutant }) => mutant)
    .toSorted((a, b) => (a.file === b.file ? a.start - b.start : a.file < b.file ? -1 : 1));
}

export function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

function* changesBelow(node: Node, above: readonly Node[], text: string): Generator<Change> {
  if (isHarmless(node, above.at(-1))) return;
  yield* changesOf(node, above, text);
  for (const next of below(node)) yield* changesBelow(next, [...above, node], text);
}

// Removes equal mutants: two rules negate `!a` as a condition.
function withoutTwins(changes: readonly Change[]): readonly Change[] {
  const unique = new Map(changes.map((change) => [`${change.start} ${change.end} ${change.replacement}`, change]));
  return [...unique.values()];
}

function placeOf(offset: number, text: string): { line: number; column: number; code: string } {
  const before = text.lastIndexOf('\n', offset - 1) + 1;
  const after = text.indexOf('\n', offset);
  const whole = text.slice(before, after < 0 ? undefined : after);
  const code = whole.trim();
  return { line: text.slice(0, before).split('\n').length, column: offset - before - whole.indexOf(code), code };
}
