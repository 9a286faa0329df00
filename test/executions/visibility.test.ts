import { describe, expect, it } from 'vitest';
import { play } from './play.ts';

const nothingRuns = (project: string): string =>
  `automation_executions_running{project="${project}",job_group="",job_name=""} 0`;

describe('executions/visibility', () => {
  it('reports nothing hidden for credentials that can read everything', async () => {
    const { rounds, finish, visibility } = await play();
    await rounds(2);
    finish('pay');
    await rounds(2);
    expect(visibility()).toEqual({ running: 'known', runningDenied: [], history: [] });
  });

  it('reports hidden executions, and that no running ones can be read', async () => {
    const { control, simulator, rounds, finish, visibility, shown } = await play();
    await rounds(2);
    control.addToken({ token: simulator.token, policy: { events: [] } });
    finish('pay');
    finish('pay');
    await rounds(10);
    const history = [{ project: 'pay', counted: 2, readable: 0 }];
    expect(visibility()).toEqual({ running: 'denied', runningDenied: [], history });
    expect(shown('automation_executions_running')).toEqual([]);

    control.addToken({ token: simulator.token });
    await rounds(10);
    expect(visibility()).toEqual({ running: 'known', runningDenied: [], history: [] });
    expect(shown('automation_executions_running')).toEqual([nothingRuns('pay')]);
  });

  it('continues to report a partly hidden project, and counts its other executions when they are shown', async () => {
    const { control, simulator, rounds, finish, visibility, shown, counted } = await play();
    const hidden = control.createJob('pay', { name: 'secret' });
    await rounds(2);
    control.addToken({ token: simulator.token, policy: { hiddenJobs: [hidden] } });
    finish('pay');
    finish('pay', { jobId: hidden });
    await rounds(2);
    const history = [{ project: 'pay', counted: 2, readable: 1 }];
    expect(visibility()).toMatchObject({ history });
    // Short windows show all executions that end meanwhile, and none once the project is idle.
    finish('pay');
    await rounds(100);
    expect(visibility()).toMatchObject({ history: [{ project: 'pay', counted: 3, readable: 2 }] });
    expect(shown('automation_exporter_executions_hidden')).toEqual([
      'automation_exporter_executions_hidden{project="pay"} 1',
    ]);

    control.addToken({ token: simulator.token });
    await rounds(25);
    expect(visibility().history).toEqual([]);
    expect(shown('automation_exporter_executions_hidden')).toEqual([]);
    expect(counted()).toEqual(['pay settle succeeded 2', 'pay secret succeeded 1']);
  });

  it('finds projects that the list of running executions omits, and publishes no 0 for them', async () => {
    const { control, simulator, rounds, visibility, shown } = await play();
    control.createProject('stock');
    await rounds(2);
    expect(shown('automation_executions_running')).toEqual([nothingRuns('pay'), nothingRuns('stock')]);
    control.addToken({ token: simulator.token, policy: { events: ['stock'] } });
    await rounds(1, 6 * 3_600_000);
    await rounds(2);
    expect(visibility()).toMatchObject({ running: 'known', runningDenied: ['pay'] });
    expect(shown('automation_executions_running')).toEqual([nothingRuns('stock')]);

    control.addToken({ token: simulator.token });
    await rounds(25);
    expect(visibility().runningDenied).toEqual([]);
    expect(shown('automation_executions_running')).toEqual([nothingRuns('pay'), nothingRuns('stock')]);
  });

  it('sends few requests about visibility: one every six hours for each project, and one in a round', async () => {
    const { control, simulator, rounds } = await play();
    for (let index = 0; index < 9; index += 1) control.createProject(`p${index}`);
    const named = /\/project\/([^*]+)\/executions\/running$/;
    const asked = (): number => simulator.requests().filter(({ path }) => named.test(path)).length;
    await rounds(2);
    expect(asked()).toBe(2);
    await rounds(8);
    expect(asked()).toBe(10);
    await rounds(300, 60_000);
    expect(asked()).toBe(10);
  });

  it('reports that a project is denied that could be read before', async () => {
    const { control, simulator, rounds, visibility } = await play();
    control.createProject('stock');
    await rounds(2);
    control.addToken({ token: simulator.token, policy: { projects: ['stock'], events: ['stock'] } });
    // Servers check no right on the project here, but a proxy may.
    const body = '{"error":true,"errorCode":"api.error.item.unauthorized","message":"denied"}';
    control.addFault({ kind: 'status', status: 403, path: '/project/pay/executions$', body });
    await rounds(10, 60_000);
    expect(visibility().history).toEqual([{ project: 'pay', counted: undefined, readable: 0 }]);
  });
});
