import { describe, expect, it } from 'vitest';
import type { Flakiness } from '../../src/domain/job.ts';
import { addResult } from '../../src/executions/counting/flaky.ts';

describe('executions/counting/flaky', () => {
  const play = (marks: string): Flakiness | undefined => {
    let known: Flakiness | undefined;
    for (const mark of marks.split('')) {
      const ending =
        ({ f: 'failed', t: 'timedout', o: 'other', a: 'aborted', w: 'failed-with-retry' } as const)[mark] ??
        'succeeded';
      known = addResult(known, ending, mark === 'r' ? 1 : 0);
    }
    return known;
  };

  it.each([
    ['sfsfs', true],
    ['stsos', true],
    ['ssfss', false],
    [`sf${'s'.repeat(18)}fs`, false],
    ['ffffffss', false],
    ['rsrsr', true],
    ['srsrs', false],
    // Aborted and retried runs prove nothing.
    ['sasasasas', false],
    ['swswswsws', false],
    ['sfsfsssssssss', true],
    ['sfsfsssssssssss', false],
  ] as const)('classifies %s as %s', (marks, isFlaky) => {
    expect(play(marks)?.isFlaky).toBe(isFlaky);
  });
});
