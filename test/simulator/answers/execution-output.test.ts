import { describe, expect, it } from 'vitest';
import { command, work } from '../../../simulator/scenarios/build.ts';
import { ask, settleId, startSmall } from '../caller.ts';

describe('simulator/answers/execution-output', () => {
  it('responds with 200 for logs that are pending or lost', async () => {
    const simulator = await startSmall();
    simulator.control.configure({ logs: 'pending' });
    const pending = await ask(simulator, 'api/47/execution/1/output');
    simulator.control.configure({ logs: 'missing' });
    const missing = await ask(simulator, 'api/47/execution/1/output');
    await simulator.stop();
    expect([pending.status, missing.status]).toEqual([200, 200]);
    expect(pending.json).toMatchObject({ message: 'Pending', execCompleted: true, completed: false, entries: [] });
    expect(missing.json).toMatchObject({ error: 'No output is available', empty: true, offset: '0', completed: true });
  });

  it('reports errors in the format of the output', async () => {
    const simulator = await startSmall();
    simulator.control.addToken({ token: 'half', policy: { hiddenJobs: [settleId] } });
    const denied = await ask(simulator, 'api/47/execution/1/output', { headers: { 'X-Rundeck-Auth-Token': 'half' } });
    const unknown = await ask(simulator, 'api/47/execution/77/output');
    await simulator.stop();
    expect([denied.status, denied.text]).toEqual([
      403,
      '{"error":"Not authorized for action \\"read\\" for Execution 1","id":"1","offset":"0","completed":false}',
    ]);
    expect([unknown.status, (unknown.json as { errorCode: string }).errorCode]).toEqual([
      404,
      'api.error.item.doesnotexist',
    ]);
  });

  it('returns the last lines of a log', async () => {
    const simulator = await startSmall();
    simulator.control.runJob(settleId);
    const count = async (id: number) => {
      const { json } = await ask(simulator, `api/47/execution/${id}/output?lastlines=1`);
      return (json as { entries: unknown[] }).entries.length;
    };
    simulator.advance(10_000);
    const ended = await count(3);
    simulator.control.runJob(settleId);
    simulator.advance(100);
    const growing = await count(4);
    await simulator.stop();
    expect([ended, growing]).toEqual([1, 2]);
  });

  it('returns, page by page, the lines that a step wrote on a node', async () => {
    const simulator = await startSmall();
    const noisy = { ...command('fails', 1, 1), cleanupLines: 1000 };
    const id = simulator.control.createJob('pay', { name: 'noisy', work: work(['web01', 'web02'], [noisy]) });
    simulator.control.runJob(id);
    simulator.advance(10_000);
    const read = async (query: string) => {
      const { json } = await ask(simulator, `api/47/execution/3/output?${query}`);
      return json as {
        entries: { log: string; node: string }[];
        offset: string;
        completed: boolean;
        totalSize: number;
      };
    };
    const ofNode = 'nodename=web01&stepctx=1&maxlines=700';
    const first = await read(ofNode);
    const second = await read(`${ofNode}&offset=${first.offset}`);
    const last = await read('lastlines=5');
    const other = await read('stepctx=2&maxlines=10');
    await simulator.stop();
    expect([first.completed, second.completed, last.completed]).toEqual([false, true, true]);
    expect([first, last, other].map(({ entries }) => entries.length)).toEqual([700, 5, 0]);
    const lines = [...first.entries, ...second.entries];
    expect(new Set(lines.map(({ node }) => node))).toEqual(new Set(['web01']));
    expect(lines.filter(({ log }) => log.startsWith('removed ')).length).toBe(1000);
    expect(new Set(lines.map(({ log }) => log)).size).toBe(lines.length);
  });

  it.each([
    ['once the log storage has the log', 'object-store', ['Pending', 'Pending', undefined]],
    [
      'never if there is no log storage',
      undefined,
      ['No output is available', 'No output is available', 'No output is available'],
    ],
  ])('returns the log of a run of another member %s', async (_how, logStoragePlugin, expected) => {
    const simulator = await startSmall({ members: 2, memberAddresses: true });
    simulator.control.configure({ logStoragePlugin, storageDelayMs: 20_000 });
    simulator.control.runJob(settleId);
    const { member } = simulator.truth().executions.find(({ id }) => id === 3) ?? {};
    const url = simulator.memberUrls[member === 'auto-1' ? 1 : 0] ?? '';
    const words: unknown[] = [];
    for (const ms of [500, 7000, 30_000]) {
      simulator.advance(ms);
      const reply = await fetch(`${url}/api/47/execution/3/output`, {
        headers: { 'X-Rundeck-Auth-Token': simulator.token },
      });
      const { message, error } = (await reply.json()) as { message?: string; error?: string };
      words.push(error ?? message);
    }
    await simulator.stop();
    expect(words).toEqual(expected);
  });

  it('reports a log as complete after a crash, although its end mark is missing', async () => {
    const simulator = await startSmall();
    simulator.control.runJob(settleId);
    simulator.advance(500);
    simulator.control.restart({ cleanupAfterMs: 0 });
    simulator.advance(1000);
    const { json } = await ask(simulator, 'api/47/execution/3/output');
    const execution = await ask(simulator, 'api/47/execution/3');
    await simulator.stop();
    const { offset, totalSize, completed } = json as { offset: string; totalSize: number; completed: boolean };
    expect([Number(offset), completed]).toEqual([totalSize, true]);
    expect(execution.json).not.toHaveProperty('failedNodes');
  });
});
