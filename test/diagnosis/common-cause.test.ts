import { describe, expect, it } from 'vitest';
import { command, work } from '../../simulator/scenarios/build.ts';
import { createCommonCauses } from '../../src/diagnosis/changes/common-causes.ts';
import { findCommonCause, toProbability } from '../../src/diagnosis/changes/deciding/common-cause.ts';
import type { Explanation } from '../../src/diagnosis/changes/explain.ts';
import { ofFailure, renderSuspects } from '../../src/http/pages/changes/suspects.ts';
import { findCauseTroubles } from '../../src/status/shared-cause.ts';
import { toText as readPage } from '../http/page-text.ts';
import { countCommonCauses } from './planted-causes.ts';
import { createScene } from './scene.ts';

/** Twenty jobs that each ran once; ten of them use the node db03. */
async function begin() {
  const made = createScene();
  made.control.createProject('pay', ['db01', 'db03']);
  const ids = Array.from({ length: 20 }, (_none, index) => {
    const node = index % 2 === 0 ? 'db03' : 'db01';
    return made.control.createJob('pay', { name: `job${index}`, work: work([node], [command('run', 1, 0)]) });
  });
  const runAll = async (): Promise<void> => {
    for (const id of ids) made.control.runJob(id);
    await made.minutes(2);
  };
  await made.minutes(2);
  await runAll();
  return { ...made, runAll, ids };
}

const toText = (explanation: Explanation): string =>
  readPage(
    `<main>${renderSuspects(explanation, { server: 'prod', untilMs: 0, words: ofFailure, root: '', nowMs: 0 })?.text}</main>`,
  );

