import { describe, expect, it } from 'vitest';
import { toShownJob } from '../../src/status/shown-job.ts';
import { ended, running } from '../http/some-status.ts';

const settings = { overdueFactor: 3, overdueFloorMs: 300_000, usualMsOf: () => 180_000 };
const usual = { server: 'prod', nowMs: 0, schedule: undefined, running: [], ...settings };

describe('status/shown-job', () => {
  it('finds the runs of a job by its path, for groups of any depth', () => {
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
      factsOf: (...names) => {
        asked.push(names);
        return { averageDurationMs: 200_000 };
      },
    });
    expect(shown).toMatchObject({ runs: [own], usualMs: 180_000, overdueMs: 600_000 });
    expect(asked).toEqual([['pay', 'a/b', 'settle']]);
    const many = { ...usual, path: 'pay/a/b/settle', ended: Array.from({ length: 101 }, () => own) };
    expect(toShownJob({ ...many, factsOf: () => undefined })?.runs).toHaveLength(100);
  });

  it('finds a job of which only its last values are left, and no job that never ran', () => {
    const input = { ...usual, path: 'pay/settle', ended: [] };
    expect(toShownJob({ ...input, factsOf: () => ({ averageDurationMs: 1000 }) })).toMatchObject({
      runs: [],
      usualMs: 180_000,
      overdueMs: 300_000,
    });
    expect(toShownJob({ ...input, factsOf: () => undefined })).toBeUndefined();
    // The server has an average of a job that runs for the first time since the exporter started.
    const first = [running({ project: 'pay', job: 'settle', averageMs: 200_000 })];
    expect(toShownJob({ ...input, factsOf: () => undefined, running: first })).toMatchObject({ overdueMs: 600_000 });
  });
});
