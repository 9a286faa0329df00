import { describe, expect, it } from 'vitest';
import { planPrune } from '../../src/executions/ledger/upkeep.ts';

const hourMs = 3_600_000;

describe('executions/prune', () => {
  it.each([
    ['nothing for less than a minute', 59_999, 0, 0],
    ['all of it where it is little', 120_000, 0, 120_000],
    ['an hour at most', 5 * hourMs, 0.0001, 3_600_000],
    ['no more than two thousand entries', 5 * hourMs, 40_000 / hourMs, 112_500],
    ['more than that if it ended within a millisecond', 5 * hourMs, 3000, 1],
  ])('prunes %s', async (_name, throughMs, entriesPerMs, prunedThroughMs) => {
    const countEnds = async (_server: string, { beginMs, endMs }: { beginMs: number; endMs: number }) =>
      Math.floor((endMs - beginMs + 1) * entriesPerMs);
    expect(await planPrune({ countEnds }, 'upstream', { project: 'pay', fromMs: 0 }, throughMs)).toBe(prunedThroughMs);
  });
});
