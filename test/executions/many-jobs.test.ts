import { describe, expect, it } from 'vitest';
import { defaultBuckets } from '../../src/executions/settings.ts';
import { isAll } from '../support/all.ts';
import { type Played, play as startPlay } from './play.ts';
import type { SceneOptions } from './scene.ts';

describe('executions with many jobs', () => {
  it.each(isAll ? [400, 5000] : [400])(
    'shows all series of %i failing jobs',
    async (count) => {
      const { control, rounds, round, nowMs, shown, names, told } = await play();
      const jobs = createJobs(control, count);
      await rounds(2);
      const finished = (jobId: string, status: 'failed' | 'succeeded') =>
        control.addFinished('pay', { jobId, status, startedAtMs: nowMs() - 2000, endedAtMs: nowMs() });
      for (const job of jobs) for (const status of ['failed', 'succeeded'] as const) finished(job, status);
      await rounds(14);
      expect(valuesOf(shown('automation_executions_total'), 'failed')).toEqual(Array.from({ length: count }, () => 1));
      expect(valuesOf(shown('automation_executions_total'), 'succeeded')).toEqual(
        Array.from({ length: count }, () => 1),
      );
      expect(shown('automation_job_last_failed_execution_id')).toHaveLength(count);
      expect(shown('automation_job_consecutive_failures')).toHaveLength(count);
      const before = names(ofRuns).join('\n');
      for (let each = 0; each < 50; each += 1) {
        for (const job of jobs.slice(each * 8, each * 8 + each)) control.runJob(job);
        expect(await round()).toBe('success');
        expect(names(ofRuns).join('\n') === before).toBe(true);
      }
      expect(told).toEqual([]);
    },
    240_000,
  );

  it('counts a run in `__other__` if its job loses its slot', async () => {
    const { control, finish, rounds, counted, restart, job } = await play({ settings: { holdNewSeriesMs: 0 } });
    await rounds(2);
    finish('pay');
    await rounds(2);
    finish('pay', { jobId: control.createJob('pay', { name: 'copy', group: '' }) });
    await rounds(4);
    restart({ cap: 1 });
    finish('pay', { jobId: job });
    await rounds(4);
    expect(counted()).toEqual(['pay copy succeeded 1', 'pay __other__ succeeded 1']);
  });
});

/** Series of running executions, which appear and disappear with these executions. */
const ofRuns: readonly string[] = [
  'automation_executions_running_oldest_start_timestamp_seconds',
  'automation_executions_running',
  'automation_executions_running_overdue',
];

function valuesOf(lines: readonly string[], status: string): number[] {
  return lines.filter((line) => line.includes(`status="${status}"`)).map((line) => Number(line.split(' ').at(-1)));
}

function createJobs(control: Played['control'], count: number): string[] {
  return Array.from({ length: count }, (_, index) => control.createJob('pay', { name: `job ${index}`, group: 'all' }));
}

async function play(options: SceneOptions = {}): Promise<Played> {
  const settings = { buckets: defaultBuckets, holdNewSeriesMs: 60_000, ...options.settings };
  return startPlay({ ...options, settings });
}
