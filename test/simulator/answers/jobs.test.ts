import { describe, expect, it } from 'vitest';
import { command, work } from '../../../simulator/scenarios/build.ts';
import type { Simulator } from '../../../simulator/simulator.ts';
import { createDirectSimulator } from '../../support/direct-simulator.ts';
import { ask, asService, settleId, startEmpty, startSmall } from '../caller.ts';

describe('simulator/answers/jobs', () => {
  it('omits hidden jobs in lists', async () => {
    const simulator = await startSmall();
    simulator.control.addToken({ token: 'half', policy: { hiddenJobs: [settleId] } });
    const options = { headers: { 'X-Rundeck-Auth-Token': 'half' } };
    const list = await ask(simulator, 'api/47/project/pay/jobs', options);
    const one = await ask(simulator, `api/47/job/${settleId}/info`, options);
    await simulator.stop();
    expect((list.json as { name: string }[]).map(({ name }) => name)).toEqual(['backup']);
    expect(one.status).toBe(403);
  });

  it('refuses unknown formats', async () => {
    const simulator = await startSmall();
    const definition = await ask(simulator, `api/43/job/${settleId}`);
    const yaml = await ask(simulator, `api/43/job/${settleId}`, withAccept(simulator, 'application/yaml'));
    await simulator.stop();
    expect([definition.status, yaml.status]).toEqual([415, 200]);
    expect(yaml.text).toContain('- id: 11111111-1111-4111-a111-111111111111\n');
  });

  it('assigns schedules to members only in a cluster', async () => {
    const simulator = await startSmall({ members: 2 });
    const { json } = await ask(simulator, 'api/47/project/pay/jobs');
    await simulator.stop();
    const [backup, settle] = json as { serverNodeUUID?: string; serverOwner?: boolean }[];
    expect(backup).not.toHaveProperty('serverNodeUUID');
    expect(settle).toHaveProperty('serverNodeUUID');
    expect(settle?.serverOwner).toBe(false);
  });
});

describe('simulator/answers/job-forecast', () => {
  it('returns no times for a job that will not run', async () => {
    const simulator = await startSmall();
    const mixed = await ask(simulator, `api/47/job/${settleId}/forecast?time=2d1h`);
    simulator.control.setExecutionMode('passive');
    const passive = await ask(simulator, `api/47/job/${settleId}/forecast?time=1h`);
    simulator.control.changeJob(settleId, { scheduleEnabled: false });
    const off = await ask(simulator, `api/47/job/${settleId}/forecast?time=1h`);
    await simulator.stop();
    expect(mixed.status).toBe(400);
    expect(passive.json).toMatchObject({ futureScheduledExecutions: ['2026-01-15T13:00:00Z'] });
    expect(off.json).not.toHaveProperty('futureScheduledExecutions');
  });
});

describe('simulator/answers/job-forecast of long spans', () => {
  it('costs as much as listing all times of the span', async () => {
    const simulator = createDirectSimulator({ scenario: 'empty', apiVersion: 47 });
    const { control, transport, token, requests } = simulator;
    control.createProject('pay');
    const schedule = { everyMs: 1000, offsetMs: 0, fromMs: Date.UTC(2027, 0, 1) };
    const id = control.createJob('pay', { name: 'dense', schedule });
    const get = (query: string) =>
      transport.get({
        apiEndpoint: 'job-forecast',
        path: `/api/47/job/${id}/forecast?${query}`,
        headers: { 'x-rundeck-auth-token': token },
        timeoutMs: 3000,
      });
    await get('time=2m&max=5');
    await expect(get('time=1y&max=5')).rejects.toThrow('no answer in time');
    expect(requests().map(({ listed }) => listed)).toEqual([0, 14.5 * 86_400 + 1]);
  });
});

describe('simulator/answers/job-forecast of newer releases', () => {
  it('appends one-time runs to the times of the schedule', async () => {
    const simulator = await startSmall({ apiVersion: 58 });
    const tenPast = Date.UTC(2026, 0, 15, 12, 10);
    simulator.control.runJob(settleId, { type: 'user-scheduled', atMs: tenPast });
    const newer = await ask(simulator, `api/58/job/${settleId}/forecast?time=1h`);
    const older = await ask(simulator, `api/47/job/${settleId}/forecast?time=1h`);
    await simulator.stop();
    const thirteen = '2026-01-15T13:00:00.000Z';
    expect(newer.json).toMatchObject({ futureScheduledExecutions: [thirteen, '2026-01-15T12:10:00.000Z'] });
    expect(older.json).toMatchObject({ futureScheduledExecutions: [thirteen] });
  });
});

