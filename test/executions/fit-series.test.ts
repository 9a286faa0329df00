import { describe, expect, it } from 'vitest';
import type { Finished } from '../../src/domain/execution.ts';
import { type CountOptions, createCountExecutions } from '../../src/executions/ledger/count-executions.ts';
import { openLedgerCache } from '../../src/executions/ledger/ledger-cache.ts';
import { toNewProject } from '../../src/executions/ledger/project-state.ts';
import { createSeriesFit } from '../../src/executions/series/fit-series.ts';
import type { SeriesRules } from '../../src/executions/series/series-plan.ts';
import { toTotalRows } from '../../src/executions/series/total-rows.ts';
import { defaultBuckets, defaultMaxSeries } from '../../src/executions/settings.ts';
import { type Bounded, boundRows } from '../../src/metrics/bound.ts';
import { renderSamples } from '../../src/metrics/render.ts';
import type { Ledger } from '../../src/state/ledger.ts';
import { openSqliteState } from '../../src/state/sqlite.ts';
import { StateError } from '../../src/state/state.ts';
import { fakeClock } from '../support/fake-clock.ts';
import { someRun } from './some-execution.ts';

const defaults: SeriesRules = {
  maxSeries: defaultMaxSeries,
  cap: 5000,
  detail: 200,
  buckets: defaultBuckets,
  families: new Map(),
  cicd: false,
};

