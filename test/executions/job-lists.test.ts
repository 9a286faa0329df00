import { describe, expect, it } from 'vitest';
import { toFacts } from '../../src/executions/counting/job-facts.ts';
import { openLedgerCache } from '../../src/executions/ledger/ledger-cache.ts';
import { type Hold, toNewProject } from '../../src/executions/ledger/project-state.ts';
import { createJobLists } from '../../src/executions/reading/job-lists.ts';
import { dayMs } from '../support/durations.ts';
import { createFakeApi, refusal } from './fake-api.ts';
import { createMemoryLedger } from './memory-ledger.ts';
import { play as startPlay } from './play.ts';
import type { SceneOptions } from './scene.ts';
import { someRun } from './some-execution.ts';

const laterMs = 1_000_000_000_000;

describe('executions/job-lists', () => {
  it('keeps only the counters of a deleted job', async () => {
    const { control, job, fail, counted, failures, rounds, finish } = await play();
    fail(job);
    await rounds(6);
    expect(failures()).toEqual(['settle 1']);
    control.deleteJob(job);
    await rounds(30, 30_000);
    expect(failures()).toEqual([]);
    // The list is read again every ten minutes.
    for (let times = 0; times < 3; times += 1) {
      await rounds(20, 30_000);
      expect(failures()).toEqual([]);
    }
    expect(counted()).toEqual(['pay settle failed 1']);
    finish('pay', { isAdHoc: true });
    await rounds(29, dayMs);
    expect(counted()).toEqual(['pay settle failed 1', 'pay  succeeded 1']);
    await rounds(3, dayMs);
    expect(counted()).toEqual(['pay  succeeded 1']);
  });

  it('uses the new name of a renamed job', async () => {
    const { control, job, fail, failures, rounds } = await play();
    fail(job);
    await rounds(6);
    control.changeJob(job, { name: 'pay out' });
    await rounds(30, 30_000);
    expect(failures()).toEqual([]);
    fail(job);
    await rounds(6);
    expect(failures()).toEqual(['pay out 1']);
  });

  it('publishes the last values of a job that is listed again', async () => {
    const { control, job, fail, failures, rounds } = await play();
    fail(job);
    await rounds(6);
    control.changeJob(job, { name: 'elsewhere' });
    await rounds(30, 30_000);
    expect(failures()).toEqual([]);
    control.changeJob(job, { name: 'settle' });
    await rounds(30, 30_000);
    expect(failures()).toEqual(['settle 1']);
  });

  it('publishes only the counters of an excluded job', async () => {
    const { job, fail, failures, counted, rounds, restart } = await play();
    fail(job);
    await rounds(6);
    restart({ isWantedJob: (path) => path !== 'pay/nightly/settle' });
    await rounds(2);
    expect(failures()).toEqual([]);
    expect(counted()).toEqual(['pay settle failed 1']);
  });

  it('gives the slot of a deleted job to another job', async () => {
    const { control, job, fail, counted, rounds } = await play({ settings: { cap: 1 } });
    const next = control.createJob('pay', { name: 'copy', group: '' });
    fail(job);
    await rounds(6);
    fail(next);
    await rounds(6);
    expect(counted()).toEqual(['pay settle failed 1', 'pay __other__ failed 1']);
    control.deleteJob(job);
    await rounds(32, dayMs);
    fail(next);
    await rounds(6);
    expect(counted()).toEqual(['pay __other__ failed 1', 'pay copy failed 1']);
  });

  it('gives an active job the slot of a job that was idle for thirty days', async () => {
    const { control, job, fail, counted, rounds } = await play({ settings: { cap: 2 } });
    const [often = '', next = ''] = ['often', 'copy'].map((name) => control.createJob('pay', { name, group: '' }));
    fail(job);
    fail(often);
    await rounds(6);
    await rounds(32, dayMs);
    fail(often);
    await rounds(6);
    expect(counted()).toEqual(['pay settle failed 1', 'pay often failed 2']);
    fail(next);
    await rounds(80);
    fail(next);
    await rounds(6);
    expect(counted()).toEqual(['pay often failed 2', 'pay __other__ failed 1', 'pay copy failed 1']);
  });

  it('changes nothing if the list cannot be read', async () => {
    const { control, job, fail, failures, rounds } = await play();
    fail(job);
    await rounds(6);
    control.deleteJob(job);
    control.addFault({ kind: 'status', path: '/project/pay/jobs', status: 403 });
    await rounds(60, 30_000);
    expect(failures()).toEqual(['settle 1']);
  });

  it('keeps a job that ran during the request for the list', async () => {
    const cache = await openLedgerCache(createMemoryLedger(), 'prod');
    const end = async (name: string, lastEndMs: number) =>
      cache.update(async () => ({
        states: [toNewProject('pay', 0)],
        jobs: [
          toFacts(
            { project: 'pay', group: '', name },
            someRun({ startedAtMs: 1, endedAtMs: lastEndMs }),
            undefined,
            laterMs,
          ),
        ],
      }));
    await end('old', 999_000);
    // A fast clock dated the last run.
    await end('ahead', 2_000_000);
    const { api } = createFakeApi(async () => {
      await end('new', 1_000_000);
      return [];
    });
    const settings = { isWantedProject: () => true, isWantedJob: () => true };
    await createJobLists({ cache, settings, ticks: () => 0 }).look(() => api, 1_000_000);
    expect([...cache.totals.jobs.values()].map(({ name, goneSinceMs }) => [name, goneSinceMs])).toEqual([
      ['old', 1_000_000],
      ['ahead', 1_000_000],
      ['new', undefined],
    ]);
  });

  it('uses a list that another poll reads', async () => {
    const { lists, end, gone, asked, passMs } = await openLists();
    await end('old', 999_000);
    await end('listed', 999_000);
    const learn = lists.begin('pay');
    await end('new', 1_000_000);
    await learn([{ id: 'a1', group: '', name: 'listed' }], 1_000_000);
    expect(gone()).toEqual(['old']);
    await passMs(599_999);
    expect(asked).toEqual([]);
    await passMs(1);
    expect(asked).toHaveLength(1);
  });

  it('keeps the ids of the jobs of a project', async () => {
    const { lists } = await openLists();
    const list = Array.from({ length: 21 }, (_, index) => ({ id: `a${index}`, group: '', name: `job ${index}` }));
    expect(lists.idsOf('pay')).toBeUndefined();
    await lists.begin('pay')(list.slice(0, 2), 1_000_000);
    expect(lists.idsOf('pay')).toEqual(['a0', 'a1']);
    await lists.begin('pay')(list, 1_000_000);
    expect(lists.idsOf('pay')).toBeUndefined();
    await lists.begin('pay')([], 1_000_000);
    expect(lists.idsOf('pay')).toEqual([]);
  });

  it('does not use the list of jobs of a hidden project', async () => {
    const { lists, end, gone, hold, asked, passMs } = await openLists();
    await end('old', 999_000);
    await hold('hidden');
    await lists.begin('pay')([], 1_000_000);
    await passMs(600_000);
    expect([gone(), asked]).toEqual([[], []]);
    // The list of a project that is no longer hidden is read at once.
    await end('old', 999_000);
    await passMs(0);
    await hold('hidden');
    await passMs(0);
    await end('old', 999_000);
    await passMs(0);
    expect(asked).toHaveLength(2);
  });

  it.each([
    ['a project', { isWantedProject: () => false, isWantedJob: () => true }],
    ['a job', { isWantedProject: () => true, isWantedJob: (path: string) => path !== 'pay/old' }],
  ])(
    'removes %s, if excluded, thirty days after its last run, and checks this every ten minutes',
    async (_what, settings) => {
      const cache = await openLedgerCache(createMemoryLedger(), 'prod');
      let nowTicks = 0;
      const lists = createJobLists({ cache, settings, ticks: () => nowTicks });
      const facts = toFacts(
        { project: 'pay', group: '', name: 'old' },
        someRun({ endedAtMs: 5000 }),
        undefined,
        laterMs,
      );
      const names = () => [...cache.totals.jobs.values()].map(({ name }) => name);

      await lists.forgetMissing(40 * dayMs);
      await cache.update(async () => ({ jobs: [facts] }));
      nowTicks = 599_999;
      await lists.forgetMissing(40 * dayMs);
      expect(names()).toEqual(['old']);
      nowTicks = 600_000;
      await lists.forgetMissing(30 * dayMs + 5000);
      expect(names()).toEqual(['old']);
      nowTicks = 1_200_000;
      await lists.forgetMissing(30 * dayMs + 5001);
      expect(names()).toEqual([]);
    },
  );

  it('uses at most a twentieth of the request budget for lists of jobs', async () => {
    const cache = await openLedgerCache(createMemoryLedger(), 'prod');
    const projects = Array.from({ length: 30 }, (_, index) => `p${index}`);
    await cache.update(async () => ({
      states: projects.map((project) => toNewProject(project, 0)),
      jobs: projects.map((project) => toFacts({ project, group: '', name: 'settle' }, someRun(), undefined, laterMs)),
    }));
    let nowTicks = 0;
    let isBroken = false;
    const { api, asked } = createFakeApi(async () => {
      if (isBroken) throw refusal('timeout');
      return [];
    });
    const settings = { isWantedProject: () => true, isWantedJob: () => true };
    const lists = createJobLists({ cache, settings, ticks: () => nowTicks, requestsPerSecond: 4 });
    const look = async (passedMs: number): Promise<number> => {
      const before = asked.length;
      nowTicks += passedMs;
      await lists.look(() => api, nowTicks);
      return asked.length - before;
    };
    expect([await look(0), await look(15_000), await look(60_000)]).toEqual([1, 3, 12]);
    isBroken = true;
    expect(await look(60_000)).toBe(1);
    isBroken = false;
    expect([await look(60_000), await look(60_000)]).toEqual([12, 1]);
  });

  it('requests at most one list in a round', async () => {
    const { control, fail, rounds, simulator } = await play();
    for (const project of ['a', 'b', 'c']) {
      control.createProject(project);
      await rounds(1);
      fail(control.createJob(project, { name: 'settle', group: '' }), project);
    }
    const lists = () => simulator.requests().filter(({ path }) => path.endsWith('/jobs')).length;
    await rounds(40);
    const before = lists();
    await rounds(40);
    expect(lists() - before).toBe(3);
  });

  it('requests no more slow lists after a fifth of the round', async () => {
    const onRequest = ({ path }: { readonly path: string }) => path.endsWith('/jobs') && scene.pass(2000);
    const scene: Awaited<ReturnType<typeof play>> = await play({ onRequest });
    for (const project of ['a', 'b', 'c', 'd']) {
      scene.control.createProject(project);
      scene.fail(scene.control.createJob(project, { name: 'settle', group: '' }), project);
    }
    const lists = () => scene.simulator.requests().filter(({ path }) => path.endsWith('/jobs')).length;
    while (lists() === 0) await scene.rounds(1);
    expect(lists()).toBe(2);
  });
});

