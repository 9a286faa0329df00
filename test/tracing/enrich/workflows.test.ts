import { describe, expect, it } from 'vitest';
import { createWorkflows } from '../../../src/tracing/enrich/gather.ts';

function setUp() {
  let nowTicks = 0;
  const asked: string[] = [];
  const workflows = createWorkflows(() => nowTicks);
  const read = (jobId: string) =>
    workflows.read(jobId, async () => {
      asked.push(jobId);
      return jobId === 'hidden' ? undefined : [];
    });
  const wait = (ms: number): void => {
    nowTicks += ms;
  };
  return { read, asked, wait };
}

describe('tracing/enrich/workflows', () => {
  it.each([
    ['ten minutes', 'settle', 600_000],
    ['30 s if the job was missing', 'hidden', 30_000],
  ])('requests the workflow of a job again after %s', async (_when, job, ms) => {
    const { read, asked, wait } = setUp();
    await read(job);
    wait(ms - 1);
    await read(job);
    expect(asked).toEqual([job]);
    wait(1);
    await read(job);
    expect(asked).toEqual([job, job]);
  });

  it('keeps the workflows of the latest 500 jobs', async () => {
    const { read, asked } = setUp();
    for (let job = 0; job <= 500; job += 1) await read(`job ${job}`);
    await read('job 1');
    expect(asked).toHaveLength(501);
    await read('job 0');
    expect(asked.slice(501)).toEqual(['job 0']);
  });
});
