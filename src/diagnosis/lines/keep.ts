import type { FirstCause, LogLine } from '../../domain/failure-class.ts';
import { linesOfStep } from './choose.ts';
import { withoutAnsi } from './normalise.ts';
import type { Scrub } from './scrub.ts';

/** The lines of a failure that may be shown and sent, and what was left out of them. */
export type KeptLines = {
  readonly lines: readonly LogLine[];
  /** The number of older lines of the step that were left out. */
  readonly leftOut: number;
  /** The number of removed secrets. */
  readonly removed: number;
};

/**
 * Keeps the last lines of the failed step, as many of each node where it failed; of the whole log if it names no step.
 * Secrets are removed first.
 */
export function keepLines(
  lines: readonly LogLine[],
  cause: Pick<FirstCause, 'node' | 'context' | 'others'>,
  scrub: Scrub,
): KeptLines {
  const filled = lines.filter(({ text }) => text.trim() !== '');
  const own = linesOfStep(filled, cause);
  // A line without a node is of the first one only.
  const others = (cause.others ?? []).map((place) =>
    linesOfStep(filled, place).filter(({ node }) => node !== undefined),
  );
  const ofNodes = [own, ...others].filter(({ length }) => length > 0);
  let removed = 0;
  const said = (ofNodes.length > 0 ? ofNodes : [filled]).flatMap((lines) => {
    // All lines of a node: a private key may begin above the first one that is kept, and lines of other nodes be between.
    const clean = scrub(lines.map(({ text }) => withoutAnsi(text).replaceAll(controls, '').toWellFormed()));
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

/** Other control characters, and what chooses a character set: within a name, they would hide it from the search. */
const controls = /[^\P{Cc}\t\r\n](?:[()][0AB])?/gu;

/** A long line must not leave out all others. */
function shorten(text: string): string {
  return text.length > maxLength ? `${text.slice(0, maxLength - 1).toWellFormed()}…` : text;
}

const maxLength = 2000;
const maxLines = 50;
const maxBytes = 16 * 1024;
