import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createClock } from '../../simulator/clock.ts';
import { answerDirectly } from '../../simulator/direct.ts';
import { createService, startSimulator } from '../../simulator/simulator.ts';

const options = { scenario: 'quiet-day', frozen: true, seed: 3 } as const;

const paths = [
  '/api/47/system/info',
  '/api/47/projects?meta=config',
  '/api/47/project/*/executions/running?includePostponed=true',
  '/api/47/executions/metrics?begin=1768478400000&end=1768482000000',
  '/api/47/project/nobody/executions',
  '/api/99/system/info',
  '/api/47/no/such/thing',
  '/api/47/storage/keys/some/path',
];

describe('simulator/direct', () => {
  it('gives a function call the same response as a request over a socket', async () => {
    const simulator = await startSimulator(options);
    const { world, token } = createService(options, createClock(undefined, 'free'));
    const [member] = world.members;
    if (member === undefined) throw new Error('a service has members');
    const headers = { accept: 'application/json', 'x-rundeck-auth-token': token };
    onTestFinished(() => simulator.stop());
    for (const path of paths) {
      const answer = await fetch(`${simulator.url}${path}`, { headers });
      const direct = answerDirectly(world, { path, headers, member });
      expect({ path, status: direct.status, body: direct.body }).toEqual({
        path,
        status: answer.status,
        body: await answer.text(),
      });
    }
    const anonymous = answerDirectly(world, { path: '/api/47/projects', headers: {}, member });
    expect(anonymous.status).toBe(403);
  });

  it.each([
    ['', {}, '5.3.0'],
    ['6.1.0', {}, '6.1.0'],
    ['6.1.0', { apiVersion: 45 }, '4.17.0'],
  ])('simulates the release of the environment variable %j: %j', (named, options, release) => {
    vi.stubEnv('SIMULATED_RELEASE', named);
    const { world } = createService({ scenario: 'empty', ...options }, createClock(undefined, 'free'));
    vi.unstubAllEnvs();
    expect(world.release.name).toBe(release);
  });
});
