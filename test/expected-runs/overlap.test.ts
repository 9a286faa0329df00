import { describe, expect, it } from 'vitest';
import { work } from '../../simulator/scenarios/build.ts';
import { createStopping } from './hourly.ts';

/** Creates a job whose runs take longer than the time between two starts. */
function createSlow({ apiVersion = 47 }: { readonly apiVersion?: number } = {}) {
  const scene = createStopping({ apiVersion });
  scene.control.createProject('pay');
  const id = scene.control.createJob('pay', {
    name: 'settle',
    schedule: { everyMs: 600_000, offsetMs: 0 },
    work: work(['node01'], [{ kind: 'exec', text: 'sleep', nodeStep: true, seconds: 900, failureChance: 0 }]),
  });
  const asked = (): number => scene.requests().filter(({ path }) => path.endsWith(`/job/${id}`)).length;
  return { ...scene, id, asked };
}

const missed = (shown: (family: string) => string[]): string[] =>
  shown('schedule_missed_total').filter((line) => !line.endsWith(' 0'));

describe('expected-runs, while the previous run is in progress', () => {
  it('finds that runs of a job overlap', async () => {
    const { minutes, shown, asked } = createSlow();
    await minutes(130);
    expect(missed(shown)).toEqual([expect.stringContaining('reason="overlap"')]);
    expect(asked()).toBe(1);
    // A run that will be skipped needs no thread.
    expect(shown('scheduler_expected_running').map((line) => line.split(' ').at(-1))).toEqual(['1', '1']);
  });

  it('counts the run in progress once', async () => {
    const { minutes, find } = createSlow();
    const facts = new Set<string>();
    for (let minute = 0; minute < 130; minute += 1) {
      await minutes(1);
      for (const verdict of find('pay/settle')?.job.verdicts ?? [])
        if (verdict.is === 'missed') for (const { fact } of verdict.facts) facts.add(fact.replace(/\d+/, 'N'));
    }
    expect([...facts]).toEqual(['the run #N was still running']);
  });

  it('finds that runs overlap without readable definitions', async () => {
    const { minutes, shown, asked } = createSlow({ apiVersion: 43 });
    await minutes(40);
    expect(missed(shown)).toEqual([expect.stringContaining('reason="overlap"')]);
    expect(asked()).toBe(0);
  });

  it('finds that a waiting one-time run blocks the schedule', async () => {
    const { minutes, shown, control, nowMs, find } = createSlow();
    const id = control.createJob('pay', { name: 'quick', schedule: { everyMs: 600_000, offsetMs: 0 } });
    await minutes(3);
    control.runJob(id, { atMs: nowMs() + 24 * 60_000 });
    await minutes(24);
    expect(missed(shown)).toContainEqual(expect.stringMatching(/job_name="quick",reason="overlap"} [12]$/));
    expect(find('pay/quick')?.why.sentence).toMatch(/the one-time run #\d+ was waiting for its time/);
  });

  it('decides other jobs even if one definition cannot be read in time', async () => {
    const { minutes, shown, outcome, id, control } = createSlow();
    control.createJob('pay', { name: 'other', schedule: { everyMs: 600_000, offsetMs: 0, fromMs: 4e12 } });
    control.addFault({ kind: 'hang', path: `/job/${id}$` });
    await minutes(60);
    expect(outcome()).toMatchObject({ result: 'success' });
    expect(shown('job_next_run_timestamp_seconds')).toHaveLength(2);
  });
});
