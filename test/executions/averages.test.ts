import { describe, expect, it } from 'vitest';
import type { JobFacts } from '../../src/domain/job.ts';
import { createSeriesSlots } from '../../src/executions/counting/series-slots.ts';

import { createAverages } from '../../src/executions/executions.ts';
import { play } from './play.ts';

const hourMs = 3_600_000;
const settle = { project: 'pay', group: 'nightly', name: 'settle' };

const someFacts: JobFacts = {
  project: 'pay',
  group: '',
  name: '',
  jobId: undefined,
  lastStartMs: 0,
  lastEndMs: 0,
  lastId: 1,
  lastEnding: 'succeeded',
  consecutiveFailures: 0,
};

describe('executions/averages', () => {
  it('publishes a changed average even without a new counted run', async () => {
    const { finish, rounds, shown, averages, pass, restart, job } = await play();
    await rounds(2);
    finish('pay');
    await rounds(6);
    const toAverages = (): string[] =>
      shown('automation_job_average_duration_seconds').map((line) => line.split(' ')[1] ?? '');
    expect(toAverages()).toEqual(['2']);
    expect(averages().takeDue('pay')).toEqual([]);
    pass(hourMs);
    await rounds(1);
    expect(averages().takeDue('other')).toEqual([]);
    expect(averages().takeDue('pay')).toEqual([job]);
    await averages().learn(settle, 1399);
    await rounds(6);
    expect(toAverages()).toEqual(['1.399']);
    restart();
    await rounds(6);
    expect(toAverages()).toEqual(['1.399']);
  });

  it('requests averages once an hour', async () => {
    const { finish, rounds, averages, pass, job } = await play();
    await rounds(2);
    finish('pay');
    await rounds(6);
    pass(hourMs);
    await rounds(1);
    expect([averages().takeDue('pay'), averages().takeDue('pay')]).toEqual([[job], []]);
    pass(hourMs);
    finish('pay');
    await rounds(6);
    expect(averages().takeDue('pay')).toEqual([]);
  });

  it('requests some averages soon after each start', () => {
    const jobs = new Map(
      Array.from({ length: 8 }, (_, index): [string, JobFacts] => {
        const names = { project: 'pay', group: '', name: `job ${index}`, jobId: `id ${index}` };
        return [`job ${index}`, { ...someFacts, ...names, lastEndMs: 0 }];
      }),
    );
    let ticks = 0;
    let drawn = 0;
    const averages = createAverages({
      cache: () => ({ totals: { cells: new Map(), jobs, slots: createSeriesSlots([]) }, update: async () => {} }),
      serverNowMs: () => 9 * hourMs,
      clock: { ticks: () => ticks, random: () => drawn++ / 8 },
    });
    expect(averages.takeDue('pay')).toEqual([]);
    ticks = hourMs / 4;
    expect(averages.takeDue('pay')).toEqual(['id 7', 'id 6']);
    ticks = hourMs;
    expect(averages.takeDue('pay')).toEqual(['id 5', 'id 4', 'id 3', 'id 2', 'id 1', 'id 0']);
  });
});
