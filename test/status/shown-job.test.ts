import { describe, expect, it } from 'vitest';
import { toShownJob } from '../../src/status/shown-job.ts';
import { ended, running } from '../http/some-status.ts';

const settings = { overdueFactor: 3, overdueFloorMs: 300_000, usualMsOf: () => 180_000 };
const usual = { server: 'prod', nowMs: 0, schedule: undefined, running: [], ...settings };

describe('status/shown-job', () => {
  it('finds the runs of a job by its path', () => {
    const own = ended({ id: 1, project: 'pay', job: 'a/b/settle' });
    const others = [
      ended({ id: 2, project: 'shop', job: 'a/b/settle' }),
      ended({ id: 3, project: 'pay', job: undefined }),
    ];
    const asked: string[][] = [];
    const shown = toShownJob({
      ...usual,
      path: 'pay/a/b/settle',
      ended: [own, ...others],
      factsOf: (...[project, group, name]) => {
        asked.push([project, group, name]);
        return { averageDurationMs: 200_000 };
      },
    });
    expect(shown).toMatchObject({ runs: [own], usualMs: 180_000, overdueMs: 600_000 });
    expect(asked).toEqual([['pay', 'a/b', 'settle']]);
    const many = { ...usual, path: 'pay/a/b/settle', ended: Array.from({ length: 101 }, () => own) };
    expect(toShownJob({ ...many, factsOf: () => undefined })?.runs).toHaveLength(100);
  });

  it('finds the runs of a job by its id', () => {
    const own = [
      ended({ id: 3, project: 'pay', job: 'settle', jobId: 'j1' }),
      ended({ id: 2, project: 'pay', job: 'old/name', jobId: 'j1' }),
      // An earlier release stored this run.
      ended({ id: 1, project: 'pay', job: 'settle' }),
    ];
    const other = ended({ id: 4, project: 'pay', job: 'settle', jobId: 'j2', ending: 'failed' });
    const lastFailure = { id: 4, job: 'pay/settle', failureClass: 'work', endedAtMs: 0 } as const;
    const input = { ...usual, path: 'pay/settle', ended: [other, ...own], lastFailure };
    const current = [running({ id: 6, project: 'pay', job: 'settle', jobId: 'j2' })];
    const shown = toShownJob({ ...input, running: current, factsOf: () => ({ jobId: 'j1' }) });
    expect(shown).toMatchObject({ runs: own, running: [], lastFailure: undefined });
    // Another job has the name now.
    expect(toShownJob({ ...input, jobId: 'j2', factsOf: () => undefined })).toMatchObject({
      runs: [other, own[2]],
      lastFailure,
    });
  });

  it('finds a job of which only its last values are stored', () => {
    const input = { ...usual, path: 'pay/settle', ended: [] };
    expect(toShownJob({ ...input, factsOf: () => ({ averageDurationMs: 1000 }) })).toMatchObject({
      runs: [],
      usualMs: 180_000,
      overdueMs: 300_000,
    });
    expect(toShownJob({ ...input, factsOf: () => undefined })).toBeUndefined();
    // The server reports an average, although the exporter has seen no run.
    const first = [running({ project: 'pay', job: 'settle', averageMs: 200_000 })];
    expect(toShownJob({ ...input, factsOf: () => undefined, running: first })).toMatchObject({ overdueMs: 600_000 });
  });
});
