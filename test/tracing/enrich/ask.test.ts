import { describe, expect, it, onTestFinished } from 'vitest';
import { startSimulator } from '../../../simulator/simulator.ts';
import { askForExecution } from '../../../src/tracing/enrich/ask.ts';
import { createTestClient, fixedSecret } from '../../support/client.ts';

async function setUp() {
  const simulator = await startSimulator({ scenario: 'empty', clock: 'free' });
  onTestFinished(() => simulator.stop());
  simulator.control.createProject('pay', ['web01']);
  simulator.control.runJob(simulator.control.createJob('pay', { name: 'settle', group: 'nightly' }));
  const id = simulator.truth().executions[0]?.id ?? 0;
  const { client, close } = createTestClient({ url: simulator.url, token: fixedSecret(simulator.token) });
  onTestFinished(close);
  return { simulator, id, api: client.within({ lane: 'vital', forMs: 5000 }) };
}

describe('tracing/enrich/ask', () => {
  it('requests a state again a few times while the server loads it', async () => {
    const { simulator, id, api } = await setUp();
    simulator.advance(3_600_000);
    simulator.control.configure({ statePending: 'all' });
    const waits: number[] = [];
    const wait = async (forMs: number): Promise<void> => {
      waits.push(forMs);
      if (waits.length === 2) simulator.control.configure({ statePending: new Set() });
    };
    const source = await askForExecution(api, id, { detail: 'nodes', wait });
    expect({ waits, steps: source?.state?.steps.length, degraded: source?.degraded }).toEqual({
      waits: [1000, 1000],
      steps: 1,
      degraded: undefined,
    });
  });

  it('shows the trace that the daemon would send after waiting long enough', async () => {
    const { simulator, id, api } = await setUp();
    simulator.advance(3_600_000);
    simulator.control.configure({ statePending: 'all' });
    const source = await askForExecution(api, id, { detail: 'nodes', wait: async () => undefined });
    expect({ state: source?.state, degraded: source?.degraded }).toEqual({
      state: undefined,
      degraded: 'seal_timeout',
    });
  });

  it('returns nothing for a running execution', async () => {
    const { id, api } = await setUp();
    expect(await askForExecution(api, id, { detail: 'nodes', wait: async () => undefined })).toBeUndefined();
  });

  it('requests the reason of a failure with the detail root', async () => {
    const { simulator, api } = await setUp();
    simulator.control.setConditions({ downNodes: ['web01'] });
    simulator.control.runJob(simulator.control.createJob('pay', { name: 'report' }));
    simulator.advance(3_600_000);
    const id = simulator.truth().executions.at(-1)?.id ?? 0;
    const source = await askForExecution(api, id, { detail: 'root', wait: async () => undefined });
    expect(source).toMatchObject({ state: undefined, workflow: undefined, loggedReason: 'NodeDispatchFailure' });
    const asked = simulator.requests().map(({ path }) => path.replace(/^\/api\/\d+\/|\?.*$/g, ''));
    expect(asked.filter((path) => path.startsWith('execution/'))).toEqual([
      `execution/${id}`,
      `execution/${id}/output`,
    ]);
  });
});
