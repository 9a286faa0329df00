import { describe, expect, it } from 'vitest';
import { command, work } from '../../simulator/scenarios/build.ts';
import type { Ledger } from '../../src/state/ledger.ts';
import { StateError } from '../../src/state/state.ts';
import { dayMs, hourMs } from '../support/durations.ts';
import { createMemoryLedger } from './memory-ledger.ts';
import { play } from './play.ts';

describe('executions/counting', () => {
  it('publishes each project after a restore once the project was read again', async () => {
    const { control, finish, counted, rounds, round, restart } = await play();
    control.createProject('shop');
    await rounds(2);
    finish('pay');
    finish('shop', { isAdHoc: true });
    await rounds(10);
    control.addFault({ kind: 'status', path: '/project/shop/executions', status: 500 });
    restart({}, true);
    for (let count = 0; count < 10; count += 1) await round();
    expect(counted()).toEqual(['pay settle succeeded 1']);
    control.clearFaults();
    await rounds(10);
    expect(counted()).toEqual(['pay settle succeeded 1', 'shop  succeeded 1']);
  });

  it('publishes no value that could not be stored', async () => {
    let isFull = false;
    const keepBy = (ledger: Ledger): Ledger => ({
      ...ledger,
      commit: async (server, change) => {
        if (isFull) throw new StateError('the state cannot be written: the disk is full');
        await ledger.commit(server, change);
      },
    });
    const { finish, counted, rounds, round } = await play({ keepBy });
    await rounds(2);
    finish('pay');
    await rounds(10);
    isFull = true;
    finish('pay');
    for (let count = 0; count < 10; count += 1)
      await expect(round()).rejects.toThrow('the state cannot be written: the disk is full');
    expect(counted()).toEqual(['pay settle succeeded 1']);
    isFull = false;
    finish('pay');
    await rounds(10);
    expect(counted()).toEqual(['pay settle succeeded 3']);
  });

  it.each([100, 20, 1])('counts everything if a gateway limits lists to %i rows', async (maxRows) => {
    const { control, finish, counted, rounds, shown, visibility } = await play();
    control.configure({ maxRows });
    const long = control.createJob('pay', {
      name: 'long',
      multiple: true,
      work: work(['node01'], [command('wait', 3600, 0)]),
    });
    await rounds(2);
    for (let run = 0; run < 3 * maxRows; run += 1) finish('pay', { agoMs: run * 20 });
    for (let run = 0; run < 150; run += 1) finish('pay', { agoMs: run * 3 });
    for (let run = 0; run < 2 * maxRows + 1; run += 1) control.runJob(long);
    await rounds(10);
    expect(counted()).toEqual([`pay settle succeeded ${3 * maxRows + 150}`]);
    expect(shown('automation_executions_running')).toContain(
      `automation_executions_running{project="pay",job_group="",job_name="long"} ${2 * maxRows + 1}`,
    );
    expect(visibility().history).toEqual([]);
  });

  it('counts executions without a start', async () => {
    const { control, finish, counted, rounds, nowMs, told, shown, lag } = await play();
    await rounds(2);
    const ended = JSON.stringify({ unixtime: nowMs() });
    const executions = [
      `{"id":71,"status":"succeeded","date-started":${ended},"date-ended":${ended}}`,
      `{"id":72,"status":"failed","date-started":null,"date-ended":${ended}}`,
      `{"id":73,"status":"failed","date-started":{"unixtime":9e15},"date-ended":${ended}}`,
      `{"id":74,"status":"failed","date-started":${ended},"date-ended":{"unixtime":9e15}}`,
      `{"status":"failed","date-started":${ended},"date-ended":${ended}}`,
      '"nonsense"',
    ];
    const body = `{"paging":{"total":6},"executions":[${executions.join(',')}]}`;
    control.addFault({ kind: 'garbage', path: '/project/pay/executions$', body });
    await rounds(8);
    expect(counted()).toEqual(['pay  succeeded 1', 'pay  failed 2']);
    expect(told).toEqual(['unknown date-ended', 'unknown id', 'unknown id', 'unmeasured no_start 2']);
    expect(shown('automation_execution_duration_seconds').filter((line) => line.includes('_count'))).toEqual([
      'automation_execution_duration_seconds_count{project="pay",job_group="",job_name="",status="succeeded"} 1',
    ]);
    expect(lag()).toBe(0);
    expect(shown('automation_exporter_executions_hidden')).toEqual([]);
    control.clearFaults();
    finish('pay');
    await rounds(8);
    expect(counted()).toContain('pay settle succeeded 1');
  });

  it('ignores times stored by an earlier release that are too large for a date', async () => {
    const { finish, rounds, restart, ledger, recent, shown } = await play();
    await rounds(2);
    finish('pay', { agoMs: 1000 });
    const newest = finish('pay', { isAdHoc: true });
    await rounds(8);
    expect(recent()).toHaveLength(2);
    const damage = (body: string): string => body.replace(/("(?:endedAtMs|lastEndMs)":)\d+/, '$19e15');
    for (const { kind, key, body = '' } of await ledger.load('upstream'))
      if (kind === 'recent' || kind === 'job')
        await ledger.commit('upstream', { documents: [{ kind, key, body: damage(body) }] });
    restart();
    await rounds(2);
    // Each of the two documents contained a time outside the range.
    expect(recent()).toEqual([newest]);
    expect(shown('automation_job_last_end_timestamp_seconds')).toEqual([]);
  });

  it('counts an execution once if its start appears later', async () => {
    const { control, counted, rounds, nowMs, told } = await play();
    await rounds(2);
    const list = (started: string): string =>
      `{"paging":{"total":1},"executions":[{"id":72,"status":"failed","date-started":${started},"date-ended":{"unixtime":${endedAtMs}}}]}`;
    const endedAtMs = nowMs();
    const mend = control.addFault({ kind: 'garbage', path: '/project/pay/executions$', body: list('null') });
    await rounds(2, 30_000);
    mend();
    const body = list(JSON.stringify({ unixtime: endedAtMs - 60_000 }));
    control.addFault({ kind: 'garbage', path: '/project/pay/executions$', body });
    await rounds(4, 30_000);
    expect(counted()).toEqual(['pay  failed 1']);
    expect(told).toEqual(['unmeasured no_start 1']);
  });

  it('shows new series as 0 while the disk is full', async () => {
    let isFull = false;
    const keepBy = (ledger: Ledger): Ledger => ({
      ...ledger,
      commit: async (server, change) => {
        if (isFull) throw new StateError('the state cannot be written: the disk is full');
        await ledger.commit(server, change);
      },
    });
    const { finish, counted, rounds, round, shown, publishes } = await play({
      keepBy,
      settings: { holdNewSeriesMs: 60_000 },
    });
    await rounds(2);
    finish('pay');
    await rounds(2);
    expect(shown('automation_executions_total')).toHaveLength(7);
    isFull = true;
    const before = publishes();
    for (let count = 0; count < 20; count += 1) {
      await expect(round()).rejects.toThrow('the disk is full');
      expect(publishes()).toBe(before + count + 1);
    }
    expect(shown('automation_executions_total')).toHaveLength(7);
    expect(counted()).toEqual([]);
    isFull = false;
    await rounds(2);
    expect(counted()).toEqual(['pay settle succeeded 1']);
  });

  it('reports as many series as a scrape has', async () => {
    const { finish, rounds, series } = await play();
    await rounds(1);
    // Without the start times of jobs, running executions have three series, and waiting executions have two.
    expect(series()).toBe(4);
    finish('pay');
    await rounds(10);
    // Other series: seven counters, five samples of a histogram, a counter of nodes, 14 facts of the job, and seven counters of
    // triggers.
    expect(series()).toBe(4 + 7 + 5 + 1 + 14 + 7);
  });

  it('continues the values of an older state', async () => {
    const ledger = createMemoryLedger();
    const { finish, counted, rounds, restart, shown } = await play({
      keepBy: () => ledger,
      settings: { holdNewSeriesMs: 60_000 },
    });
    const started = () => shown('automation_project_executions_total').filter((line) => line.includes('"succeeded"'));
    await rounds(2);
    finish('pay');
    await rounds(10);
    const user = 'automation_project_executions_total{project="pay",trigger="user",status="succeeded"}';
    expect(started()).toEqual([`${user} 1`]);
    const { documents, entries } = ledger.copy();
    const ofBefore = [...documents].filter(([, { key }]) => !key.includes('project-runs'));
    ledger.restore({ documents: new Map(ofBefore), entries });
    restart();
    await rounds(1);
    expect(started()).toEqual([]);
    finish('pay');
    await rounds(4);
    expect(started()).toEqual([`${user} 0`]);
    await rounds(4);
    expect(started()).toEqual([`${user} 1`]);
    expect(counted()).toEqual(['pay settle succeeded 2']);
  });

  it('counts imported rows separately', async () => {
    const { finish, counted, rounds, told } = await play({ settings: { backfillMs: 5 * dayMs } });
    finish('pay');
    await rounds(10);
    finish('pay', { agoMs: 3 * dayMs });
    await rounds(100, 15 * 60_000);
    expect(told.filter((line) => line.startsWith('imported'))).toEqual(['imported 1']);
    expect(counted()).toEqual(['pay settle succeeded 1']);
  });

  it('does not treat imported executions as a new database', async () => {
    const { control, finish, counted, rounds, told, nowMs } = await play({ settings: { backfillMs: 7 * dayMs } });
    finish('pay', { agoMs: 5 * dayMs });
    await rounds(10);
    finish('pay', { agoMs: hourMs });
    control.addFinished('pay', { startedAtMs: nowMs() - 26 * hourMs, endedAtMs: nowMs() - 20 * hourMs });
    // A run ends in every round, so the project stays active and its last day is compared once an hour.
    for (let count = 0; count < 65; count += 1) {
      finish('pay');
      await rounds(1, 60_000);
    }
    await rounds(2);
    expect(told.filter((line) => !line.startsWith('late'))).toEqual([]);
    expect(counted()).toEqual(['pay settle succeeded 67', 'pay  succeeded 1']);
  });

  it('keeps its counters when history is deleted', async () => {
    const { control, finish, counted, rounds } = await play();
    await rounds(2);
    const id = finish('pay');
    await rounds(4);
    control.deleteExecutions([id]);
    await rounds(20);
    expect(counted()).toEqual(['pay settle succeeded 1']);
  });

  it('starts an epoch if ids start again', async () => {
    const { control, finish, counted, rounds, told } = await play();
    await rounds(2);
    for (let count = 0; count < 5; count += 1) finish('pay');
    await rounds(10);
    control.restart({ newDatabase: true });
    finish('pay');
    await rounds(10);
    expect(told).toEqual(['epoch 2']);
    expect(counted()).toEqual(['pay settle succeeded 6']);
  });

  it('starts only one epoch for a new database', async () => {
    const { control, finish, counted, rounds, told } = await play();
    await rounds(2);
    for (let count = 0; count < 5; count += 1) finish('pay');
    await rounds(10);
    control.restart({ newDatabase: true });
    for (let count = 0; count < 4; count += 1) {
      finish('pay');
      await rounds(2);
    }
    await rounds(10);
    expect(told).toEqual(['epoch 2']);
    expect(counted()).toEqual(['pay settle succeeded 9']);
  });

  it('publishes a new series as 0 first', async () => {
    const { finish, counted, rounds, restart, shown } = await play({ settings: { holdNewSeriesMs: 60_000 } });
    await rounds(2);
    finish('pay');
    await rounds(4);
    const all = () => shown('automation_executions_total').filter((line) => line.includes('succeeded'));
    expect(all()).toEqual([
      'automation_executions_total{project="pay",job_group="nightly",job_name="settle",status="succeeded"} 0',
    ]);
    await rounds(8);
    expect(counted()).toEqual(['pay settle succeeded 1']);
    restart();
    await rounds(1);
    expect(counted()).toEqual(['pay settle succeeded 1']);
  });

  it('publishes a deleted job whose name is unknown as `__deleted__`', async () => {
    const { control, finish, counted, rounds, job } = await play({ apiVersion: 58 });
    await rounds(2);
    finish('pay');
    control.deleteJob(job);
    await rounds(10);
    expect(counted()).toEqual(['pay __deleted__ succeeded 1']);
  });

  it('resets only the buckets when their bounds change', async () => {
    const { finish, rounds, restart, shown, told } = await play();
    await rounds(2);
    finish('pay');
    await rounds(10);
    restart({ buckets: [5, 60, 600] });
    await rounds(2);
    finish('pay');
    await rounds(10);
    const labels = 'project="pay",job_group="nightly",job_name="settle",status="succeeded"';
    expect(shown('automation_execution_duration_seconds')).toEqual([
      `automation_execution_duration_seconds_bucket{${labels},le="5.0"} 1`,
      `automation_execution_duration_seconds_bucket{${labels},le="60.0"} 1`,
      `automation_execution_duration_seconds_bucket{${labels},le="600.0"} 1`,
      `automation_execution_duration_seconds_bucket{${labels},le="+Inf"} 2`,
      `automation_execution_duration_seconds_sum{${labels}} 4`,
      `automation_execution_duration_seconds_count{${labels}} 2`,
    ]);
    expect(told).toEqual(['duration histograms were reset because their bucket bounds changed']);
  });

  it('adds up two jobs with the same group and name', async () => {
    const { control, finish, counted, rounds, told } = await play();
    await rounds(2);
    const twin = control.createJob('pay', { name: 'settle', group: 'nightly' }, twinId);
    finish('pay');
    finish('pay', { jobId: twin });
    await rounds(10);
    expect(counted()).toEqual(['pay settle succeeded 2']);
    expect(told).toEqual(['dropped merged 1']);
  });

  it('continues to count while the list of running executions fails', async () => {
    const { control, finish, counted, round, shown } = await play();
    await round();
    control.addFault({ kind: 'status', path: '/executions/running', status: 500 });
    finish('pay');
    let outcome = '';
    for (let count = 0; count < 12; count += 1) outcome = await round();
    expect(outcome).toContain('GET running-executions');
    expect(counted()).toEqual(['pay settle succeeded 1']);
    expect(shown('automation_executions_running')).toEqual([]);
  });

  it('completes a round without series of running executions if no execution can be read', async () => {
    const { control, rounds, shown, simulator } = await play();
    control.addToken({ token: simulator.token, policy: { events: [] } });
    await rounds(10);
    expect(shown('automation_executions_running')).toEqual([]);
  });

  it('counts on the oldest servers, without totals and times', async () => {
    const { finish, counted, rounds, simulator } = await play({ apiVersion: 14, clientVersion: 14 });
    await rounds(2);
    finish('pay');
    await rounds(12);
    expect(counted()).toEqual(['pay settle succeeded 1']);
    expect(simulator.requests().some(({ path }) => path.endsWith('executions/metrics'))).toBe(false);
  });
});

const twinId = '00000000-0000-4000-8000-000000000001';
