import { describe, expect, it } from 'vitest';
import type { Finished } from '../../src/domain/execution.ts';
import { type Measured, type MeasureRules, measure } from '../../src/executions/counting/measure.ts';
import { createSeriesSlots, type Room, type Totals } from '../../src/executions/counting/series-slots.ts';
import { toCellKey, toJobKey } from '../../src/executions/counting/totals.ts';
import { someRun } from './some-execution.ts';

describe('executions/measure', () => {
  it('counts a run by job and status, with the other statuses at 0', () => {
    expect(linesOf(measured([someRun({ status: 'failed' })]), 'runs')).toEqual([
      'runs pay|nightly|settle|succeeded 0',
      'runs pay|nightly|settle|failed 1',
      'runs pay|nightly|settle|aborted 0',
      'runs pay|nightly|settle|timedout 0',
      'runs pay|nightly|settle|failed-with-retry 0',
      'runs pay|nightly|settle|missed 0',
      'runs pay|nightly|settle|other 0',
    ]);
  });

  it('adds to earlier counts', () => {
    const totals = someTotals();
    keep(totals, measure(totals, 'pay', [someRun()], rules));
    const before = JSON.stringify([...totals.cells]);
    const next = measure(totals, 'pay', [someRun({ id: 2 }), someRun({ id: 3 })], rules);
    expect(JSON.stringify([...totals.cells])).toBe(before);
    expect(next.cells.get(toCellKey('runs', ['pay', 'nightly', 'settle', 'succeeded']))?.count).toBe(3);
  });

  it('changes only the cells of the counted runs', () => {
    const totals = someTotals();
    keep(totals, measure(totals, 'pay', [someRun()], rules));
    const next = measure(totals, 'pay', [someRun({ id: 2 })], rules);
    expect([...next.cells.values()].map(({ kind, labels }) => `${kind} ${labels.join('|')}`)).toEqual([
      'runs pay|nightly|settle|succeeded',
      'durations pay|nightly|settle|succeeded',
      'project-runs pay|user|succeeded',
    ]);
  });

  it('counts runs by trigger, with the other statuses at 0', () => {
    const types = ['user', 'scheduled', 'user-scheduled', 'webhook', 'a plugin', undefined];
    const lines = linesOf(measured(types.map((type, index) => someRun({ id: index + 1, type }))), 'project-runs');
    expect(lines).toHaveLength(35);
    expect(lines.filter((line) => !line.endsWith(' 0'))).toEqual([
      'project-runs pay|user|succeeded 1',
      'project-runs pay|scheduled|succeeded 1',
      'project-runs pay|user-scheduled|succeeded 1',
      'project-runs pay|webhook|succeeded 1',
      'project-runs pay|other|succeeded 2',
    ]);
  });

  it('counts each attempt once, with its own status', () => {
    const attempts = [
      someRun({ id: 1, status: 'failed-with-retry', nextAttemptId: 2 }),
      someRun({ id: 2, status: 'failed-with-retry', attempt: 1, nextAttemptId: 3 }),
      someRun({ id: 3, attempt: 2 }),
    ];
    for (const [kind, owner] of [
      ['runs', 'pay|nightly|settle'],
      ['project-runs', 'pay|user'],
    ] as const)
      expect(linesOf(measured(attempts), kind).filter((line) => !line.endsWith(' 0'))).toEqual([
        `${kind} ${owner}|succeeded 1`,
        `${kind} ${owner}|failed-with-retry 2`,
      ]);
  });

  it('puts durations, in milliseconds, into the right buckets', () => {
    const runs = [1000, 1001, 10_000, 70_000].map((tookMs, id) => took(tookMs, id));
    expect(linesOf(measured(runs), 'durations')).toEqual([
      'durations pay|nightly|settle|succeeded 4 in 1,2,1 of 82.001 s',
    ]);
  });

  it('counts a run with a negative duration', () => {
    const found = measured([took(-1, 1), took(500, 2)]);
    expect(found.unmeasured).toEqual({ negative: 1, no_start: 0 });
    expect(linesOf(found, 'runs')[0]).toBe('runs pay|nightly|settle|succeeded 2');
    expect(linesOf(found, 'durations')).toEqual(['durations pay|nightly|settle|succeeded 1 in 1,0,0 of 0.5 s']);
    expect(found.jobs.get(toJobKey('pay', 'nightly', 'settle'))?.lastDurationMs).toBe(500);
  });

  it('counts a run without a start', () => {
    const found = measured([
      took(500, 1),
      someRun({ id: 2, startedAtMs: 200_000, endedAtMs: 200_000, lacksStart: true }),
    ]);
    expect(found.unmeasured).toEqual({ negative: 0, no_start: 1 });
    expect(linesOf(found, 'runs')[0]).toBe('runs pay|nightly|settle|succeeded 2');
    expect(linesOf(found, 'durations')).toEqual(['durations pay|nightly|settle|succeeded 1 in 1,0,0 of 0.5 s']);
    expect(found.jobs.get(toJobKey('pay', 'nightly', 'settle'))?.lastDurationMs).toBe(500);
  });

  it('counts nodes by result, and failures by node', () => {
    const found = measured([
      someRun({ succeededNodes: 3, failedNodes: ['web01', 'web02'] }),
      someRun({ failedNodes: ['web01'] }),
    ]);
    expect([...linesOf(found, 'nodes'), ...linesOf(found, 'node-failures')]).toEqual([
      'nodes pay|nightly|settle|succeeded 3',
      'nodes pay|nightly|settle|failed 3',
      'node-failures pay|web01 2',
      'node-failures pay|web02 1',
    ]);
  });

  it('counts ad hoc runs under empty names', () => {
    const found = measured([someRun({ job: undefined })]);
    expect(linesOf(found, 'runs')[0]).toBe('runs pay|||succeeded 1');
    expect(linesOf(found, 'durations')).toEqual(['durations pay|||succeeded 1 in 0,1,0 of 5 s']);
    expect(found.jobs.size).toBe(0);
  });

  it('counts deleted jobs under the name for deleted jobs', () => {
    const found = measured([someRun({ job: undefined, isJobDeleted: true })]);
    expect(linesOf(found, 'runs')[0]).toBe('runs pay||__deleted__|succeeded 1');
    expect(found.jobs.size).toBe(0);
  });

  it('keeps the durations of the first jobs separate', () => {
    const found = measured([named('a', 1), named('b', 2), named('c', 3), named('a', 4)], { ...ample, durations: 2 });
    expect(linesOf(found, 'durations')).toEqual([
      'durations pay||a|succeeded 2 in 0,2,0 of 10 s',
      'durations pay||b|succeeded 1 in 0,1,0 of 5 s',
      'durations pay||__other__|succeeded 1 in 0,1,0 of 5 s',
    ]);
    expect(found.jobs.has(toJobKey('pay', '', 'c'))).toBe(true);
    expect([...found.claims.refused.jobs]).toEqual([]);
  });

  it('counts jobs beyond the cap together, without facts', () => {
    const found = measured([named('a', 1), named('b', 2), named('b', 3)], { ...ample, jobs: 1 });
    expect(linesOf(found, 'runs').filter((line) => !line.endsWith(' 0'))).toEqual([
      'runs pay||a|succeeded 1',
      'runs pay||__other__|succeeded 2',
    ]);
    expect(found.jobs.has(toJobKey('pay', '', 'b'))).toBe(false);
    expect([...found.claims.refused.jobs]).toEqual([toJobKey('pay', '', 'b')]);
  });

  it('counts runs in `__other__` after their job lost its slot', () => {
    const totals = someTotals({ ...ample, jobs: 1 });
    keep(totals, measure(totals, 'pay', [named('a', 1)], rules));
    const key = toJobKey('pay', '', 'a');
    const facts = totals.jobs.get(key);
    totals.jobs.set(key, { ...(facts ?? fail()), leftOut: 'all' });
    totals.slots.leave('jobs', key);
    totals.slots.leave('durations', key);
    keep(totals, measure(totals, 'pay', [named('b', 2)], rules));
    const without = measure(totals, 'pay', [{ ...named('a', 3), status: 'failed', endedAtMs: 200_000 }], rules);
    expect(linesOf(without, 'runs').filter((line) => !line.endsWith(' 0'))).toEqual(['runs pay||__other__|failed 1']);
    expect(without.jobs.get(key)).toMatchObject({ lastId: 3, consecutiveFailures: 1, leftOut: 'all' });
    totals.slots.setRoom({ ...ample, jobs: 2 });
    const again = measure(totals, 'pay', [{ ...named('a', 4), endedAtMs: 300_000 }], rules);
    expect(linesOf(again, 'runs')).toEqual(['runs pay||a|succeeded 2']);
    expect(again.jobs.get(key)?.leftOut).toBeUndefined();
  });

  it('counts nodes beyond the cap together', () => {
    const found = measured([someRun({ failedNodes: ['web01', 'web02', 'web03'] })], { ...ample, nodes: 1 });
    expect(linesOf(found, 'node-failures')).toEqual(['node-failures pay|web01 1', 'node-failures pay|__other__ 2']);
  });

  it.each([
    ['failed, timedout and other one after the other', ['failed', 'timedout', 'other'], 3],
    ['nothing after a success', ['failed', 'failed', 'succeeded'], 0],
    [
      'no attempt that is retried, no cancellation, nothing missed',
      ['failed', 'aborted', 'failed-with-retry', 'missed'],
      1,
    ],
    ['failures with a cancellation between them', ['failed', 'aborted', 'failed'], 2],
  ] as const)('counts failures in a row: %s', (_name, statuses, failures) => {
    const runs = statuses.map((status, index) => someRun({ id: index + 1, status, endedAtMs: 105_000 + index }));
    expect(factsOf(measured(runs))?.consecutiveFailures).toBe(failures);
  });

  it('uses the order of the ends of runs, not the order of rows', () => {
    const runs = [
      someRun({ id: 3, status: 'failed', startedAtMs: 300_000, endedAtMs: 307_000 }),
      someRun({ id: 2, status: 'succeeded', startedAtMs: 200_000, endedAtMs: 203_000 }),
      someRun({ id: 1, status: 'failed', startedAtMs: 100_000, endedAtMs: 101_000 }),
    ];
    expect(factsOf(measured(runs))).toMatchObject({
      project: 'pay',
      group: 'nightly',
      name: 'settle',
      jobId: 'a-1',
      lastStartMs: 300_000,
      lastEndMs: 307_000,
      lastSuccessMs: 203_000,
      lastDurationMs: 7000,
      lastId: 3,
      lastFailedId: 3,
      lastEnding: 'failed',
      consecutiveFailures: 1,
      averageDurationMs: undefined,
    });
  });

  it('keeps last values when an older run becomes known', () => {
    const totals = someTotals();
    keep(totals, measure(totals, 'pay', [someRun({ id: 9, endedAtMs: 900_000 })], rules));
    const late = measure(totals, 'pay', [someRun({ id: 5, status: 'failed' })], rules);
    expect(factsOf(late)).toMatchObject({ lastId: 9, lastEnding: 'succeeded', consecutiveFailures: 0 });
    expect(linesOf(late, 'runs')).toEqual(['runs pay|nightly|settle|failed 1']);
  });

  it('treats a deleted job as existing after a later run', () => {
    const goneAfter = (startedAtMs: number) => {
      const totals = someTotals();
      const first = measure(totals, 'pay', [someRun({ id: 1, startedAtMs: 0, endedAtMs: 1000 })], rules);
      const jobs = new Map([...first.jobs].map(([key, job]) => [key, { ...job, goneSinceMs: 50_000 }]));
      keep(totals, { ...first, jobs });
      return factsOf(measure(totals, 'pay', [someRun({ id: 2, startedAtMs, endedAtMs: 60_000 })], rules))?.goneSinceMs;
    };
    expect([goneAfter(50_000), goneAfter(50_001)]).toEqual([50_000, undefined]);
  });

  it('adds up two jobs with the same group and name', () => {
    const twin = { id: 'b-2', name: 'settle', group: 'nightly', averageDurationMs: 9000 };
    const found = measured([someRun({ id: 1 }), someRun({ id: 2, job: twin, endedAtMs: 120_000 })]);
    expect(found.merged).toBe(1);
    expect(linesOf(found, 'runs')[0]).toBe('runs pay|nightly|settle|succeeded 2');
    expect(factsOf(found)).toMatchObject({ jobId: 'b-2', lastId: 2, averageDurationMs: 9000 });
  });

  it('counts jobs with names such as `constructor` separately', () => {
    const found = measured([named('__proto__', 1), named('constructor', 2)]);
    expect(linesOf(found, 'runs').filter((line) => !line.endsWith(' 0'))).toEqual([
      'runs pay||__proto__|succeeded 1',
      'runs pay||constructor|succeeded 1',
    ]);
  });
});

