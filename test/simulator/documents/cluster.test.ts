import { describe, expect, it } from 'vitest';
import type { Simulator } from '../../../simulator/simulator.ts';
import { noon, settleId, startSmall } from '../caller.ts';

describe('simulator/documents/cluster', () => {
  it('responds at the common address from each member in turn (A 2.4)', async () => {
    const simulator = await startCluster();
    const [first, second] = await Promise.all(simulator.memberUrls.map((url) => uuidOf(simulator, url)));
    const common = [];
    for (let turn = 0; turn < 4; turn += 1) {
      common.push(await uuidOf(simulator, simulator.url));
    }
    await simulator.stop();
    expect(first).not.toBe(second);
    expect(common).toEqual([first, second, first, second]);
  });

  it('lists the schedules of the responding member, or of another named member (A 4.5)', async () => {
    const simulator = await startCluster();
    const [first = '', second = ''] = simulator.memberUrls;
    const uuid = await uuidOf(simulator, second);
    const seen = [
      await jobsOf(simulator, first, 'scheduler/jobs'),
      await jobsOf(simulator, second, 'scheduler/jobs'),
      await jobsOf(simulator, first, `scheduler/server/${uuid}/jobs`),
      await jobsOf(simulator, second, `scheduler/server/${uuid}/jobs`),
    ];
    await simulator.stop();
    expect(seen).toEqual([['other true'], ['settle true'], ['settle false'], ['settle true']]);
  });

  it('gives the schedules of a lost member to another member', async () => {
    const simulator = await startCluster();
    const [first = ''] = simulator.memberUrls;
    simulator.control.loseMember(1);
    const jobs = await jobsOf(simulator, first, 'scheduler/jobs');
    const common = [await uuidOf(simulator, simulator.url), await uuidOf(simulator, simulator.url)];
    await simulator.stop();
    expect(jobs).toEqual(['settle true', 'other true']);
    expect(common[0]).toBe(common[1]);
  });

  it('counts logs, threads and uptime by member (A 2.4, 2.6)', async () => {
    const simulator = await startCluster();
    simulator.advance(60_000);
    simulator.control.restart({ memberIndex: 1 });
    simulator.advance(5000);
    simulator.control.runJob(settleId);
    const seen = [];
    for (const url of simulator.memberUrls) {
      const { system } = (await read(simulator, url, 'system/info')) as {
        system: { stats: { uptime: { since: { epoch: number } }; scheduler: { running: number } } };
      };
      const { totalCount } = (await read(simulator, url, 'system/logstorage')) as { totalCount: number };
      seen.push([system.stats.uptime.since.epoch - noon, system.stats.scheduler.running, totalCount]);
    }
    await simulator.stop();
    // The finished runs belong to the first member; the new run belongs to the second.
    expect(seen).toEqual([
      [0, 0, 2],
      [60_000, 1, 0],
    ]);
  });
});

/** Starts two members with separate addresses; the second owns `settle`, the first owns `other`. */
async function startCluster(): Promise<Simulator> {
  const simulator = await startSmall({ members: 2, memberAddresses: true });
  simulator.control.createJob('pay', { name: 'other', schedule: { everyMs: 3_600_000, offsetMs: 0 } });
  return simulator;
}

async function read(simulator: Simulator, url: string, path: string): Promise<unknown> {
  const headers = { 'X-Rundeck-Auth-Token': simulator.token, accept: 'application/json' };
  const response = await fetch(`${url}/api/47/${path}`, { headers });
  return response.json();
}

async function uuidOf(simulator: Simulator, url: string): Promise<string> {
  const { system } = (await read(simulator, url, 'system/info')) as { system: { rundeck: { serverUUID: string } } };
  return system.rundeck.serverUUID;
}

async function jobsOf(simulator: Simulator, url: string, path: string): Promise<string[]> {
  const jobs = (await read(simulator, url, path)) as { name: string; serverOwner: boolean }[];
  return jobs.map(({ name, serverOwner }) => `${name} ${serverOwner}`);
}
