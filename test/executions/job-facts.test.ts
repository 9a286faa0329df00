import { describe, expect, it } from 'vitest';
import { addDuration, type Drift } from '../../src/domain/durations/drift.ts';
import type { Finished } from '../../src/domain/execution.ts';
import type { Flakiness, JobFacts } from '../../src/domain/job.ts';
import { addResult, toFacts, toTypicalDuration } from '../../src/executions/counting/job-facts.ts';
import { toCellKey } from '../../src/executions/counting/totals.ts';
import { fc } from '../support/property.ts';
import { someRun } from './some-execution.ts';

const laterMs = 1_000_000_000;
const labels = { project: 'pay', group: 'nightly', name: 'settle' };

describe('executions/job-facts', () => {
  it('keeps the last success when an earlier failure becomes known', () => {
    const failed = run(2, 20, 'failed');
    expect(factsOf([failed, run(1, 10, 'succeeded')])).toMatchObject({
      lastSuccessMs: 10_000,
      lastEndMs: 20_000,
      lastId: 2,
      lastFailedId: 2,
      lastEnding: 'failed',
      consecutiveFailures: 1,
    });
  });

  it('keeps a failure that becomes known after a later success', () => {
    expect(factsOf([run(2, 20, 'succeeded'), run(1, 10, 'failed')])).toMatchObject({
      lastId: 2,
      lastFailedId: 1,
      lastEnding: 'succeeded',
      consecutiveFailures: 0,
    });
  });

  it('counts only failures after the last success', () => {
    const runs = [run(1, 10, 'failed'), run(2, 20, 'failed'), run(4, 40, 'failed'), run(3, 30, 'succeeded')];
    expect(factsOf(runs)?.consecutiveFailures).toBe(1);
  });

  it('keeps the duration of a run that took no time', () => {
    const long = someRun({ id: 1, startedAtMs: 1000, endedAtMs: 9000 });
    const none = someRun({ id: 2, startedAtMs: 20_000, endedAtMs: 20_000 });
    expect(factsOf([long, none])).toMatchObject({ lastDurationMs: 0, lastDurationOfMs: 20_000 });
  });

  it('uses the latest start of a job', () => {
    const long = someRun({ id: 1, startedAtMs: 1000, endedAtMs: 90_000 });
    const short = someRun({ id: 2, startedAtMs: 50_000, endedAtMs: 60_000 });
    expect(factsOf([long, short])).toMatchObject({ lastStartMs: 50_000, lastEndMs: 90_000, lastDurationMs: 89_000 });
  });

  it('uses the newest known duration', () => {
    const negative = someRun({ id: 3, startedAtMs: 40_000, endedAtMs: 30_000 });
    expect(factsOf([run(1, 10), negative, run(2, 20)])).toMatchObject({ lastEndMs: 30_000, lastDurationOfMs: 20_000 });
  });

  it('has the same result for any order of runs', () => {
    const anyRun = fc.record({ end: fc.integer({ min: 1, max: 30 }), status: fc.constantFrom(...statuses) });
    fc.assert(
      fc.property(fc.array(anyRun, { minLength: 1, maxLength: 12 }), fc.infiniteStream(fc.nat()), (given, random) => {
        const runs = given.map(({ end, status }, index) => run(index + 1, end, status));
        const mixed = runs.toSorted(() => ((random.next().value ?? 0) % 3) - 1);
        const unlike = new Set(given.map(({ end }) => end)).size < given.length;
        fc.pre(!unlike);
        // Late runs are ignored in the search for changes.
        const toOthers = (facts: JobFacts | undefined) => ({ ...facts, drift: undefined, flakiness: undefined });
        const inOrder = factsOf(runs.toSorted((one, other) => one.endedAtMs - other.endedAtMs));
        expect(toOthers(factsOf(mixed))).toEqual(toOthers(inOrder));
      }),
    );
  });

  it('keeps failures without a known end until a success', () => {
    const before: JobFacts = {
      ...labels,
      jobId: 'a-1',
      lastStartMs: 1000,
      lastEndMs: 20_000,
      lastId: 2,
      lastFailedId: 2,
      lastEnding: 'failed',
      consecutiveFailures: 5,
    };
    expect(toFacts(labels, run(1, 10, 'succeeded'), before, laterMs).consecutiveFailures).toBe(5);
    const more = toFacts(labels, run(3, 30, 'failed'), before, laterMs);
    expect(more.consecutiveFailures).toBe(6);
    expect(toFacts(labels, run(4, 40, 'succeeded'), more, laterMs).consecutiveFailures).toBe(0);
    expect(toFacts(labels, run(1, 15, 'failed'), before, laterMs)).toMatchObject({
      lastFailedId: 2,
      consecutiveFailures: 6,
    });
  });

  it.each([2, 24 * 30])('counts failures after a success dated %i h ahead', (aheadHours) => {
    const hourMs = 3_600_000;
    const aheadMs = aheadHours * hourMs;
    const stepped = toFacts(labels, run(1, aheadMs / 1000, 'succeeded'), undefined, aheadMs);
    const early = toFacts(labels, run(1, aheadMs / 1000, 'succeeded'), undefined, 100_000);
    expect(early).toMatchObject({ lastSuccessMs: 100_000, lastEndMs: 100_000 });
    for (const first of [stepped, early]) {
      let facts = first;
      for (const id of [2, 3, 4, 5]) facts = toFacts(labels, run(id, 100 + id, 'failed'), facts, (101 + id) * 1000);
      expect(facts).toMatchObject({ consecutiveFailures: 4, lastId: 5, lastFailedId: 5, lastEndMs: 105_000 });
      expect(facts.lastSuccessMs).toBeLessThan(102_000);
    }
  });

  it('replaces a future-dated last failure by the next failure', () => {
    const ahead = toFacts(labels, run(1, 7200, 'failed'), undefined, 7_200_000);
    expect(toFacts(labels, run(2, 100, 'failed'), ahead, 101_000)).toMatchObject({ lastFailedId: 2 });
  });

  it('ignores a start after the end', () => {
    const never = someRun({ id: 2, startedAtMs: 9_000_000, endedAtMs: 20_000 });
    expect(factsOf([someRun({ id: 1, startedAtMs: 1000, endedAtMs: 9000 }), never])).toMatchObject({
      lastStartMs: 1000,
    });
  });

  it('counts more failures than stored ends', () => {
    const runs = Array.from({ length: 100 }, (_, index) => run(index + 1, index + 1, 'failed'));
    const facts = factsOf(runs);
    expect(facts?.consecutiveFailures).toBe(100);
    expect(facts?.failedMs).toHaveLength(20);
  });
});

