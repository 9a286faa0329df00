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

  it('uses the latest start of a job', () => {
    const long = someRun({ id: 1, startedAtMs: 1000, endedAtMs: 90_000 });
    const short = someRun({ id: 2, startedAtMs: 50_000, endedAtMs: 60_000 });
    expect(factsOf([long, short])).toMatchObject({ lastStartMs: 50_000, lastEndMs: 90_000, lastDurationMs: 89_000 });
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

  const known: JobFacts = {
    ...labels,
    jobId: 'a-1',
    lastStartMs: 19_500,
    lastEndMs: 20_000,
    lastSuccessMs: 20_000,
    lastDurationMs: 500,
    lastDurationOfMs: 20_000,
    lastId: 5,
    lastFailedId: 4,
    lastFailedMs: 10_000,
    lastEnding: 'succeeded',
    consecutiveFailures: 0,
  };
  const failing = { lastSuccessMs: 1000, failedMs: [30_000, 25_000], consecutiveFailures: 5 };
  const failed = { status: 'failed' } as const;
  const older = { ...failed, endedAtMs: 19_999 };
  const names = { name: 'settle', group: '', averageDurationMs: undefined };
  const drift = addDuration(undefined, 9000, 10_000);
  const flakiness = { marks: 'sf', isFlaky: true };
  const lastFailure = { id: 4 } as unknown as NonNullable<JobFacts['lastFailure']>;
  it.each<[string, Partial<Finished>, Partial<JobFacts>, Partial<JobFacts>]>([
    ['an end 5 min ahead', { endedAtMs: 330_000 }, {}, { lastEndMs: 330_000, lastSuccessMs: 330_000 }],
    ['an end further ahead', { endedAtMs: 330_001 }, {}, { lastEndMs: 30_000, lastSuccessMs: 30_000 }],
    ['an end after one far ahead', {}, { lastEndMs: 330_001 }, { lastEndMs: 30_000, lastId: 6 }],
    ['an end after one 5 min ahead', {}, { lastEndMs: 330_000 }, { lastEndMs: 330_000, lastId: 5 }],
    ['a known end far ahead', { id: 5 }, { lastEndMs: 330_001 }, { lastEndMs: 330_001, lastId: 5 }],
    ['a start after one far ahead', {}, { lastStartMs: 330_001 }, { lastStartMs: 29_999 }],
    ['a failure after a success far ahead', failed, { lastSuccessMs: 330_001 }, { lastSuccessMs: 29_999 }],
    ['a success after a failure far ahead', {}, { lastFailedMs: 330_001 }, { lastFailedMs: 29_999 }],
    ['a failure after one far ahead', failed, { failedMs: [330_001] }, { failedMs: [30_000, 29_999] }],
    [
      'no duration after one far ahead',
      { lacksStart: true },
      { lastDurationOfMs: 330_001 },
      { lastDurationOfMs: 29_999 },
    ],

    ['a later id with the same end', { endedAtMs: 20_000 }, {}, { lastId: 6 }],
    ['an earlier id with the same end', { id: 4, endedAtMs: 20_000 }, {}, { lastId: 5 }],
    ['the same id with the same end', { ...failed, id: 5, endedAtMs: 20_000 }, {}, { lastEnding: 'succeeded' }],
    ['an earlier end', { endedAtMs: 19_999 }, {}, { lastId: 5, lastEndMs: 20_000 }],

    ['no time', { startedAtMs: 30_000 }, {}, { lastStartMs: 30_000, lastDurationMs: 0, lastDurationOfMs: 30_000 }],
    ['a start after the end', { startedAtMs: 30_001 }, {}, { lastStartMs: 19_500, lastDurationMs: 500 }],
    ['no start', { lacksStart: true }, {}, { lastStartMs: 19_500, lastDurationMs: 500, lastDurationOfMs: 20_000 }],
    ['a duration at the same end', { startedAtMs: 19_900, endedAtMs: 20_000 }, {}, { lastDurationMs: 100 }],
    ['a duration at an earlier end', { startedAtMs: 19_900, endedAtMs: 19_999 }, {}, { lastDurationMs: 500 }],
    [
      'a duration before one without a time',
      { startedAtMs: 19_900, endedAtMs: 19_999 },
      { lastDurationOfMs: undefined },
      { lastDurationMs: 500, lastDurationOfMs: 20_000 },
    ],
    [
      'the first duration',
      { startedAtMs: 900, endedAtMs: 1000 },
      { lastDurationMs: undefined, lastDurationOfMs: undefined },
      { lastDurationMs: 100, lastDurationOfMs: 1000 },
    ],

    ['a failure as late as the last', { ...failed, id: 3, endedAtMs: 10_000 }, {}, { lastFailedId: 3 }],
    ['an earlier failure', { ...failed, endedAtMs: 9999 }, {}, { lastFailedId: 4, lastFailedMs: 10_000 }],
    [
      'the same failure',
      { ...failed, id: 4 },
      { lastFailedMs: undefined },
      { lastFailedId: 4, lastFailedMs: undefined },
    ],
    ['a later failure', { ...failed, id: 5 }, { lastFailedMs: undefined }, { lastFailedId: 5, lastFailedMs: 30_000 }],
    [
      'the first failure',
      { ...failed, id: 1 },
      { lastFailedId: undefined, lastFailedMs: undefined },
      { lastFailedId: 1 },
    ],

    ['a failure as late as a success', { ...failed, endedAtMs: 20_000 }, {}, { consecutiveFailures: 1 }],
    ['a failure before a success', { ...failed, id: 4, endedAtMs: 20_000 }, {}, { consecutiveFailures: 0 }],
    [
      'a success before all failures',
      { endedAtMs: 15_000 },
      { ...failing, lastEndMs: 30_000 },
      { consecutiveFailures: 5 },
    ],
    ['a success after one', { endedAtMs: 25_000 }, { ...failing, lastEndMs: 30_000 }, { consecutiveFailures: 1 }],
    [
      'a success before another',
      { endedAtMs: 25_000 },
      { ...failing, lastSuccessMs: 25_001 },
      { consecutiveFailures: 5 },
    ],
    [
      'a success as late as another',
      { endedAtMs: 25_000 },
      { ...failing, lastSuccessMs: 25_000 },
      { consecutiveFailures: 1 },
    ],
    ['a success after unknown failures', {}, { consecutiveFailures: 5 }, { consecutiveFailures: 0 }],
    ['a success after all failures', {}, failing, { consecutiveFailures: 0, failedMs: [] }],
    ['an aborted run', { status: 'aborted' }, failing, { consecutiveFailures: 5 }],

    ['a duration', {}, {}, { drift: addDuration(undefined, 1000, 30_000), flakiness: { marks: 's', isFlaky: false } }],
    ['a duration of no time', { startedAtMs: 30_000 }, {}, { drift: addDuration(undefined, 0, 30_000) }],
    ['a duration that is negative', { startedAtMs: 30_001 }, { drift }, { drift }],
    ['a duration without a start', { lacksStart: true }, { drift }, { drift }],
    ['a duration of a failure', failed, { drift }, { drift, flakiness: { marks: 'f', isFlaky: false } }],
    ['a duration of an earlier run', { endedAtMs: 19_999 }, { drift, flakiness }, { drift, flakiness }],

    ['a job', { job: { ...names, id: 'b', averageDurationMs: 7 } }, {}, { jobId: 'b', averageDurationMs: 7 }],
    ['a job without an average', { job: { ...names, id: 'b' } }, { averageDurationMs: 3 }, { averageDurationMs: 3 }],
    ['no job', { job: undefined }, { averageDurationMs: 3 }, { jobId: 'a-1', averageDurationMs: 3 }],
    ['an earlier job', { ...older, job: { ...names, id: 'b' } }, {}, { jobId: 'a-1', averageDurationMs: undefined }],
    [
      'an earlier job that is the only known one',
      { ...older, job: { ...names, id: 'b', averageDurationMs: 7 } },
      { jobId: undefined },
      { jobId: 'b', averageDurationMs: 7 },
    ],
    ['an earlier run', older, {}, { lastEnding: 'succeeded' }],
    ['a run after a failure that is explained', {}, { lastFailure }, { lastFailure }],
  ])('updates facts with %s', (_what, fields, before, after) => {
    const run = someRun({ id: 6, startedAtMs: 29_000, endedAtMs: 30_000, ...fields });
    expect(toFacts(labels, run, { ...known, ...before }, 30_000)).toMatchObject(after);
  });

  it('counts failures in a row beyond the number of stored ends', () => {
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

it('takes the duration that 75 % of the last successes did not exceed as the usual one', () => {
  const quick = Array.from({ length: 100 }, () => 60);
  expect(toDuration(quick)).toBe(60_000);
  expect(toDuration([...quick, ...Array.from({ length: 20 }, (_, index) => 100 + index)])).toBe(114_000);
  // The change is too small to remove the earlier durations.
  expect(toDuration([...quick, ...Array.from({ length: 20 }, (_, index) => 61 + index / 10)])).toBe(62_400);
  expect(toDuration([60, 60, 60], 90_000)).toBe(90_000);
  expect(toDuration([10, 40, 20, 30], 90_000)).toBe(30_000);
});

it('computes the usual duration from buckets if no durations are stored', () => {
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
  const few = new Map([...cells].map(([key, full]) => [key, { ...full, count: 3, buckets: [3, 0, 0] }]));
  expect(toTypicalDuration({ cells: few }, { ...facts, averageDurationMs: 5 }, [10, 30])).toBe(5);
  const four = new Map([...cells].map(([key, full]) => [key, { ...full, count: 4, buckets: [3, 1, 0] }]));
  expect(toTypicalDuration({ cells: four }, facts, [10, 30])).toBe(10_000);
  const slow = new Map([...cells].map(([key, full]) => [key, { ...full, buckets: [2, 0, 8] }]));
  expect(toTypicalDuration({ cells: slow }, { ...facts, averageDurationMs: 5 }, [10, 30])).toBe(5);
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
