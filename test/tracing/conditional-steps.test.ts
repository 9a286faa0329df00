import { expect, it, onTestFinished } from 'vitest';
import { command, work } from '../../simulator/scenarios/build.ts';
import { type SimulatorOptions, startSimulator } from '../../simulator/simulator.ts';
import type { Step } from '../../simulator/world/work.ts';
import { askForExecution } from '../../src/tracing/enrich/ask.ts';
import { createTestClient, fixedSecret } from '../support/client.ts';
import { planSource } from './recorded.ts';

const named = (description: string, more: Partial<Step> = {}) => command('true', 1, 0, { description, ...more });

/** Returns the names of the steps of a run, without the names of nodes. */
async function readNames(options: SimulatorOptions, steps: readonly Step[]): Promise<string[]> {
  const simulator = await startSimulator({ scenario: 'empty', clock: 'free', ...options });
  onTestFinished(() => simulator.stop());
  simulator.control.createProject('pay', ['web01']);
  simulator.control.runJob(simulator.control.createJob('pay', { name: 'settle', work: work(['web01'], steps) }));
  simulator.advance(60_000);
  const { client, close } = createTestClient({ url: simulator.url, token: fixedSecret(simulator.token) });
  onTestFinished(close);
  const api = client.within({ lane: 'vital', forMs: 5000 });
  const source = await askForExecution(api, 1, { detail: 'nodes', wait: async () => undefined });
  const names = source && planSource(source).trace.spans.map(({ name }) => name);
  return names?.filter((name) => name !== 'web01').slice(1) ?? [];
}

const conditional = (...steps: Step[]): Step => named('If ready', { kind: 'conditional', nodeStep: false, steps });

it.each([
  ['5.20.0', ['Check', 'Deploy', 'Announce', 'Clean']],
  ['6.0.0', ['Check', 'If ready', 'Deploy', 'Announce', 'Clean']],
])('names the steps of a conditional step in release %s', async (release, names) => {
  const steps = [named('Check'), conditional(named('Deploy'), named('Announce')), named('Clean')];
  expect(await readNames({ release }, steps)).toEqual(names);
});

it('does not name an inner step like its conditional step', async () => {
  const only = named('Announce', { kind: 'plugin', nodeStep: false });
  expect(await readNames({ release: '5.20.0' }, [conditional(only)])).toEqual(['Announce']);
});
