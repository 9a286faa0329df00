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

/** Keeps the last lines of the failed step; of the whole log if it names no step. Secrets are removed first. */
export function keepLines(
  lines: readonly LogLine[],
  cause: Pick<FirstCause, 'node' | 'context'>,
  scrub: Scrub,
): KeptLines {
  const filled = lines.filter(({ text }) => text.trim() !== '');
  const ofStep = linesOfStep(filled, cause);
  const said = ofStep.length > 0 ? ofStep : filled;
  // All of them: a private key may begin above the first line that is kept.
  const { texts, removed } = scrub(said.map(({ text }) => withoutAnsi(text).toWellFormed()));
  const kept: LogLine[] = [];
  let bytes = 0;
  for (const [index, line] of [...said.entries()].reverse()) {
    const text = texts[index] ?? '';
    bytes += Buffer.byteLength(text);
    if (kept.length === maxLines || bytes > maxBytes) break;
    kept.unshift({ ...line, text });
  }
  return { lines: kept, leftOut: said.length - kept.length, removed };
}

const maxLines = 50;
const maxBytes = 16 * 1024;
