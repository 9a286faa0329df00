import { describe, expect, it } from 'vitest';
import { command, reference, work } from '../../simulator/scenarios/build.ts';
import type { Step } from '../../simulator/world/work.ts';
import type { RiskReason } from '../../src/expected-runs/risks/risk.ts';
import { createScene } from './scene.ts';

let scene: ReturnType<typeof createScene>;

const hourly = { everyMs: 3_600_000, offsetMs: 2_700_000 };
const fails = (node: string, text = 'settle') => work([node], [command(text, 1, 1)]);
const runs = (...steps: readonly Step[]) => work(['db01'], steps);

async function begin(nodes: readonly string[] = ['db01', 'db03']) {
  scene = createScene();
  scene.control.createProject('pay', nodes);
  await scene.minutes(2);
  return scene.control;
}

async function reasons(): Promise<readonly RiskReason[]> {
  return (await scene.risks()).troubles.map(({ reason }) => reason);
}

/** The nodes of project `pay`. */
function listNodes(...names: readonly string[]): void {
  scene.control.createProject('other', names);
  const node = (nodename: string) => ({
    nodename,
    hostname: nodename,
    username: 'auto',
    osFamily: 'unix',
    osName: 'Linux',
    osArch: 'amd64',
    osVersion: '6.1',
    description: '',
    tags: '',
  });
  scene.control.changeProject('pay', { nodes: new Map(names.map((name) => [name, node(name)])) });
}

