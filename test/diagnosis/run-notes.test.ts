import { expect, it } from 'vitest';
import type { JobRuns } from '../../src/diagnosis/changes/deciding/runs.ts';
import { createRunNotes } from '../../src/diagnosis/changes/run-notes.ts';
import type { WatchedJob } from '../../src/expected-runs/deciding/watched-job.ts';
import type { FailingNode } from '../../src/expected-runs/risks/nodes.ts';
import { createRunNotes as createNodeNotes } from '../../src/expected-runs/run-notes.ts';
import { someRun } from '../executions/some-execution.ts';

it('removes the jobs with the oldest last run if there are too many', () => {
  const runs = new Map<string, JobRuns>();
  const { commitHook } = createRunNotes({
    runs,
    onFirst: () => undefined,
    onCounted: () => undefined,
    namesUsers: false,
    serverNowMs: () => 1e9,
    maxJobs: 3,
  });
  const stored = new Set<string>();
  const count = (...names: readonly string[]): void => {
    const ended = names.map((each, at) => {
      const [id = '', name = id] = each.split(' is now ');
      const times = { startedAtMs: 1000 * at, endedAtMs: 1000 * at + 500 };
      return { ...someRun(times), ...times, job: { id, name, group: '', averageDurationMs: undefined } };
    });
    for (const { key, body } of commitHook.keep('pay', ended, 0)) {
      if (body === undefined) stored.delete(key);
      else stored.add(key);
    }
    commitHook.kept('pay', ended);
  };
  count('a', 'b');
  count('c');
  count('a');
  count('d', 'e');
  expect([...runs.keys()]).toEqual(['pay/a', 'pay/d', 'pay/e']);
  count('a is now b');
  expect([...runs.keys()]).toEqual(['pay/d', 'pay/e', 'pay/b']);
  expect(stored).toEqual(new Set(runs.keys()));
});

it('shows later runs although the clock of one member is ahead', () => {
  let nowMs = 100_000;
  const counted: [endedAtMs: number, isFailed: boolean][] = [];
  const { commitHook } = createRunNotes({
    runs: new Map(),
    onFirst: () => undefined,
    onCounted: ({ endedAtMs, isFailed }) => counted.push([endedAtMs, isFailed]),
    namesUsers: false,
    serverNowMs: () => nowMs,
  });
  const nodes = new Map<string, FailingNode>();
  const all = new Map<string, WatchedJob>();
  const hook = createNodeNotes({
    all,
    nodes,
    noted: { throughMs: 0 },
    isBeginning: () => false,
    serverNowMs: () => nowMs,
  });
  const count = (status: 'succeeded' | 'failed', endedAtMs: number): void => {
    const job = { id: 'a', name: 'a', group: '', averageDurationMs: undefined };
    const where = status === 'failed' ? { failedNodes: ['db03'] } : { succeededOn: ['db03'] };
    const ended = [{ ...someRun({ status }), ...where, startedAtMs: endedAtMs - 500, endedAtMs, job }];
    for (const each of [commitHook, hook]) {
      each.keep('pay', ended, 0);
      each.kept('pay', ended);
    }
  };
  count('failed', nowMs + 6 * 3_600_000);
  expect([...nodes.keys()]).toEqual(['db03']);
  nowMs += 60_000;
  count('succeeded', nowMs - 1000);
  expect(counted).toEqual([
    [100_000, true],
    [159_000, false],
  ]);
  expect([...nodes.keys()]).toEqual([]);
});

it('takes the result of a job from the run that ended last', () => {
  const runs = new Map<string, JobRuns>();
  const ignore = (): void => undefined;
  const { commitHook } = createRunNotes({
    runs,
    onFirst: ignore,
    onCounted: ignore,
    namesUsers: false,
    serverNowMs: () => 9000,
  });
  const job = { id: 'a', name: 'a', group: '', averageDurationMs: undefined };
  const ended = [
    { ...someRun({ id: 1, status: 'failed' }), startedAtMs: 1000, endedAtMs: 9000, job },
    { ...someRun({ id: 2, status: 'succeeded' }), startedAtMs: 2000, endedAtMs: 5000, job },
  ];
  commitHook.keep('pay', ended, 0);
  commitHook.kept('pay', ended);
  expect(runs.get('pay/a')?.last).toMatchObject({ isFailed: true, endedAtMs: 9000 });
});

it('keeps a change that is found while earlier changes are being stored', () => {
  const ignore = (): void => undefined;
  const { commitHook, receive, changes, taken } = createRunNotes({
    runs: new Map(),
    onFirst: ignore,
    onCounted: ignore,
    namesUsers: false,
    serverNowMs: () => 9000,
  });
  let id = 0;
  const count = (name: string, status: 'succeeded' | 'failed', given: string): void => {
    id += 1;
    const job = { id: name, name, group: '', averageDurationMs: undefined };
    receive([{ id, arguments: given, user: undefined, memberUuid: undefined, nodes: [] }], (text) => text);
    const ended = [{ ...someRun({ id, status }), startedAtMs: id * 1000, endedAtMs: id * 1000 + 500, job }];
    commitHook.keep('pay', ended, 0);
    commitHook.kept('pay', ended);
  };
  count('a', 'succeeded', '-date 1');
  count('b', 'succeeded', '-date 1');
  count('a', 'failed', '-date 2');
  const storing = changes();
  count('b', 'failed', '-date 2');
  taken(storing);
  expect(changes().map(({ subject }) => subject)).toEqual(['pay/b']);
});
