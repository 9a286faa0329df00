import { describe, expect, it } from 'vitest';
import type { Simulator } from '../../../simulator/simulator.ts';
import { ask, startSmall } from '../caller.ts';

describe('simulator/routes/control-routes', () => {
  it('explains the controls', async () => {
    const simulator = await startSmall();
    const { json } = await ask(simulator, 'simulator', { headers: {} });
    const requests = simulator.requests();
    await simulator.stop();
    const { controls, faultKinds, scenarios } = json as {
      controls: { path: string }[];
      faultKinds: string[];
      scenarios: unknown[];
    };
    expect(controls.map(({ path }) => path)).toEqual([
      '/simulator/execution-mode',
      '/simulator/log-storage',
      '/simulator/health-check',
      '/simulator/metrics',
      '/simulator/fault',
      '/simulator/faults/clear',
      '/simulator/token',
      '/simulator/token/access-rules',
      '/simulator/token/expire',
      '/simulator/clock-skew',
      '/simulator/restart',
      '/simulator/save-delay',
      '/simulator/lose-member',
      '/simulator/conditions',
      '/simulator/key',
      '/simulator/settings',
      '/simulator/run-job',
      '/simulator/abort',
      '/simulator/project',
      '/simulator/project/change',
    ]);
    expect(faultKinds).toContain('bomb');
    expect(scenarios).toHaveLength(15);
    expect(requests).toEqual([]);
  });

  it('offers the controls of tests to other processes', async () => {
    const simulator = await startSmall();
    await control(simulator, 'execution-mode', { mode: 'passive' });
    await control(simulator, 'health-check', { failing: 'dataSource.connection.time' });
    await control(simulator, 'token', { token: 'new-token', policy: { projects: [] } });
    await control(simulator, 'project', { name: 'fresh' });
    await control(simulator, 'fault', { kind: 'status', status: 500, path: 'user/info', times: 1 });
    const mode = await ask(simulator, 'api/47/system/executions/status');
    const health = await ask(simulator, 'api/47/metrics/healthcheck');
    const none = await ask(simulator, 'api/47/projects', { headers: { 'X-Rundeck-Auth-Token': 'new-token' } });
    const projects = await ask(simulator, 'api/47/projects');
    const roles = await ask(simulator, 'api/47/user/info');
    const truth = await ask(simulator, 'simulator/truth', { headers: {} });
    await simulator.stop();
    expect([mode.text, health.status, none.text, roles.status]).toEqual([
      '{"executionMode":"passive"}',
      500,
      '[]',
      500,
    ]);
    expect((projects.json as { name: string }[]).map(({ name }) => name)).toEqual(['fresh', 'pay']);
    expect(truth.json).toMatchObject({ executionMode: 'passive', executions: [{ id: 1 }, { id: 2 }] });
  });

  it.each([
    ['execution-mode', { mode: 'bogus' }, 'mode: Invalid option: expected one of "active"|"passive"'],
    ['execution-mode', {}, 'mode: Invalid option: expected one of "active"|"passive"'],
    ['log-storage', { failing: 'yes' }, 'failing: Invalid input: expected boolean, received string'],
    ['log-storage', { failing: true, often: 3 }, 'Unrecognized key: "often"'],
    ['clock-skew', {}, 'ms: Invalid input: expected number, received undefined'],
    ['fault', { kind: 'earthquake' }, 'kind: Invalid option: expected one of "slow"|"hang"'],
    ['settings', { unknown: 1 }, 'Unrecognized key: "unknown"'],
    ['abort', { id: 'all' }, 'id: Invalid input: expected number, received string'],
    ['execution-mode', [], 'Invalid input: expected object, received array'],
  ])('refuses an invalid request: %s %j', async (path, body, problem) => {
    const simulator = await startSmall();
    const headers = { 'content-type': 'application/json' };
    const { status, json } = await ask(simulator, `simulator/${path}`, {
      method: 'POST',
      headers,
      body: JSON.stringify(body),
    });
    const mode = await ask(simulator, 'api/47/system/executions/status');
    await simulator.stop();
    expect({ status, problem: (json as { error: string }).error.slice(0, problem.length) }).toEqual({
      status: 400,
      problem,
    });
    expect(mode.text).toBe('{"executionMode":"active"}');
  });

  it('has a page of buttons that all work', async () => {
    const simulator = await startSmall();
    const accept = 'text/html,*/*;q=0.8';
    const { text } = await ask(simulator, 'simulator', { headers: {}, accept });
    const names = [...text.matchAll(/<button name="press" value="([^"]*)"/g)].map(([, name = '']) => name);
    const press = (name: string, headers: Readonly<Record<string, string>> = {}) =>
      ask(simulator, 'simulator/press', {
        method: 'POST',
        headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
        body: new URLSearchParams({ press: name }).toString(),
      });
    const statuses = [];
    for (const name of names) statuses.push((await press(name)).status);
    const wrong = await press('Execution mode: Forget it');
    const foreign = await press('Execution mode: Make it passive', { 'sec-fetch-site': 'cross-site' });
    const done = await ask(simulator, 'simulator?done=Execution+mode:+Make+it+passive', { headers: {}, accept });
    await simulator.stop();
    expect(names).toHaveLength(17);
    expect(new Set(statuses)).toEqual(new Set([303]));
    expect([wrong.status, wrong.text, foreign.status]).toEqual([
      400,
      'Nothing was changed: the button is unknown.\n',
      400,
    ]);
    expect(done.text).toContain('✓ Execution mode: Make it passive');
  });
});

async function control(simulator: Simulator, path: string, body: unknown): Promise<void> {
  const headers = { 'content-type': 'application/json' };
  const reply = await ask(simulator, `simulator/${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
  expect(reply.text).toBe('{"done":true}');
}
