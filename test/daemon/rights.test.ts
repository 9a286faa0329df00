import { describe, expect, it, onTestFinished } from 'vitest';
import { startSimulator } from '../../simulator/simulator.ts';
import { everythingPolicy, type Policy, readerPolicy } from '../../simulator/world/access.ts';
import { loadOrComplain } from '../../src/commands/load.ts';
import { parseArguments } from '../../src/config/read/command-line.ts';
import { collectors } from '../../src/daemon/catalogue/collectors.ts';
import { watchRights } from '../../src/daemon/rights/prove-rights.ts';
import { createTestClient, fixedSecret } from '../support/client.ts';
import { dayMs } from '../support/durations.ts';
import { eventually } from '../support/eventually.ts';

describe('daemon/rights', () => {
  /** Watches a server; `wake` ends its current wait. */
  async function watch(policy?: Policy) {
    const simulator = await startSimulator({ scenario: 'empty', apiVersion: 58 });
    onTestFinished(() => simulator.stop());
    const { url, token, control } = simulator;
    for (const project of ['pay', 'shop', 'hr', 'stock', 'web']) {
      control.createProject(project, ['web01']);
      control.createJob(project, { name: 'nightly' });
    }
    if (policy !== undefined) control.addToken({ token, policy });
    const env = { AUTOMATION_EXPORTER_NAME: 'prod', AUTOMATION_EXPORTER_URL: url, AUTOMATION_EXPORTER_TOKEN: token };
    const complain = (text: string): never => {
      throw new Error(text);
    };
    const context = { env, version: 'test', write: complain, complain, arguments: parseArguments([], { collectors }) };
    const loaded = await loadOrComplain(context);
    const [server] = loaded?.config.servers ?? [];
    if (loaded === undefined || server === undefined) throw new Error('no server is configured');
    const { client, close } = createTestClient({ url, token: fixedSecret(token) });
    onTestFinished(close);
    const waiting: { readonly inMs: number; readonly work: () => void }[] = [];
    const after = (inMs: number, work: () => void) => {
      waiting.push({ inMs, work });
      return () => void waiting.splice(0);
    };
    const rights = watchRights(server, { config: loaded.config, client, clock: { after, now: () => 7 } });
    const requests = (): number => simulator.requests().length;
    return { rights, waiting, requests, control, wake: () => waiting.shift()?.work() };
  }

  it.each<[string, Policy, number, string, string[]]>([
    ['daily if they are as needed', readerPolicy, dayMs, '', []],
    ['soon if some are unnecessary', everythingPolicy, 600_000, '', ['job delete']],
    ['soon if some are missing', { ...readerPolicy, events: ['pay'] }, 600_000, 'event read in shop', []],
  ])('requests the rights a minute after the start, then %s', async (...given) => {
    const [, policy, inMs, missing, excess] = given;
    const { rights, waiting, requests, wake } = await watch(policy);
    rights.start();
    expect([rights.now(), waiting[0]?.inMs, requests()]).toEqual([undefined, 60_000, 0]);
    wake();
    await eventually(async () => {
      if (waiting.length === 0) throw new Error('not yet');
    });
    expect(waiting[0]?.inMs).toBe(inMs);
    const ofExecutions = rights.now()?.rights.find(({ collector }) => collector === 'executions');
    expect(ofExecutions?.missing.filter((right) => right === missing)).toHaveLength(missing === '' ? 0 : 1);
    expect(ofExecutions?.may).toBe(missing === '');
    expect(rights.now()?.excess.filter((right) => right === 'job delete')).toEqual(excess);
    expect([rights.now()?.leastPolicy !== undefined, rights.now()?.atMs]).toEqual([excess.length > 0, 7]);
    expect(requests()).toBeLessThanOrEqual(30);
    rights.stop();
    expect(waiting).toEqual([]);
  });

  it.each([
    ['does not answer', {}],
    ['cannot list its projects now, because rights in projects would be missing', { path: '/projects$' }],
  ])('requests the rights again in an hour if the server %s', async (_what, where) => {
    const { rights, waiting, control, wake } = await watch();
    control.addFault({ kind: 'status', status: 503, ...where });
    rights.start();
    wake();
    await eventually(async () => {
      if (waiting.length === 0) throw new Error('not yet');
    });
    expect([rights.now(), waiting[0]?.inMs]).toEqual([undefined, 3_600_000]);
  });
});