describe('diagnosis/surroundings, of coming runs', () => {
  it('lists coming runs whose only node is no longer listed', async () => {
    const control = await begin();
    const id = control.createJob('pay', { name: 'settle', schedule: hourly, work: runs(command('settle', 1, 0)) });
    control.createJob('pay', { name: 'both', schedule: hourly, work: work(['db01', 'db03'], [command('b', 1, 0)]) });
    await scene.minutes(75);
    expect(await reasons()).toEqual([]);
    listNodes('db03');
    // Nodes are read every 15 minutes.
    expect(scene.surroundings().nodeCountOf('pay')).toBe(2);
    await scene.minutes(17);
    expect(scene.surroundings().nodeCountOf('pay')).toBe(1);
    expect((await scene.risks()).troubles).toMatchObject([
      {
        reason: 'node_gone',
        subject: 'db01',
        text: 'node db01 is no longer listed',
        evidence: 'the last run of the job needed db01, and the project no longer lists it',
        firstJob: { name: 'settle' },
        jobCount: 1,
      },
    ]);
    listNodes('db01', 'db03');
    await scene.minutes(17);
    expect(await reasons()).toEqual([]);
    listNodes('db03');
    await scene.minutes(17);
    expect(await reasons()).toEqual(['node_gone']);
    control.changeJob(id, { work: work(['db03'], [command('settle', 1, 0)]) });
    control.runJob(id);
    await scene.minutes(2);
    expect(await reasons()).toEqual([]);
  });

  it('lists jobs that run a failing job as a step', async () => {
    const control = await begin();
    const child = control.createJob('pay', { name: 'part', group: 'g', work: fails('db03') });
    const step = { ...reference({ id: child } as Parameters<typeof reference>[0]) };
    const parent = control.createJob('pay', {
      name: 'whole',
      schedule: hourly,
      work: { ...runs(step), references: new Map([[child, runs(command('fine', 1, 0))]]) },
    });
    control.runJob(parent);
    await scene.minutes(3);
    for (let run = 0; run < 3; run += 1) {
      expect(await reasons()).toEqual([]);
      control.runJob(child);
      await scene.minutes(2);
    }
    expect((await scene.risks()).troubles).toMatchObject([
      {
        reason: 'child_failing',
        subject: 'pay/g/part',
        text: 'pay/g/part, which other jobs run, fails',
        firstJob: { name: 'whole' },
      },
    ]);
    control.runJob(parent);
    await scene.minutes(2);
    expect(await reasons()).toEqual([]);
  });

  it('lists the jobs that share a common cause, while the cause lasts', async () => {
    const control = await begin();
    const names = Array.from({ length: 20 }, (_none, index) => `job${index}`);
    const ids = names.map((name, index) =>
      control.createJob('pay', { name, work: work([index % 2 === 0 ? 'db03' : 'db01'], [command('run', 1, 0)]) }),
    );
    const own = control.createJob('pay', {
      name: 'night',
      schedule: { everyMs: 6 * 3_600_000, offsetMs: 0 },
      work: work(['db03'], [command('n', 1, 0)]),
    });
    const runAll = async (): Promise<void> => {
      for (const id of ids) control.runJob(id);
      await scene.minutes(1);
    };
    const reasons = async () => (await scene.risks()).troubles.map(({ reason }) => reason);
    await scene.minutes(1);
    control.runJob(own);
    await runAll();
    await scene.minutes(1);
    control.setConditions({ downNodes: ['db03'] });
    await runAll();
    // A success may be read a little later than a failure with the same end.
    expect(await reasons()).not.toContain('node_failing');
    await scene.minutes(1);
    const { troubles } = await scene.risks();
    expect(troubles.map(({ reason }) => reason)).toEqual(['node_failing', 'common_cause']);
    expect(troubles[1]).toMatchObject({
      subject: 'node db03',
      text: 'node db03 is shared by the failing jobs',
      evidence: '10 of 10 failed jobs and 1 of 11 successful jobs share the cause',
      firstJob: { name: 'night' },
    });
    control.setConditions({ downNodes: [] });
    await runAll();
    expect(await reasons()).toEqual([]);
  });

  it('reports whether a key or the definition changed after a refused login', async () => {
    const control = await begin();
    const key = 'keys/team/pay/node.pem';
    control.writeKey(key);
    control.writeKey('keys/other.pem');
    const id = control.createJob('pay', {
      name: 'settle',
      schedule: hourly,
      work: runs(command('settle', 1, 0, { key })),
    });
    // The token cannot read the key of the job.
    const hidden = control.createJob('pay', {
      name: 'hidden',
      schedule: hourly,
      work: runs(command('hidden', 1, 0, { key: 'keys/hidden/node.pem' })),
    });
    await scene.minutes(61);
    const failedMs = scene.nowMs() - 120_000;
    const unchangedForMinutes = (of = id): number => {
      const job = scene.watched(of);
      const unchangedMs = (job && scene.surroundings().accessUnchangedMs(job, failedMs)) ?? Number.NaN;
      return (unchangedMs - failedMs) / 60_000;
    };
    expect(scene.surroundings().keysOf(id)).toEqual([key]);
    await scene.noteClass('access');
    await scene.minutes(1);
    expect([unchangedForMinutes(), unchangedForMinutes(hidden)]).toEqual([2, Number.NaN]);
    control.writeKey('keys/other.pem');
    // Keys are read each hour.
    await scene.minutes(70);
    expect(unchangedForMinutes()).toBe(62);
    control.writeKey(key);
    await scene.minutes(61);
    expect(unchangedForMinutes()).toBeNaN();
  });

  it('reports nothing about keys and nodes that cannot be read', async () => {
    scene = createScene({ token: 'narrow' });
    scene.control.createProject('pay');
    const id = scene.control.createJob('pay', { name: 'settle', schedule: hourly });
    await scene.minutes(5);
    const job = scene.watched(id);
    expect(scene.surroundings()).toMatchObject({ areKeysRead: false, areNodesRead: false });
    expect(job && scene.surroundings().accessUnchangedMs(job, scene.nowMs())).toBeUndefined();
    const { byReason } = await scene.risks();
    expect([byReason.has('access'), byReason.has('node_gone'), byReason.get('common_cause')]).toEqual([
      false,
      false,
      0,
    ]);
  });
});
