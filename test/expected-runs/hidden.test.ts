import { describe, expect, it } from 'vitest';
import { createStopping } from './hourly.ts';

const missed = (name: string, count: number): string =>
  `automation_schedule_missed_total{project="pay",job_group="nightly",job_name="${name}",reason="unknown"} ${count}`;

/** Creates two jobs whose runs begin and end between two polls. */
function createShort() {
  const scene = createStopping();
  scene.control.createProject('pay');
  const short = { group: 'nightly', schedule: { everyMs: 3_600_000, offsetMs: 20_000 } };
  const id = scene.control.createJob('pay', { ...short, name: 'settle' });
  scene.control.createJob('pay', { ...short, name: 'index' });
  return { ...scene, id };
}

describe('expected-runs, a job that can be viewed but not read', () => {
  it('explains why the job is not watched', async () => {
    const { control, minutes, shown, find, id, token, outcome } = createShort();
    await minutes(70);
    control.addToken({ token, policy: { viewedJobs: [id] } });
    await minutes(190);
    // The first time after the change may be a hidden or a missed run.
    expect(shown('schedule_missed_total')).toEqual([missed('settle', 1), missed('index', 0)]);
    expect(find('pay/nightly/settle')?.why.sentence).toContain(
      'The runs of the job cannot be read, so missed runs are not reported (seen 15:',
    );
    expect(find('pay/nightly/settle')?.why).toMatchObject({ verdict: 'unknown' });
    expect(outcome()).toMatchObject({
      note: 'runs of pay/nightly/settle cannot be read, so their missed runs are not reported',
    });
    control.addToken({ token });
    await minutes(120);
    expect(shown('schedule_missed_total')).toEqual([missed('settle', 1), missed('index', 0)]);
    expect(find('pay/nightly/settle')?.why).toMatchObject({ verdict: 'ran' });
    expect(outcome()).not.toHaveProperty('note');
  });

  it('reports no missed run of jobs with unreadable runs', async () => {
    const { control, minutes, shown } = createShort();
    const body = JSON.stringify({ paging: { total: 1, count: 1, offset: 0, max: 1 }, executions: [{ id: 2 ** 60 }] });
    control.addFault({ kind: 'status', status: 200, path: '/pay/executions$', body });
    await minutes(310);
    expect(shown('schedule_missed_total')).toEqual([missed('settle', 0), missed('index', 0)]);
  });

  it('reports no missed run if the runs were always hidden', async () => {
    const { control, minutes, shown, id, token, requests, nowMs } = createShort();
    control.addToken({ token, policy: { viewedJobs: [id] } });
    await minutes(310);
    expect(shown('schedule_missed_total')).toEqual([missed('settle', 0), missed('index', 0)]);
    const asked = requests().filter(({ query }) => query.includes('jobIdListFilter'));
    // Counting all runs of a job may take the server minutes.
    const days = (query: string): number => (nowMs() - Number(/\bbegin=(\d+)/.exec(query)?.[1])) / 86_400_000;
    expect(asked.map(({ query }) => Math.floor(days(query)))).toEqual([7]);
  });
});
