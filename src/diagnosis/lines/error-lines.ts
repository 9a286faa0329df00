import type { LogLine } from '../../domain/failure-class.ts';
import { isOfServer } from './choose.ts';

/**
 * Finds the lines that report an error, with their stack traces; if there are none, the lines of standard error. Of many lines,
 * returns the first and the last: the first may be the cause of the others, and early errors may be harmless.
 */
export function findErrorLines(lines: readonly LogLine[]): readonly number[] {
  const found: number[] = [];
  let left = 0;
  for (const [index, { text, level }] of lines.entries()) {
    if (isOfServer(text)) continue;
    if (level === 'ERROR' || reportsError(text)) left = maxBelow;
    else if (left > 0 && below.test(text)) left -= 1;
    else left = 0;
    if (left > 0) found.push(index);
  }
  const used = found.length > 0 ? found : lines.flatMap(({ level }, index) => (level === 'WARN' ? [index] : []));
  return used.length <= most ? used : [...used.slice(0, mostFirst), ...used.slice(mostFirst - most)];
}

function reportsError(text: string): boolean {
  return words.test(text.slice(0, maxSearched).replaceAll(none, ''));
}

const words =
  /\b(?:errors?|exception|fatal|traceback|panic(?:ked)?|critical|severe|fail(?:ed|ure|s)?|denied|refused|rejected|aborted|cannot|could not|unable to|no such|not found|killed|segmentation fault|out of memory|timed out)\b|[a-z](?:error|exception)\b/i;
const none = /\b(?:no|0|without) (?:errors?|failures?|failed)\b|\b(?:errors?|failures?|failed)[:=] ?0\b/gi;
const below = /^(?:\s+\S|at |Caused by|\.\.\. \d)/;
const maxSearched = 500;
const maxBelow = 10;
const most = 20;
const mostFirst = 12;
