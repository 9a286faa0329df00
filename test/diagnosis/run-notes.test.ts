import { expect, it } from 'vitest';
import type { JobRuns } from '../../src/diagnosis/changes/deciding/runs.ts';
import { createRunNotes } from '../../src/diagnosis/changes/run-notes.ts';
import { someRun } from '../executions/some-execution.ts';

it('forgets the jobs that ran longest ago, also in the state, where jobs come and go', () => {
  const runs = new Map<string, JobRuns>();
  const { commitHook } = createRunNotes({
    runs,
    onFirst: () => undefined,
    onCounted: () => undefined,
    namesUsers: false,
    maxJobs: 3,
  });
  const stored = new Set<string>();
  const count = (...names: readonly string[]): void => {
    const ended = names.map((name, at) => {
      const times = { startedAtMs: 1000 * at, endedAtMs: 1000 * at + 500 };
      return { ...someRun(times), ...times, job: { id: name, name, group: '', averageDurationMs: undefined } };
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
  expect(stored).toEqual(new Set(runs.keys()));
});
