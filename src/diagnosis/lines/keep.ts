import type { FirstCause, LogLine } from '../../domain/failure-class.ts';
import { linesOfStep } from './choose.ts';
import { toShown, withoutAnsi } from './normalise.ts';
import type { Scrub } from './scrub.ts';

/** The lines of a failure that may be shown and sent, and how many were omitted. */
export type KeptLines = {
  readonly lines: readonly LogLine[];
  /** The number of older lines of the step that were omitted. */
  readonly leftOut: number;
  /** The number of removed secrets. */
  readonly removed: number;
};

/**
 * Keeps the last lines of the failed step, the same number for each node where it failed; if the log names no step, lines of
 * the whole log. Secrets are removed first.
 */
export function keepLines(
  lines: readonly LogLine[],
  cause: Pick<FirstCause, 'node' | 'context' | 'others'>,
  scrub: Scrub,
): KeptLines {
  const filled = lines.filter(({ text }) => text.trim() !== '');
  const own = linesOfStep(filled, cause);
  // A line without a node counts only for the first node.
  const others = (cause.others ?? []).map((place) =>
    linesOfStep(filled, place).filter(({ node }) => node !== undefined),
  );
  const ofNodes = [own, ...others].filter(({ length }) => length > 0);
  let removed = 0;
  const said = (ofNodes.length > 0 ? ofNodes : [filled]).flatMap((lines) => {
    // All lines of a node are scrubbed: a private key may begin above the first kept line, and lines of other nodes may be in
    // between.
    const clean = scrub(lines.map(({ text }) => withoutAnsi(toShown(text)).replaceAll(controls, '').toWellFormed()));
    removed += clean.removed;
    return lines.map((line, index) => ({ line, text: shorten(clean.texts[index] ?? ''), newer: lines.length - index }));
  });
  const kept = new Map<LogLine, LogLine>();
  let bytes = 0;
  for (const { line, text } of said.toSorted((one, other) => one.newer - other.newer)) {
    bytes += Buffer.byteLength(text);
    if (kept.size === maxLines || bytes > maxBytes) break;
    kept.set(line, { ...line, text });
  }
  return { lines: filled.flatMap((line) => kept.get(line) ?? []), leftOut: said.length - kept.size, removed };
}

/** Other control characters, and codes that choose a character set: inside a name, they would hide a secret from the search. */
const controls = /[^\P{Cc}\t\n](?:[()][0AB])?/gu;

/** One long line must not use up the limit of all lines. */
function shorten(text: string): string {
  return text.length > maxLength ? `${text.slice(0, maxLength - 1).toWellFormed()}…` : text;
}

const maxLength = 2000;
const maxLines = 50;
const maxBytes = 16 * 1024;
