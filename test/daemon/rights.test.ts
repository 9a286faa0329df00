import { describe, expect, it, onTestFinished } from 'vitest';
import { startSimulator } from '../../simulator/simulator.ts';
import { loadOrComplain } from '../../src/commands/load.ts';
import { parseArguments } from '../../src/config/read/command-line.ts';
import { collectors } from '../../src/daemon/catalogue/collectors.ts';
import { watchRights } from '../../src/daemon/rights/prove-rights.ts';
import { createTestClient, fixedSecret } from '../support/client.ts';
import { dayMs } from '../support/durations.ts';
import { eventually } from '../support/eventually.ts';

describe('daemon/rights', () => {
  /** Watches a server; `wake` ends its current wait. */
  async function watch() {
    const simulator = await startSimulator({ scenario: 'empty', apiVersion: 58 });
    onTestFinished(() => simulator.stop());
    const { url, token, control } = simulator;
    for (const project of ['pay', 'shop', 'hr', 'stock', 'web']) {
      control.createProject(project, ['web01']);
      control.createJob(project, { name: 'nightly' });
    }
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
    const rights = watchRights(server, { config: loaded.config, client, clock: { after } });
    const requests = (): number => simulator.requests().length;
    return { rights, waiting, requests, control, wake: () => waiting.shift()?.work() };
  }

  it('requests the rights a minute after the start, then daily', async () => {
    const { rights, waiting, requests, wake } = await watch();
    rights.start();
    expect([rights.now(), waiting[0]?.inMs, requests()]).toEqual([undefined, 60_000, 0]);
    wake();
    await eventually(async () => {
      if (waiting.length === 0) throw new Error('not yet');
    });
    expect(waiting[0]?.inMs).toBe(dayMs);
    expect(rights.now()?.rights).toContainEqual({ collector: 'executions', may: true, missing: [] });
    expect(rights.now()?.excess).toContain('job delete');
    expect(rights.now()?.leastPolicy).toMatch(/allow:/);
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
