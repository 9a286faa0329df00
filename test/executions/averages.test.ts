import { afterEach, describe, expect, it } from 'vitest';
import { type Played, play } from './play.ts';

const hourMs = 3_600_000;
const settle = { project: 'pay', group: 'nightly', name: 'settle' };
let played: Played | undefined;

describe('executions/averages', () => {
  afterEach(async () => {
    await played?.stop();
    played = undefined;
  });

  it('shows the average of a job that changed without a counted run, also after a restart', async () => {
    played = await play();
    const { finish, rounds, shown, averages, pass, restart, job } = played;
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

  it('asks once an hour, and not for averages that a run has updated since', async () => {
    played = await play();
    const { finish, rounds, averages, pass, job } = played;
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
});