describe('executions/fit-series', () => {
  it('shows 5,000 failing jobs by default', async () => {
    const { take, shown, bounded } = await setUp(defaults);
    const jobs = Array.from({ length: 5000 }, (_, index) => `job ${index}`);
    await take(jobs.map((name, index) => run(name, 2 * index + 1, { status: 'failed', failedNodes: ['web01'] })));
    await take(jobs.map((name, index) => run(name, 2 * index + 2)));
    expect(bounded().dropped).toEqual({});
    expect(shown('automation_executions_total', 'status="failed"} 1')).toHaveLength(5000);
    expect(shown('automation_executions_total', 'status="succeeded"} 1')).toHaveLength(5000);
    expect(shown('automation_execution_nodes_total', 'result="failed"} 1')).toHaveLength(5000);
    expect(shown('automation_job_consecutive_failures', '} 0')).toHaveLength(5000);
    expect(shown('automation_job_last_failed_execution_id')).toHaveLength(5000);
    expect(shown('automation_execution_duration_seconds', '_count')).toHaveLength(402);
    expect(shown('automation_execution_duration_seconds', '__other__",status="failed"} 4800')).toHaveLength(1);
  }, 60_000);

  it('counts the jobs beyond the cap together', async () => {
    const { take, shown, room } = await setUp({ ...defaults, cap: 2 });
    await take([run('a', 1), run('b', 2), run('c', 3), run('d', 4), run('d', 5)]);
    expect(shown('automation_executions_total', 'status="succeeded"').map(shorten)).toEqual([
      '__other__ 3',
      'a 1',
      'b 1',
    ]);
    expect(shown('automation_job_last_execution_id').map(shorten)).toEqual(['a 1', 'b 2']);
    expect(room().leftOut()).toMatchObject({ jobs: 2, durations: 0, limitedBy: 'jobs.cap' });
    expect(room().missing()).toBe(56);
  });

  it('removes the job with the oldest last run first', async () => {
    const { take, shown, room, restart } = await setUp(defaults);
    await take([run('a', 1), run('b', 2), run('c', 3)]);
    await take([run('a', 4)]);
    await restart({ ...defaults, cap: 2 });
    const series = [
      'automation_executions_total',
      'automation_job_last_status',
      'automation_execution_duration_seconds',
    ];
    const jobs = () => series.map((family) => [...new Set(shown(family).map((line) => shorten(line).split(' ')[0]))]);
    expect(jobs()).toEqual([
      ['a', 'c'],
      ['a', 'c'],
      ['a', 'c'],
    ]);
    await take([run('b', 5), run('b', 6)]);
    await restart({ ...defaults, cap: 2 });
    expect(jobs()).toEqual([
      ['__other__', 'a', 'c'],
      ['a', 'c'],
      ['__other__', 'a', 'c'],
    ]);
    expect(room().leftOut()).toMatchObject({ jobs: 1, limitedBy: 'jobs.cap' });
    await restart(defaults);
    expect(jobs()[0]).toEqual(['__other__', 'a', 'c']);
    await take([run('b', 7)]);
    expect(jobs()).toEqual([
      ['__other__', 'a', 'b', 'c'],
      ['a', 'b', 'c'],
      ['__other__', 'a', 'b', 'c'],
    ]);
    expect(shown('automation_executions_total', 'status="succeeded"').map(shorten)).toEqual([
      '__other__ 2',
      'a 2',
      'b 2',
      'c 1',
    ]);
    expect(room().leftOut()).toMatchObject({ jobs: 0, limitedBy: undefined });
  });

  it('removes first the slot of a deleted job', async () => {
    const { take, leave, shown, restart } = await setUp(defaults);
    await take([run('a', 1), run('b', 2), run('c', 3)]);
    await leave('c');
    await restart({ ...defaults, cap: 2 });
    expect(shown('automation_job_last_execution_id').map(shorten)).toEqual(['a 1', 'b 2']);
    expect(shown('automation_executions_total', 'status="succeeded"').map(shorten)).toEqual(['a 1', 'b 1']);
  });

  it('removes the durations of the job with the oldest last run first', async () => {
    const { take, shown, restart } = await setUp(defaults);
    await take([run('a', 1), run('b', 2)]);
    await restart({ ...defaults, detail: 1 });
    const counts = () => shown('automation_execution_duration_seconds', '_count').map(shorten);
    expect(counts()).toEqual(['b 1']);
    expect(shown('automation_job_last_execution_id').map(shorten)).toEqual(['a 1', 'b 2']);
    await take([run('a', 3)]);
    await restart({ ...defaults, detail: 1 });
    expect(counts()).toEqual(['__other__ 1', 'b 1']);
    await restart(defaults);
    await take([run('a', 4)]);
    expect(counts()).toEqual(['__other__ 1', 'a 2', 'b 1']);
  });

  it('removes the nodes with the fewest failures first', async () => {
    const { take, shown, restart } = await setUp(defaults);
    const nodes = () => shown('automation_node_failures_total').map((line) => line.replace(/.*node="(.*)"} /, '$1 '));
    await take([run('a', 1, { failedNodes: ['web01', 'web02'] }), run('a', 2, { failedNodes: ['web02'] })]);
    await restart({ ...defaults, cap: 1 });
    expect(nodes()).toEqual(['web02 2']);
    await take([run('a', 3, { failedNodes: ['web01'] })]);
    expect(nodes()).toEqual(['__other__ 1', 'web02 2']);
  });

  it('shows all series of some jobs if the limit is small', async () => {
    const { take, bounded, shown, room } = await setUp({ ...defaults, maxSeries: 1000 });
    const jobs = Array.from({ length: 100 }, (_, index) => `job ${index}`);
    await take(jobs.map((name, index) => run(name, 2 * index + 1, { status: 'failed', failedNodes: ['web01'] })));
    await take(jobs.map((name, index) => run(name, 2 * index + 2)));
    expect(bounded().dropped).toEqual({});
    const own = shown('automation_executions_total', 'status="failed"} 1').length;
    expect(own).toBe(room().leftOut().room.jobs);
    expect(own).toBeGreaterThan(10);
    for (const family of ['automation_job_last_start_timestamp_seconds', 'automation_job_consecutive_failures'])
      expect(shown(family)).toHaveLength(own);
    expect(shown('automation_executions_total', `__other__",status="failed"} ${100 - own}`)).toHaveLength(1);
    expect(room().leftOut()).toMatchObject({ jobs: 100 - own, limitedBy: 'collectors.executions.max_series' });
  });

  it('names the limit that hides durations', async () => {
    const { take, room } = await setUp({ ...defaults, cap: 15, maxSeries: 1000 });
    await take(Array.from({ length: 15 }, (_, index) => run(`job ${index}`, index + 1)));
    const { durations, ...rest } = room().leftOut();
    expect(durations).toBeGreaterThan(0);
    expect(rest).toMatchObject({ jobs: 0, room: { jobs: 15 }, limitedBy: 'collectors.executions.max_series' });
  });

  it('gives back the slot of a job whose counting failed', async () => {
    let isFull = true;
    const keepBy = (ledger: Ledger): Ledger => ({
      ...ledger,
      commit: async (server, change) => {
        if (isFull && (change.entries ?? []).length > 0) throw new StateError('the disk is full');
        await ledger.commit(server, change);
      },
    });
    const { take, shown } = await setUp({ ...defaults, cap: 1 }, keepBy);
    await expect(take([run('a', 1)])).rejects.toThrow('the disk is full');
    isFull = false;
    await take([run('b', 2)]);
    expect(shown('automation_executions_total', 'status="succeeded"').map(shorten)).toEqual(['b 1']);
  });
});