const rules: MeasureRules = { buckets: [1, 10], seenAtMs: 1_000_000_000, startMs: 0 };
const ample: Room = { jobs: 100, durations: 100, nodes: 100 };

function someTotals(room = ample): Totals {
  const slots = createSeriesSlots([]);
  slots.setRoom(room);
  return { cells: new Map(), jobs: new Map(), slots };
}

function keep(totals: Totals, { cells, jobs, claims }: Measured): void {
  totals.slots.settle(claims);
  for (const [key, cell] of cells) totals.cells.set(key, cell);
  for (const [key, job] of jobs) totals.jobs.set(key, job);
}

function measured(runs: readonly Finished[], room = ample): Measured {
  return measure(someTotals(room), 'pay', runs, rules);
}

function fail(): never {
  throw new Error('no facts');
}

function took(tookMs: number, id: number): Finished {
  return someRun({ id, startedAtMs: 100_000, endedAtMs: 100_000 + tookMs });
}

function named(name: string, id: number): Finished {
  return someRun({ id, job: { id: name, name, group: '', averageDurationMs: undefined } });
}

function factsOf({ jobs }: Measured) {
  return jobs.get(toJobKey('pay', 'nightly', 'settle'));
}

/** One line for each cell: its labels, its count, and its durations. */
function linesOf({ cells }: Measured, wanted: string): string[] {
  return [...cells.values()]
    .filter(({ kind }) => kind === wanted)
    .map(({ kind, labels, count, buckets, sumSeconds }) => {
      const durations = buckets === undefined ? '' : ` in ${buckets.join(',')} of ${sumSeconds} s`;
      return `${kind} ${labels.join('|')} ${count}${durations}`;
    });
}
