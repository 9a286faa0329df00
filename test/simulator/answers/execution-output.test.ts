import { describe, expect, it } from 'vitest';
import { command, work } from '../../../simulator/scenarios/build.ts';
import { ask, settleId, startSmall } from '../caller.ts';

describe('simulator/answers/execution-output', () => {
  it('can be followed from offset to offset until it is complete (B 4.2)', async () => {
    const simulator = await startSmall();
    simulator.control.runJob(settleId);
    const logs: string[] = [];
    let offset = '0';
    let completed = false;
    for (let round = 0; round < 10 && !completed; round += 1) {
      const { json } = await ask(simulator, `api/47/execution/3/output?offset=${offset}`);
      const answer = json as { offset: string; completed: boolean; entries: { node: string; log: string }[] };
      logs.push(...answer.entries.map(({ node, log }) => `${node} ${log}`));
      ({ offset, completed } = answer);
      simulator.advance(1000);
    }
    await simulator.stop();
    expect(completed).toBe(true);
    expect(logs.toSorted()).toEqual([
      'web01 true: begins on web01',
      'web01 true: done',
      'web02 true: begins on web02',
      'web02 true: done',
    ]);
  });

  it('reports that nothing changed since lastmod', async () => {
    const simulator = await startSmall();
    const { json } = await ask(simulator, 'api/47/execution/1/output?offset=9999&lastmod=1768478400000');
    await simulator.stop();
    expect(json).toMatchObject({
      message: 'Unmodified',
      unmodified: true,
      offset: '9999',
      completed: true,
      entries: [],
    });
  });

  it('answers 200 for logs that are pending or lost', async () => {
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

  it('has its own error bodies', async () => {
    const simulator = await startSmall();
    simulator.control.addToken({ token: 'half', policy: { hiddenJobs: [settleId] } });
    const denied = await ask(simulator, 'api/47/execution/1/output', { headers: { 'X-Rundeck-Auth-Token': 'half' } });
    const bad = await ask(simulator, 'api/47/execution/1/output?offset=-1');
    const unknown = await ask(simulator, 'api/47/execution/77/output');
    await simulator.stop();
    expect([denied.status, denied.text]).toEqual([
      403,
      '{"error":"Not authorized for action \\"read\\" for Execution 1","id":"1","offset":"0","completed":false}',
    ]);
    expect([bad.status, bad.text]).toEqual([
      400,
      '{"error":"Invalid offset or step context","id":"1","offset":"0","completed":false}',
    ]);
    expect([unknown.status, (unknown.json as { errorCode: string }).errorCode]).toEqual([
      404,
      'api.error.item.doesnotexist',
    ]);
  });

  it('writes on demand only what differs from the entry before: null for what went, a bare text before v59', async () => {
    const simulator = await startSmall({ apiVersion: 59 });
    const steps = [command('well', 0.01, 0), command('badly', 1, 1)];
    simulator.control.createJob('pay', { name: 'two', work: work(['web01'], steps) }, 'two');
    simulator.control.runJob('two');
    simulator.advance(60_000);
    const read = async (version: number) => {
      const { json } = await ask(simulator, `api/${version}/execution/3/output?compacted=true`);
      return json;
    };
    const [old, recent] = [await read(58), await read(59)] as { compactedAttr: string; entries: unknown[] }[];
    await simulator.stop();
    expect([old?.compactedAttr, old?.entries[1], old?.entries.at(-1)]).toMatchObject([
      'log',
      'well: done',
      { stepctx: null },
    ]);
    expect(recent?.entries[1]).toEqual({ log: 'well: done' });
  });

  it('counts the last lines before any filter, and may have one more of a log that grows', async () => {
    const simulator = await startSmall();
    simulator.control.runJob(settleId);
    simulator.advance(30);
    const count = async (query: string) => {
      const { json } = await ask(simulator, `api/47/execution/3/output${query}`);
      return (json as { entries: unknown[] }).entries.length;
    };
    simulator.advance(10_000);
    const ended = [
      await count('?lastlines=1'),
      await count('/node/web01?lastlines=1'),
      await count('/node/web02?lastlines=1'),
    ];
    simulator.control.runJob(settleId);
    simulator.advance(100);
    const growing = await count('?lastlines=1').then(() => ask(simulator, 'api/47/execution/4/output?lastlines=1'));
    await simulator.stop();
    expect([ended[0], (ended[1] ?? 0) + (ended[2] ?? 0)]).toEqual([1, 1]);
    expect((growing.json as { entries: unknown[] }).entries).toHaveLength(2);
  });

  it.each([
    ['from the storage, once it has it', 'object-store', ['Pending', 'Pending', undefined]],
    ['never without one', undefined, ['No output is available', 'No output is available', 'No output is available']],
  ])('has a log of another member %s', async (_how, logStoragePlugin, expected) => {
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

  it('is complete without a mark of its end after a crash', async () => {
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
