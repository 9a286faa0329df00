import { expect, it } from 'vitest';
import { addDuration, type Drift } from '../../src/domain/durations/drift.ts';
import { toTypicalDuration } from '../../src/executions/counting/job-facts.ts';
import { type JobFacts, toJobKey } from '../../src/executions/counting/totals.ts';

const job = ['pay', 'nightly', 'settle'] as const;

function toDuration(seconds: readonly number[], averageDurationMs?: number): number | undefined {
  let drift: Drift | undefined;
  for (const [index, each] of seconds.entries()) drift = addDuration(drift, each * 1000, index * 3_600_000);
  // This cast is safe, because only these fields are read.
  const facts = { averageDurationMs, drift } as JobFacts;
  return toTypicalDuration({ cells: new Map(), jobs: new Map([[toJobKey(...job), facts]]) }, job, []);
}

it('is the duration that 75 % of the last twenty successes did not exceed, because earlier ones may have been faster', () => {
  const quick = Array.from({ length: 100 }, () => 60);
  expect(toDuration(quick)).toBe(60_000);
  expect(toDuration([...quick, ...Array.from({ length: 20 }, (_, index) => 100 + index)])).toBe(114_000);
  // Too small a change to be lasting, which would drop the earlier durations.
  expect(toDuration([...quick, ...Array.from({ length: 20 }, (_, index) => 61 + index / 10)])).toBe(62_400);
  expect(toDuration([60, 60, 60], 90_000)).toBe(90_000);
});
