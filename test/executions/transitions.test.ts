import { describe, expect, it } from 'vitest';
import { command, work } from '../../simulator/scenarios/build.ts';
import { dayMs, hourMs } from '../support/durations.ts';
import { type Played, play } from './play.ts';
import { birthMs } from './scene.ts';

describe('executions/transitions', () => {
  it('starts counting at the first start, or earlier with a backfill', async () => {
    const { finish, counted, rounds } = await play({ settings: { backfillMs: hourMs } });
    finish('pay', { agoMs: 1.5 * hourMs });
    finish('pay', { agoMs: 0.5 * hourMs });
    await rounds(2);
    expect(counted()).toEqual(['pay settle succeeded 1']);
  });

  it('complains if a configured start of counting has no effect', async () => {
    const { rounds, restart, complaints } = await play({ settings: { countFromMs: birthMs - hourMs } });
    await rounds(1);
    restart();
    await rounds(1);
    expect(complaints()).toEqual([]);
    restart({ countFromMs: birthMs - 2 * hourMs });
    await rounds(1);
    const since = '2026-01-15T11:00:00.000Z';
    expect(complaints()).toEqual([
      `executions.count_from has no effect, because executions have been counted since ${since}`,
    ]);
  });

  it('counts executions from before a project was first listed', async () => {
    const { control, finish, counted, rounds } = await play();
    await rounds(2);
    control.createProject('new');
    finish('new', { agoMs: -5000, isAdHoc: true });
    await rounds(10);
    expect(counted()).toEqual(['new  succeeded 1']);
  });

  it('counts the first executions of a new project although another poll read the list of projects just before', async () => {
    const { control, finish, counted, rounds, round, pass, listProjects } = await play();
    await rounds(1);
    pass(50_000);
    await listProjects();
    pass(1000);
    control.createProject('new');
    finish('new', { isAdHoc: true });
    await round(10_000);
    await rounds(10);
    expect(counted()).toEqual(['new  succeeded 1']);
  });

  it('keeps the last executions of a renamed project, under its new name', async () => {
    // Without totals, runs of idle projects are found only when each project is read in its turn.
    const old = { apiVersion: 14, clientVersion: 14 };
    const { control, finish, counted, rounds } = await play({ settings: { maxDelayMs: 15 * 60_000 }, ...old });
    for (let count = 0; count < 20; count += 1) control.createProject(`idle-${count}`);
    await rounds(2);
    finish('pay');
    await rounds(40);
    expect(counted()).toEqual(['pay settle succeeded 1']);
    finish('pay');
    // After these rounds, the list of projects has been read again.
    await rounds(6);
    expect(counted()).toEqual(['pay settle succeeded 1']);
    control.renameProject('pay', 'payments');
    await rounds(40);
    expect(counted()).toEqual(['payments settle succeeded 1']);
  });

  it('reads the list of projects immediately if an execution runs in an unlisted project', async () => {
    const { control, counted, rounds } = await play();
    await rounds(5);
    control.createProject('new');
    control.runCommand('new', 'true');
    await rounds(1, 1000);
    await rounds(3, 10_000);
    expect(counted()).toEqual(['new  succeeded 1']);
  });

  it('keeps the progress of a disabled project', async () => {
    const { control, finish, counted, rounds, shown, lag } = await play();
    await rounds(2);
    control.changeProject('pay', { disabled: true });
    await rounds(2);
    finish('pay');
    await rounds(40, 60_000);
    expect(counted()).toEqual([]);
    expect(lag()).toBe(0);
    expect(shown('automation_executions_running')).toEqual([]);
    control.changeProject('pay', { disabled: false });
    await rounds(10);
    expect(counted()).toEqual(['pay settle succeeded 1']);
  });

  it('keeps the progress of a hidden project', async () => {
    const { control, finish, counted, rounds, simulator } = await play();
    await rounds(2);
    finish('pay');
    await rounds(10);
    control.addToken({ token: simulator.token, policy: { projects: [], events: [] } });
    await rounds(10);
    finish('pay');
    await rounds(10);
    expect(counted()).toEqual(['pay settle succeeded 1']);
    control.addToken({ token: simulator.token });
    await rounds(10);
    expect(counted()).toEqual(['pay settle succeeded 2']);
  });

  it('counts hidden rows of a project once they are shown', async () => {
    const { control, finish, counted, rounds, shown, simulator, job, lag } = await play();
    await rounds(2);
    control.addToken({ token: simulator.token, policy: { hiddenJobs: [job] } });
    finish('pay');
    finish('pay');
    await rounds(60, 30 * 60_000);
    expect(shown('automation_exporter_executions_hidden')).toEqual([
      'automation_exporter_executions_hidden{project="pay"} 2',
    ]);
    expect(lag()).toBe(0);
    control.addToken({ token: simulator.token });
    await rounds(10);
    expect(counted()).toEqual(['pay settle succeeded 2']);
    expect(shown('automation_exporter_executions_hidden')).toEqual([]);
  });

  it('counts an execution of an idle project within minutes', async () => {
    const { control, finish, counted, rounds } = await play({ settings: { maxDelayMs: 900_000 } });
    const projects = Array.from({ length: 60 }, (_, index) => `p${index}`);
    for (const project of projects) control.createProject(project);
    await rounds(130);
    for (const project of ['p3', 'p23', 'p43']) finish(project, { isAdHoc: true });
    // Totals include a run when it is older than the overlap.
    await rounds(16);
    expect(counted().toSorted()).toEqual(['p23  succeeded 1', 'p3  succeeded 1', 'p43  succeeded 1']);
  });

  it('counts with a budget of one request in ten seconds', async () => {
    const { finish, counted, rounds } = await play({ requestsPerSecond: 0.1 });
    await rounds(2);
    finish('pay');
    await rounds(10);
    expect(counted()).toEqual(['pay settle succeeded 1']);
  });

  it('ends the series of a deleted project immediately', async () => {
    const { control, finish, counted, rounds, shown, ledger, isShownProject } = await play();
    control.createProject('stock');
    await rounds(2);
    finish('pay');
    await rounds(10);
    control.deleteProject('pay');
    await rounds(1, 60_000);
    expect(counted()).toEqual([]);
    expect(['pay', 'stock'].map(isShownProject)).toEqual([false, true]);
    expect(shown('automation_executions_running')).toEqual([
      'automation_executions_running{project="stock",job_group="",job_name=""} 0',
    ]);
    const keysOfPay = async (): Promise<string[]> =>
      (await ledger.load('upstream')).map(({ kind, key }) => `${kind} ${key}`).filter((key) => key.includes('pay'));
    await rounds(29, dayMs);
    expect(await keysOfPay()).toContain('project pay');
    expect(await ledger.size('upstream')).toBe(1);
    await rounds(3, dayMs);
    expect(await keysOfPay()).toEqual([]);
    expect(await ledger.size('upstream')).toBe(0);
  });

  it('counts a project that returns after weeks only from its return on', async () => {
    const { control, finish, counted, rounds, told } = await play();
    await rounds(2);
    finish('pay');
    await rounds(10);
    control.deleteProject('pay');
    await rounds(35, dayMs);
    control.createProject('pay');
    finish('pay', { isAdHoc: true, agoMs: 10 * dayMs });
    await rounds(3);
    finish('pay', { isAdHoc: true });
    await rounds(10);
    expect([counted(), told]).toEqual([['pay  succeeded 1'], []]);
  });

  it('removes a deleted project in small steps', async () => {
    const { control, finish, rounds, round, ledger } = await play({ settings: { backfillMs: dayMs } });
    for (const hours of [1, 3, 5]) finish('pay', { agoMs: hours * hourMs });
    await rounds(10);
    expect(await ledger.size('upstream')).toBe(3);
    control.deleteProject('pay');
    await rounds(30, dayMs);
    for (let left = 100; left > 0 && (await ledger.size('upstream')) > 1; left -= 1) await round(hourMs);
    expect(await ledger.size('upstream')).toBe(1);
    const documents = await ledger.load('upstream');
    const { body = '{}' } = documents.find(({ kind, key }) => kind === 'project' && key === 'pay') ?? {};
    // This cast is safe: the state keeps JSON with these fields.
    const { countedFromMs, prunedThroughMs } = JSON.parse(body) as Record<string, number>;
    expect(prunedThroughMs).toBe(countedFromMs);
  });

  it('reads one of many projects in every round while an execution runs there', async () => {
    const { control, rounds, simulator } = await play({ settings: { maxDelayMs: 900_000 } });
    for (let index = 0; index < 20; index += 1) control.createProject(`p${index}`);
    const steps = [command('wait', 3600, 0)];
    control.runJob(control.createJob('pay', { name: 'long', group: '', work: work(['node01'], steps) }));
    await rounds(40);
    const reads = simulator.requests().filter(({ path }) => path.endsWith('/pay/executions'));
    expect(reads.length).toBeGreaterThanOrEqual(39);
  });

  it('reads the last day of an idle project once an hour', async () => {
    const { rounds, simulator } = await play();
    await rounds(120, 60_000);
    const lengths = simulator.requests().flatMap(({ path, query }) => {
      const { begin, end } = Object.fromEntries(new URLSearchParams(query));
      return path.endsWith('/pay/executions') && begin !== undefined ? [(Number(end) - Number(begin)) / hourMs] : [];
    });
    expect(lengths.length).toBeGreaterThan(100);
    // Counting has just begun, so the first window starts at that time.
    expect(lengths.filter((length) => length > 0.1).map(Math.round)).toEqual([1, 2]);
  });

  it('keeps ids for nine days', async () => {
    const { finish, rounds, ledger } = await play({ settings: { catchUpLimitMs: dayMs } });
    await rounds(2);
    finish('pay');
    await rounds(10);
    await rounds(17, dayMs / 2);
    expect(await ledger.size('upstream')).toBe(1);
    await rounds(2, dayMs / 2);
    expect(await ledger.size('upstream')).toBe(0);
  });

  it('continues the counters of a project that returns', async () => {
    const { control, finish, counted, rounds } = await play();
    await rounds(2);
    finish('pay');
    await rounds(10);
    control.deleteProject('pay');
    await rounds(4, 60_000);
    control.createProject('pay');
    finish('pay', { isAdHoc: true });
    await rounds(10);
    expect(counted()).toEqual(['pay settle succeeded 1', 'pay  succeeded 1']);
  });

  it('counts the executions skipped beyond the catch-up limit', async () => {
    const { control, finish, counted, rounds, told } = await play();
    await rounds(2);
    control.changeProject('pay', { disabled: true });
    await rounds(2);
    finish('pay');
    finish('pay');
    await rounds(9, dayMs);
    finish('pay');
    control.changeProject('pay', { disabled: false });
    await rounds(10);
    expect(counted()).toEqual(['pay settle succeeded 1']);
    expect(told).toEqual([
      'skipped disabled 2',
      'pay: 2 executions were skipped because they ended before the catch-up limit',
    ]);
  });

  it('continues at the catch-up limit after a long stop', async () => {
    const { finish, counted, rounds, told, pass, lag } = await play();
    await rounds(3);
    finish('pay', { agoMs: -1000 });
    pass(10 * dayMs);
    finish('pay', { agoMs: 2 * dayMs });
    finish('pay');
    await rounds(20);
    expect(counted()).toEqual(['pay settle succeeded 2']);
    expect(told).toEqual([
      'skipped outage 1',
      'pay: 1 executions were skipped because they ended before the catch-up limit',
    ]);
    expect(lag()).toBeLessThan(300);
  });

  it.each([
    ['', 0],
    [', even while a corrected clock of the server is not accepted yet', -3 * hourMs],
  ])('starts counting a project when the configuration includes it%s', async (_when, skewMs) => {
    const { control, finish, counted, rounds, restart } = await play();
    await rounds(2);
    control.setClockSkew(skewMs);
    await rounds(2);
    restart({ isWantedProject: () => false });
    control.setClockSkew(0);
    await rounds(2);
    finish('pay');
    await rounds(2);
    restart();
    await rounds(2);
    finish('pay');
    await rounds(30);
    expect(counted()).toEqual(['pay settle succeeded 1']);
  });

  it('counts nothing in a project that was excluded during an outage', async () => {
    const { control, finish, counted, rounds, round, restart, pass } = await play();
    await rounds(2);
    control.addFault({ kind: 'hang' });
    restart({ isWantedProject: (project) => project !== 'pay' });
    await expect(round()).rejects.toThrow('no answer in time');
    finish('pay');
    pass(1000);
    restart();
    await expect(round()).rejects.toThrow('no answer in time');
    control.clearFaults();
    await rounds(4);
    finish('pay');
    await rounds(4);
    expect(counted()).toEqual(['pay settle succeeded 1']);
  });

  it.each([
    ['the first start', undefined],
    ['a configuration that includes a project', 'pay'],
  ])('starts with %s before the list of projects can be read', async (_since, excluded) => {
    const { control, finish, counted, rounds, round, restart } = await play();
    if (excluded !== undefined) {
      await rounds(2);
      restart({ isWantedProject: (project) => project !== excluded });
      await rounds(2);
      finish('pay');
      await rounds(2);
    }
    restart();
    control.addFault({ kind: 'garbage', path: '/projects$', body: '<' });
    for (let left = 8; left > 0; left -= 1) await round();
    finish('pay');
    for (let left = 4; left > 0; left -= 1) await round();
    control.clearFaults();
    await rounds(10);
    expect(counted()).toEqual(['pay settle succeeded 1']);
  });

  it.each([
    [
      'is deleted',
      {
        from: ({ control }: Played) => control.deleteProject('pay'),
        to: ({ control }: Played) => {
          control.createProject('pay');
        },
      },
    ],
    [
      'is excluded',
      {
        from: ({ restart }: Played) => restart({ isWantedProject: () => false }),
        to: ({ restart }: Played) => restart(),
      },
    ],
  ])('publishes a series as 0 again if its project %s before the value is published', async (_what, { from, to }) => {
    const world = await play({ settings: { holdNewSeriesMs: 60_000 } });
    const { finish, rounds, shown } = world;
    const values = (): string[] =>
      shown('automation_executions_total').flatMap((line) => /"succeeded"} (\d+)/.exec(line)?.[1] ?? []);
    await rounds(2);
    finish('pay');
    while (values().length === 0) await rounds(1);
    expect(values()).toEqual(['0']);
    from(world);
    await rounds(20);
    expect(values()).toEqual([]);
    to(world);
    while (values().length === 0) await rounds(1);
    expect(values()).toEqual(['0']);
    await rounds(4);
    expect(values()).toEqual(['1']);
  });

  it('publishes a series as 0 again after a limit removed it', async () => {
    const { control, finish, rounds, restart, shown } = await play({
      settings: { holdNewSeriesMs: 60_000, maxSeries: 40 },
    });
    control.createProject('shop');
    const job = control.createJob('shop', { name: 'sell' });
    const ofShop = (): string[] =>
      shown('automation_executions_total').flatMap((line) => /"shop".*"succeeded"} (\d+)/.exec(line)?.[1] ?? []);
    await rounds(2);
    for (let runs = 0; runs < 3; runs += 1) {
      finish('pay');
      finish('shop', { jobId: job });
    }
    await rounds(20);
    expect(ofShop()).toEqual([]);
    restart({ maxSeries: 1000 });
    await rounds(1);
    expect(ofShop()).toEqual(['0']);
    await rounds(4);
    expect(ofShop()).toEqual(['3']);
  });

  it('counts an excluded job from the time of its inclusion', async () => {
    const { finish, counted, rounds, restart, ledger } = await play({ settings: { isWantedJob: () => false } });
    await rounds(2);
    finish('pay');
    await rounds(10);
    expect(await ledger.size('upstream')).toBe(1);
    restart({ isWantedJob: () => true });
    await rounds(10);
    expect(counted()).toEqual([]);
    finish('pay');
    await rounds(10);
    expect(counted()).toEqual(['pay settle succeeded 1']);
  });
});