/** Opens the job lists of a ledger with one project, for a server whose lists are empty. */
async function openLists() {
  const cache = await openLedgerCache(createMemoryLedger(), 'prod');
  let nowTicks = 0;
  const settings = { isWantedProject: () => true, isWantedJob: () => true };
  const lists = createJobLists({ cache, settings, ticks: () => nowTicks });
  const { api, asked } = createFakeApi(async () => []);
  const state = toNewProject('pay', 0);
  return {
    lists,
    asked,
    end: (name: string, endedAtMs: number) => {
      const run = someRun({ startedAtMs: 1, endedAtMs });
      return cache.update(async () => ({
        states: [state],
        jobs: [toFacts({ project: 'pay', group: '', name }, run, undefined, laterMs)],
      }));
    },
    hold: (hold: Hold) => cache.update(async () => ({ states: [{ ...state, hold }] })),
    gone: () => [...cache.totals.jobs.values()].flatMap((job) => (job.goneSinceMs === undefined ? [] : [job.name])),
    passMs: async (ms: number) => {
      nowTicks += ms;
      await lists.look(() => api, nowTicks);
    },
  };
}

async function play(options: SceneOptions = {}) {
  const played = await startPlay(options);
  const { control, nowMs, shown, rounds } = played;
  await rounds(2);
  return {
    ...played,
    fail: (jobId: string, project = 'pay') =>
      control.addFinished(project, { jobId, status: 'failed', startedAtMs: nowMs() - 2000, endedAtMs: nowMs() }),
    /** The jobs whose failures in a row are shown. */
    failures: () =>
      shown('automation_job_consecutive_failures').map((line) => {
        const [, name, value] = /job_name="(.*?)"} (\d+)/.exec(line) ?? [];
        return `${name} ${value}`;
      }),
  };
}