describe('simulator/answers/job-workflow', () => {
  it('names steps like real servers', async () => {
    const simulator = await startNested('rundeck');
    const { text } = await ask(simulator, 'api/47/job/outer/workflow');
    await simulator.stop();
    expect(text).toBe(
      '{"workflow":[{"jobref":{"group":"parts","name":"inner","uuid":"inner","nodeStep":"true"},"jobId":"inner","workflow":[{"exec":"uptime","errorhandler":{"exec":"echo no"}}]},{"jobref":{"group":"parts","name":"inner","uuid":"inner","nodeStep":"false"},"jobId":"inner"},{"jobref":{"group":"","name":"missing","nodeStep":"false"}}]}',
    );
  });

  it('names steps in the neutral dialect like the documents', async () => {
    const simulator = await startNested('service');
    const { text } = await ask(simulator, 'api/33/job/outer/workflow', asService(simulator));
    await simulator.stop();
    expect(text).toContain('{"jobRef":{"group":"parts","name":"inner","uuid":"inner","nodeStep":true},"jobId":"inner"');
    expect(text).toContain('"errorHandler":{"exec":"echo no"}');
  });
});

describe('simulator/control-estate', () => {
  it('renames, disables and deletes projects', async () => {
    const simulator = await startSmall();
    const { control } = simulator;
    control.createProject('gone');
    control.deleteProject('gone');
    control.renameProject('pay', 'pay+2');
    control.changeProject('pay+2', { executionsEnabled: false, scheduleEnabled: false });
    const projects = await ask(simulator, 'api/47/projects?meta=config');
    const config = await ask(simulator, 'api/47/project/pay%2B2/config/project.disable.schedule');
    const execution = await ask(simulator, 'api/47/execution/1');
    const refused = control.runJob(settleId);
    await simulator.stop();
    expect(projects.json).toMatchObject([
      { name: 'pay+2', meta: [{ name: 'config', data: { executionsEnabled: false, scheduleEnabled: false } }] },
    ]);
    expect(config.json).toEqual({ key: 'project.disable.schedule', value: 'true' });
    expect(execution.json).toMatchObject({ project: 'pay+2' });
    expect(refused).toBeUndefined();
  });

  it('keeps the executions of a deleted job, without the job', async () => {
    const simulator = await startSmall({ apiVersion: 58 });
    simulator.control.deleteJob(settleId);
    const execution = await ask(simulator, 'api/58/execution/1');
    const job = await ask(simulator, `api/58/job/${settleId}/info`);
    simulator.advance(2 * 3_600_000);
    const { executions } = simulator.truth();
    await simulator.stop();
    expect(execution.json).toMatchObject({ id: 1, jobDeleted: true });
    expect(execution.json).not.toHaveProperty('job');
    expect(job.status).toBe(404);
    expect(executions).toHaveLength(2);
  });

  it('accepts names of any kind', async () => {
    const simulator = await startEmpty();
    const names = ['__proto__', 'constructor', 'a"b\\c\nd,{}', '\0nul', '😀', 'x'.repeat(10_000)];
    simulator.control.createProject('a+b c/d%', ['__proto__', 'n,1']);
    for (const name of names) {
      simulator.control.runJob(simulator.control.createJob('a+b c/d%', { name, group: name }), {
        options: { opt: name },
      });
    }
    simulator.advance(60_000);
    const { json } = await ask(simulator, `api/47/project/${encodeURIComponent('a+b c/d%')}/executions?max=0`);
    const state = await ask(simulator, 'api/47/execution/1/state');
    await simulator.stop();
    const { executions } = json as { executions: { job: { name: string }; successfulNodes: string[] }[] };
    expect(executions.map(({ job }) => job.name).toSorted()).toEqual(names.toSorted());
    expect(executions[0]?.successfulNodes.toSorted()).toEqual(['1', '__proto__', 'n']);
    expect(state.text).toContain('"__proto__":[{"stepctx":"1","executionState":"SUCCEEDED"}]');
  });
});

function withAccept(simulator: Simulator, accept: string) {
  return { accept, headers: { 'X-Rundeck-Auth-Token': simulator.token } };
}

async function startNested(dialect: 'rundeck' | 'service'): Promise<Simulator> {
  const simulator = await startEmpty({ dialect });
  const { control } = simulator;
  control.createProject('p', ['n1']);
  const inner = work(['n1'], [command('uptime', 1, 0, { handler: command('echo no', 1, 0) })]);
  control.createJob('p', { name: 'inner', group: 'parts', work: inner }, 'inner');
  const refer = (text: string, nodeStep: boolean) =>
    ({ kind: 'jobref', text, nodeStep, seconds: 0, failureChance: 0 }) as const;
  const outer = work(['n1'], [refer('inner', true), refer('inner', false), refer('nowhere', false)]);
  control.createJob('p', { name: 'outer', work: outer }, 'outer');
  return simulator;
}
