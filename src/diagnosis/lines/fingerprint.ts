import { createHmac } from 'node:crypto';
import { normalise } from './normalise.ts';

/**
 * Returns the same text for the same kind of failure with other values. Without the key, the text does not show whether a line
 * was in a log. Undefined if the lines have no content.
 */
export function toFingerprint(texts: readonly string[], key: string): string | undefined {
  const plain = texts.flatMap((text) => text.split('\n')).map(normalise);
  // Stack traces of the same failure differ, and a line may be repeated any number of times.
  const kept = new Set(plain.filter((line) => /[\p{L}]{2}/u.test(line) && !isFrame(line)));
  const content = kept.size > 0 ? [...kept] : plain.filter((line) => line !== '');
  if (content.length === 0) return undefined;
  return `v1:${createHmac('sha256', key).update(content.join('\n')).digest('hex').slice(0, 16)}`;
}

function isFrame(line: string): boolean {
  return /^(?:at [\w$.<]|File <quoted>, line|\.{3} <n> (?:more|common)|from <|\^+$)/.test(line);
}
