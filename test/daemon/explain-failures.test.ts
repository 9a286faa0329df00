import { expect, it } from 'vitest';
import { createExplainer } from '../../src/daemon/explain-failures.ts';
import type { FailedRun } from '../../src/domain/failure-class.ts';
import type { EndedStatus } from '../../src/status/status.ts';
import { createCauses } from '../../src/tracing/enrich/causes.ts';

function run(id: number, given: Partial<EndedStatus> = {}): EndedStatus {
  return {
    id,
    project: 'pay',
    job: 'settle',
    startedAtMs: id * 1000,
    endedAtMs: id * 1000 + 500,
    ending: 'succeeded',
    ...given,
  };
}

const isWantedJob = (path: string): boolean => path !== 'pay/unwanted';

it('finds a failure even if its execution is no longer stored', () => {
  const failure = { id: 7, job: 'pay/nightly/settle', endedAtMs: 9000, failureClass: 'work', node: 'db03' } as const;
  const olderOf = (given: Partial<FailedRun>) => {
    const causes = createCauses();
    const traces = {
      causeOf: () => undefined,
      lastFailureOf: () => undefined,
      failureOf: (_server: string, id: number) => causes.failureOf(id),
    };
    causes.note({ id: 7, startedAtMs: 5000 }, { why: 'x', facts: [], failure: { ...failure, ...given } }).done();
    return createExplainer('prod', { ended: () => [], changes: undefined, traces, isWantedJob }).older(7);
  };
  const names = { project: 'pay', job: 'nightly/settle', failedNodes: ['db03'] };
  expect(olderOf({})).toEqual({ id: 7, startedAtMs: 5000, endedAtMs: 9000, ending: 'failed', ...names });
  expect(olderOf({ reason: 'timeout' })?.ending).toBe('timedout');
  expect([olderOf({ job: 'pay/unwanted' }), olderOf({ job: undefined })]).toEqual([undefined, undefined]);
});

it('explains a failure by the changes since the last success of the same job', () => {
  const failed = run(5, { ending: 'failed' });
  const others = [run(3, { project: 'shop' }), run(4, { job: 'report' }), run(6)];
  const ended = () => [...others, failed, run(2), run(1)];
  const asked: (number | undefined)[] = [];
  const explain = ({ successMs }: { readonly successMs: number | undefined }) => {
    asked.push(successMs);
    return { successMs, suspects: [], unchanged: [], notWatched: [] };
  };
  const explainer = createExplainer('prod', { ended, changes: { explain }, traces: undefined, isWantedJob });
  explainer.explain(failed);
  expect(asked).toEqual([2000]);
  // After the last success, the job was renamed; another job has its old name.
  const renamed = run(9, { job: 'settle all', jobId: 'j1', ending: 'failed' });
  const runs = [renamed, run(8, { job: 'settle all', jobId: 'j2' }), run(7, { jobId: 'j1' })];
  createExplainer('prod', { ended: () => runs, changes: { explain }, traces: undefined, isWantedJob }).explain(renamed);
  expect(asked).toEqual([2000, 7000]);
});