describe('diagnosis/common-cause', () => {
  it('computes the exact probability', () => {
    // Fisher's example: with eight cups of tea, four guesses are all right with a probability of 1 in 70.
    expect(toProbability({ failed: 4, covered: 4, succeeded: 4, spared: 0 })).toBeCloseTo(1 / 70, 10);
    expect(toProbability({ failed: 10, covered: 8, succeeded: 6, spared: 1 })).toBeCloseTo(0.0244755, 6);
    expect(toProbability({ failed: 5, covered: 0, succeeded: 5, spared: 3 })).toBeCloseTo(1, 10);
  });

  it('names a node until the jobs that fail on the node succeed again', async () => {
    const { control, runAll, commonCause, shown, explain, truth, ids, away, minutes } = await begin();
    expect(commonCause()).toBeUndefined();
    control.setConditions({ downNodes: ['db03'] });
    await runAll();
    expect(commonCause()).toMatchObject({ kind: 'node', subject: 'db03', failed: 10, covered: 10, spared: 0 });
    expect(shown()).toContain('automation_common_cause{kind="node",subject="db03"} 1');
    const covered = () => shown().filter((line) => line.startsWith('automation_job_common_cause{'));
    expect(covered()).toHaveLength(10);
    expect(covered()).toContain('automation_job_common_cause{project="pay",job_group="",job_name="job0"} 1');
    expect(findCauseTroubles(commonCause())).toEqual([
      {
        kind: 'common_cause',
        text: '10 of 10 failed jobs share node db03',
        detail: 'In the last 15 min; none of the 10 successful jobs shares it',
      },
    ]);
    const ofJob = (job: string, laterMs = 0) => {
      const run = truth().executions.findLast(({ jobId }) => jobId === ids[Number(job)]);
      const explained = {
        project: 'pay',
        job: `job${job}`,
        startedAtMs: (run?.startedAtMs ?? 0) + laterMs,
        failedNodes: [],
      };
      return explain({ ...explained, failureClass: 'target', successMs: undefined });
    };
    expect(toText(ofJob('0'))).toContain('Shared cause\n10 of 10 failed jobs share node db03.');
    expect(ofJob('1').commonCause).toBeUndefined();
    // A job shares the cause only if its last run failed.
    expect(ofJob('0', -60_000).commonCause).toBeUndefined();
    // The cause is still known after a reload.
    away(0);
    await minutes(1);
    expect(commonCause()).toMatchObject({ subject: 'db03', covered: 10, succeeded: 10, spared: 0 });
    await minutes(9);
    control.runJob(ids[0] ?? '');
    await minutes(5);
    expect(commonCause()).toMatchObject({ subject: 'db03', failed: 1, covered: 1, succeeded: 10 });
    control.setConditions({ downNodes: [] });
    await runAll();
    expect(ofJob('0').commonCause).toBeUndefined();
    expect(commonCause()).toBeUndefined();
    expect(shown().join()).not.toContain('common_cause');
  });

  it('does not name a node that a successful run on many nodes may have used', async () => {
    const made = createScene();
    const { control, commonCause, minutes } = made;
    const nodes = Array.from({ length: 25 }, (_none, index) => `db${index + 10}`);
    control.createProject('pay', nodes);
    const jobs = Array.from({ length: 40 }, (_none, index) => {
      const ofAll = work(nodes, [command('run', 1, 0)]);
      const ofLast = work(['db34'], [command('run', 1, 1)]);
      return control.createJob('pay', { name: `job${index}`, work: index < 10 ? ofLast : ofAll });
    });
    await minutes(2);
    for (const id of jobs) control.runJob(id);
    await minutes(2);
    expect(commonCause()).toBeUndefined();
  });

  it('names a node only if successful runs on the node would be known', () => {
    const toFactors = (...nodes: readonly string[]) => nodes.map((subject) => ({ kind: 'node', subject }) as const);
    const toCause = (failedOn: string) =>
      findCommonCause(
        [
          ...Array.from({ length: 10 }, () => ({ endedAtMs: 10, isFailed: true, factors: toFactors(failedOn) })),
          ...Array.from({ length: 30 }, () => ({
            endedAtMs: 10,
            isFailed: false,
            factors: toFactors('db02', 'db05'),
            lastNode: 'db05',
          })),
        ],
        20,
      );
    expect([toCause('db04')?.subject, toCause('db06')]).toEqual(['db04', undefined]);
  });

  it('counts only once a job that was renamed between two failures', () => {
    const causes = createCommonCauses({
      serverNowMs: () => 10_000,
      namedBy: () => ({ keys: [], children: [] }),
      memberName: String,
    });
    const note = (name: string, node: string, former = name) => {
      const isFailed = node === 'db03';
      const times = { startedAtMs: 8000, endedAtMs: 9000 };
      const facts = { id: 1, trigger: 'scheduled', nodes: [node], nodeCount: 1, ...times };
      const run = { project: 'pay', job: `pay/${name}`, jobId: former, isFailed, failedNodes: isFailed ? [node] : [] };
      causes.note({ ...run, ...times, facts }, `pay/${former}`);
      causes.update([]);
      return causes.current()?.covered;
    };
    for (let job = 0; job < 30; job += 1) note(`job${job}`, 'db01');
    for (const name of ['a', 'b', 'c', 'd']) expect(note(name, 'db03')).toBeUndefined();
    expect([note('d now', 'db03', 'd'), note('e', 'db03')]).toEqual([undefined, 5]);
  });

  it('does not blame a member or a referenced job that was read after earlier successes', () => {
    let isNamed = false;
    const read = new Set<string>();
    const causes = createCommonCauses({
      serverNowMs: () => 10_000,
      namedBy: (job) => (read.has(job) ? { keys: [], children: ['pay/notify'] } : undefined),
      memberName: (uuid) => (isNamed && uuid === 'c1' ? 'node0' : uuid),
    });
    const note = (name: number, isFailed: boolean, memberUuid = 'c1'): void => {
      const facts = { id: name, trigger: 'scheduled', startedAtMs: 8000, memberUuid };
      const run = { project: 'pay', job: `pay/job${name}`, jobId: `job${name}`, isFailed, failedNodes: [] };
      causes.note({ ...run, endedAtMs: 9000, facts });
    };
    for (let job = 0; job < 30; job += 1) note(job, false);
    isNamed = true;
    for (let job = 30; job < 40; job += 1) {
      // Definitions of failing jobs are read first.
      read.add(`job${job}`);
      note(job, true);
    }
    causes.update([]);
    expect(causes.current()).toBeUndefined();
    for (let job = 0; job < 30; job += 1) note(job, false, 'c2');
    causes.update([]);
    expect(causes.current()).toMatchObject({ kind: 'member', subject: 'node0' });
  });

  it('does not blame a user who starts failing jobs again', async () => {
    const { control, commonCause, minutes } = createScene();
    control.createProject('pay', ['db01']);
    const jobs = Array.from({ length: 30 }, (_none, index) =>
      control.createJob('pay', { name: `job${index}`, work: work(['db01'], [command('run', 1, Number(index < 10))]) }),
    );
    await minutes(2);
    for (const id of jobs) control.runJob(id, { user: 'timer' });
    await minutes(2);
    for (const id of jobs.slice(0, 10)) control.runJob(id, { user: 'ops' });
    await minutes(2);
    expect(commonCause()).toBeUndefined();
  });

  it('names a user whose jobs fail', async () => {
    const { control, commonCause, minutes } = createScene({ settings: { namesUsers: true } });
    control.createProject('pay', ['db01']);
    const jobs = Array.from({ length: 30 }, (_none, index) =>
      control.createJob('pay', { name: `job${index}`, work: work(['db01'], [command('run', 1, Number(index < 10))]) }),
    );
    await minutes(2);
    for (const _time of [1, 2]) {
      for (const [index, id] of jobs.entries()) control.runJob(id, { user: index < 10 ? 'deploy' : 'timer' });
      await minutes(2);
      expect(commonCause()).toMatchObject({ kind: 'user', subject: 'deploy', covered: 10 });
    }
  });

  it('names the failing node in nine of ten worlds, and almost never a wrong cause', () => {
    const worlds = 20;
    const { right, wrong, without } = countCommonCauses(worlds);
    expect(right).toBeGreaterThanOrEqual(0.9 * worlds - 1);
    expect(wrong).toBeLessThanOrEqual(1);
    expect(without).toBeLessThanOrEqual(1);
  });
});