async function setUp(first: SeriesRules, keepBy = (ledger: Ledger): Ledger => ledger) {
  const ledger = keepBy(openSqliteState({ memory: true }).ledger);
  let rules = first;
  let cache = await openLedgerCache(ledger, 'prod');
  let room = createSeriesFit(cache, rules);

  async function open(): Promise<void> {
    cache = await openLedgerCache(ledger, 'prod');
    room = createSeriesFit(cache, rules);
    await room.fit();
  }

  await cache.update(async () => ({ states: [toNewProject('pay', 0)] }));
  await room.fit();
  const toRows = () =>
    toTotalRows({
      totals: {
        ...cache.totals,
        cells: new Map([...cache.totals.cells].map(([key, cell]) => [key, { ...cell, isReleased: true }])),
      },
      states: cache.states,
      exemplars: { of: () => [] },
      nativeSeconds: undefined,
      settings: { buckets: rules.buckets, cicd: rules.cicd, isWantedJob: () => true, successAgeMsOf: () => undefined },
    });
  let known: Bounded | undefined;
  const bounded = () => {
    known ??= boundRows(toRows(), { maxSeries: rules.maxSeries, families: rules.families });
    return known;
  };
  return {
    room: () => room,
    take: async (rows: readonly Finished[]) => {
      const accept = createCountExecutions({
        server: 'prod',
        cache,
        ledger,
        rules,
        isWantedJob: () => true,
        observe,
        keepMs: 1e12,
        clock: fakeClock(),
      });
      await accept({ project: 'pay', rows, seenAtMs: 1_000_000_000 });
      await room.fit();
      known = undefined;
    },
    /** Removes the job from the list of jobs. */
    leave: (name: string) =>
      cache.update(async () => ({
        jobs: [...cache.totals.jobs.values()].flatMap((job) => (job.name === name ? [{ ...job, goneSinceMs: 1 }] : [])),
      })),
    restart: async (next: SeriesRules) => {
      rules = next;
      known = undefined;
      await open();
    },
    bounded,
    /** The sorted samples of a family that contain the text. */
    shown: (family: string, text = '') =>
      renderSamples(bounded().rows.filter((row) => row.family.name === family))
        .split('\n')
        .filter((line) => line !== '' && line.includes(text))
        .toSorted(),
  };
}

const observe: CountOptions['observe'] = {
  observed: () => undefined,
  late: () => undefined,
  imported: () => undefined,
  unmeasured: () => undefined,
  skipped: () => undefined,
  dropped: () => undefined,
  unknownValue: () => undefined,
};

function run(name: string, id: number, fields: Partial<Finished> = {}): Finished {
  const startedAtMs = 100_000 + id * 10_000;
  const job = { id: name, name, group: '', averageDurationMs: undefined };
  return someRun({ id, job, startedAtMs, endedAtMs: startedAtMs + 5000, ...fields });
}

function shorten(line: string): string {
  const [, name = '', value = ''] = /job_name="(.*?)".*} (\S+)$/.exec(line) ?? [];
  return `${name} ${value}`;
}
