import { describe, expect, it } from 'vitest';
import { addKnown, type Known, refresh } from '../../src/diagnosis/lines/seen.ts';
import type { Seen } from '../../src/domain/failure-class.ts';

describe('diagnosis/lines/seen', () => {
  it.each([
    ['in order', [1, 2, 3, 4]],
    ['the newest first', [4, 3, 2, 1]],
    ['out of order', [1, 4, 2, 3]],
  ])('numbers failures by their ends, when they become known %s', (_, ends) => {
    let known: readonly Known[] = [];
    const first = new Map<number, Seen>();
    for (const end of ends) {
      const added = addKnown(known, 'v1:a', end);
      known = added.known;
      first.set(end, added.seen);
    }
    const now = [1, 2, 3, 4].map((end) =>
      refresh(first.get(end) ?? { fingerprint: '', firstMs: 0, count: 0 }, known, end),
    );
    expect(now).toEqual(
      [1, 2, 3, 4].map((end) => ({
        fingerprint: 'v1:a',
        firstMs: 1,
        count: end,
        beforeMs: end === 1 ? undefined : end - 1,
      })),
    );
  });

  it('continues a state of an earlier release', () => {
    const { seen } = addKnown([{ fingerprint: 'v1:a', firstMs: 1, lastMs: 5, count: 3 }], 'v1:a', 6);
    expect(seen).toEqual({ fingerprint: 'v1:a', firstMs: 1, count: 4, beforeMs: 5 });
  });
});
