import { describe, expect, it, onTestFinished } from 'vitest';
import { restsUntilMs } from '../../src/expected-runs/deciding/watched-job.ts';
import { createStopping } from './hourly.ts';
import { createScene } from './scene.ts';

const hour = { everyMs: 3_600_000, offsetMs: 0 };

describe('expected-runs, jobs whose schedule is refused', () => {
  it('reads a new schedule immediately among hundreds of refused ones, and reads those soon after they are permitted', {
    timeout: 60_000,
  }, async () => {
    const scene = createStopping({});
    const { control, minutes, shown, requests } = scene;
    control.createProject('pay');
    const create = (name: string, id?: string): string => control.createJob('pay', { name, schedule: hour }, id);
    for (let index = 0; index < 260; index++) create(`refused ${index}`, `refused-${index}`);
    const body = '{"error":true,"errorCode":"api.error.item.unauthorized"}';
    control.addFault({ kind: 'status', path: 'refused-\\d+/(info|forecast)', status: 403, body });
    await minutes(15);
    const asked = async (): Promise<number> => {
      const before = requests().length;
      await minutes(60);
      return requests()
        .slice(before)
        .filter(({ path }) => /refused.*(info|forecast)$/.test(path)).length;
    };
    // The requests come after 10, 20, 40 and 80 minutes, and so on. One job is requested every ten minutes.
    expect([await asked(), await asked(), await asked()]).toEqual([520, 6, 258]);
    create('new');
    await minutes(2);
    expect(shown('job_next_run_timestamp_seconds')).toHaveLength(1);
    control.clearFaults();
    await minutes(20);
    expect(shown('job_next_run_timestamp_seconds')).toHaveLength(261);
  });

  it('doubles the pause after each refusal, up to six hours', () => {
    const minutes = [1, 2, 5, 6, 7, 100].map((count) => restsUntilMs({ atMs: 0, count }) / 60_000);
    expect(minutes).toEqual([10, 20, 160, 320, 360, 360]);
  });

  it.each([
    [403, 'api.error.item.unauthorized'],
    [404, 'api.error.item.doesnotexist'],
  ])('names the single job whose times are refused with %i', async (status, errorCode) => {
    const { control, minutes, outcome, find, stop } = createScene({});
    onTestFinished(stop);
    control.createProject('pay');
    const id = control.createJob('pay', { name: 'settle', schedule: hour });
    control.createJob('pay', { name: 'other', schedule: hour });
    control.addFault({
      kind: 'status',
      path: `${id}/forecast`,
      status,
      body: JSON.stringify({ error: true, errorCode }),
    });
    await minutes(5);
    const note: unknown = expect.stringMatching(
      new RegExp(`^the schedule of pay/settle cannot be read: .*HTTP ${status}`),
    );
    expect(outcome()).toMatchObject({ result: 'success', note });
    expect(find(id)?.why.sentence).toMatch(new RegExp(`The schedule of the job cannot be read: .*HTTP ${status}`));
    control.changeJob(id, { enabled: false });
    await minutes(5);
    expect(outcome()).not.toHaveProperty('note');
  });
});
