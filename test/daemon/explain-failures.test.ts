import { expect, it } from 'vitest';
import { createExplainer } from '../../src/daemon/explain-failures.ts';
import type { EndedStatus } from '../../src/status/status.ts';

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

it('explains a failure by the changes since the last success of the same job', () => {
  const failed = run(5, { ending: 'failed' });
  const others = [run(3, { project: 'shop' }), run(4, { job: 'report' }), run(6)];
  const ended = () => [...others, failed, run(2), run(1)];
  const asked: (number | undefined)[] = [];
  const explain = ({ successMs }: { readonly successMs: number | undefined }) => {
    asked.push(successMs);
    return { successMs, suspects: [], unchanged: [], notWatched: [] };
  };
  const explainer = createExplainer('prod', { ended, changes: { explain }, traces: undefined });
  explainer.explain(failed);
  expect(asked).toEqual([2000]);
  // The last success was before the job was renamed; its old name belongs to another job now.
  const renamed = run(9, { job: 'settle all', jobId: 'j1', ending: 'failed' });
  const runs = [renamed, run(8, { job: 'settle all', jobId: 'j2' }), run(7, { jobId: 'j1' })];
  createExplainer('prod', { ended: () => runs, changes: { explain }, traces: undefined }).explain(renamed);
  expect(asked).toEqual([2000, 7000]);
});