const statuses = ['succeeded', 'failed', 'timedout', 'aborted', 'failed-with-retry', 'other'] as const;

function run(id: number, endedAtSeconds: number, status: Finished['status'] = 'succeeded'): Finished {
  return someRun({ id, status, startedAtMs: endedAtSeconds * 1000 - 500, endedAtMs: endedAtSeconds * 1000 });
}

function factsOf(runs: readonly Finished[]): JobFacts | undefined {
  let facts: JobFacts | undefined;
  for (const each of runs) facts = toFacts(labels, each, facts, laterMs);
  return facts;
}

function toDuration(seconds: readonly number[], averageDurationMs?: number): number | undefined {
  let drift: Drift | undefined;
  for (const [index, each] of seconds.entries()) drift = addDuration(drift, each * 1000, index * 3_600_000);
  // This cast is safe, because only these fields are read.
  const facts = { averageDurationMs, drift } as JobFacts;
  return toTypicalDuration({ cells: new Map() }, facts, []);
}

it('uses the duration that 75 % of the last successes did not exceed', () => {
  const quick = Array.from({ length: 100 }, () => 60);
  expect(toDuration(quick)).toBe(60_000);
  expect(toDuration([...quick, ...Array.from({ length: 20 }, (_, index) => 100 + index)])).toBe(114_000);
  // The change is too small to remove the earlier durations.
  expect(toDuration([...quick, ...Array.from({ length: 20 }, (_, index) => 61 + index / 10)])).toBe(62_400);
  expect(toDuration([60, 60, 60], 90_000)).toBe(90_000);
});

it('is computed from buckets without stored durations', () => {
  const cell = {
    kind: 'durations',
    labels: ['pay', '', 'settle', 'succeeded'],
    count: 10,
    buckets: [2, 8, 0],
  } as const;
  const cells = new Map([[toCellKey(cell.kind, cell.labels), { ...cell, isReleased: true }]]);
  // This cast is safe, because only these fields are read.
  const facts = { project: 'pay', group: '', name: 'settle' } as JobFacts;
  expect(toTypicalDuration({ cells }, facts, [10, 30])).toBe(23_750);
  const quick = new Map([...cells].map(([key, full]) => [key, { ...full, buckets: [10, 0, 0] }]));
  expect(toTypicalDuration({ cells: quick }, facts, [10, 30])).toBe(7500);
});

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
    // Aborted and retried runs do not count.
    ['sasasasas', false],
    ['swswswsws', false],
    ['sfsfsssssssss', true],
    ['sfsfsssssssssss', false],
  ] as const)('finds that results change often in %s: %s', (marks, isFlaky) => {
    expect(play(marks)?.isFlaky).toBe(isFlaky);
  });
});
