import { describe, expect, it } from 'vitest';
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
});
