import { describe, expect, it } from 'vitest';
import type { Simulator, SimulatorOptions } from '../../../simulator/simulator.ts';
import { type Policy, strangerPolicy } from '../../../simulator/world/access.ts';
import { ask, settleId, startSmall } from '../caller.ts';

/** Callers in the order of the columns, with what they cannot read. */
const callers: readonly (readonly [name: string, policy: Partial<Policy>])[] = [
  ['reader', {}],
  ['stranger', strangerPolicy],
  ['elsewhere', { projects: ['other'], events: ['other'], nodes: ['other'] }],
  ['no events', { events: [] }],
  ['no nodes', { nodes: [] }],
  ['no settle', { hiddenJobs: [settleId] }],
  ['configurer', { configure: true }],
  ['admin', { admin: true, systemAdmin: true }],
];

// The status for the caller of each column (A 5, B 4, J 5), at v47.
const table: readonly (readonly [path: string, statuses: string])[] = [
  // Since 4.4 every caller may see the version.
  ['system/info', '200 200 200 200 200 200 200 200'],
  ['system/executions/status', '200 403 200 200 200 200 200 200'],
  ['system/logstorage', '200 403 200 200 200 200 200 200'],
  ['system/logstorage/incomplete', '200 403 200 200 200 200 200 200'],
  // The servlet of metrics refuses with its own status.
  ['metrics/metrics', '200 401 200 200 200 200 200 200'],
  ['metrics/ping', '200 401 200 200 200 200 200 200'],
  ['metrics/threads', '200 401 200 200 200 200 200 200'],
  ['metrics/healthcheck', '200 401 200 200 200 200 200 200'],
  ['projects', '200 200 200 200 200 200 200 200'],
  ['project/pay/config/project.name', '403 403 403 403 403 403 200 403'],
  ['project/pay/meta', '200 403 403 200 200 200 200 200'],
  ['project/pay/acl/', '403 403 403 403 403 403 200 403'],
  ['project/pay/resources', '200 403 403 200 403 200 200 200'],
  ['project/pay/jobs', '200 403 403 200 200 200 200 200'],
  [`job/${settleId}/info`, '200 403 403 200 200 403 200 200'],
  [`job/${settleId}/forecast`, '200 403 403 200 200 403 200 200'],
  [`job/${settleId}/workflow`, '200 403 403 200 200 403 200 200'],
  [`job/${settleId}`, '200 403 403 200 200 403 200 200'],
  ['scheduler/jobs', '200 200 200 200 200 200 200 200'],
  // Up to 6.1, servers do not check the right on the project: rows are omitted, and totals are complete.
  ['project/pay/executions', '200 200 200 200 200 200 200 200'],
  ['project/pay/executions/running', '200 403 403 403 200 200 200 200'],
  // One project with unreadable events makes the server refuse the request.
  ['project/*/executions/running', '200 401 200 403 200 200 200 200'],
  ['execution/1', '200 403 403 200 200 403 200 200'],
  ['execution/1/state', '200 403 403 200 200 403 200 200'],
  ['execution/1/output', '200 403 403 200 200 403 200 200'],
  // Up to 6.1, the totals include executions that the caller cannot read.
  ['executions/metrics', '200 200 200 200 200 200 200 200'],
  ['project/pay/executions/metrics', '200 200 200 200 200 200 200 200'],
  ['tokens', '200 200 200 200 200 200 200 200'],
  ['user/list/', '403 403 403 403 403 403 403 200'],
  ['user/info/', '200 200 200 200 200 200 200 200'],
  ['userclass/state', '403 403 403 403 403 403 403 200'],
  ['system/acl/', '200 403 200 200 200 200 200 200'],
  // A denied path looks like a missing path.
  ['storage/keys/', '200 404 200 200 200 200 200 200'],
];

describe('simulator/documents/access', () => {
  it.each(table)('allows %s for callers who may read it', async (path, statuses) => {
    const simulator = await startGuarded();
    const seen = [];
    for (const [name] of callers) {
      seen.push((await ask(simulator, `api/47/${path}`, withToken(name))).status);
    }
    await simulator.stop();
    expect(seen.join(' ')).toBe(statuses);
  });

  it.each([
    ['6.1.0', ['200 200 2', '200 200 2', '200 200 2']],
    ['6.2.0', ['200 200 2', '403 200 0', '403 200 0']],
  ])(
    'checks the right to read events for executions/metrics only in releases after 6.1: %s',
    async (release, expected) => {
      const simulator = await startGuarded({ apiVersion: 59, release });
      const seen = [];
      for (const name of ['reader', 'no events', 'stranger']) {
        const one = await ask(simulator, 'api/58/project/pay/executions/metrics', withToken(name));
        const all = await ask(simulator, 'api/58/executions/metrics', withToken(name));
        seen.push(`${one.status} ${all.status} ${(all.json as { total: number }).total}`);
      }
      await simulator.stop();
      expect(seen).toEqual(expected);
    },
  );

  it.each([
    ['5.20.0', 'none none 200 200 403'],
    ['6.1.0', 'none past 200 200 403'],
    ['6.2.0', 'view past 200 200 403'],
  ])('checks different rights for the history and for single executions: %s', async (release, expected) => {
    const simulator = await startGuarded({ release });
    simulator.control.addToken({ token: toToken('viewer'), policy: { viewedJobs: [settleId], adhoc: [] } });
    const past = { jobs: [], pastJobs: [settleId], adhoc: [] };
    simulator.control.addToken({ token: toToken('historian'), policy: past });
    const rows = async (name: string, word: string) => {
      const { json } = await ask(simulator, 'api/47/project/pay/executions', withToken(name));
      const { paging, executions } = json as { paging: { total: number }; executions: unknown[] };
      expect(paging.total).toBe(2);
      return executions.length === 0 ? 'none' : word;
    };
    const seen: (string | number)[] = [await rows('viewer', 'view'), await rows('historian', 'past')];
    for (const [path, name] of [
      ['execution/1', 'viewer'],
      ['execution/1/state', 'viewer'],
      ['execution/1', 'historian'],
    ] as const) {
      seen.push((await ask(simulator, `api/47/${path}`, withToken(name))).status);
    }
    await simulator.stop();
    expect(seen.join(' ')).toBe(expected);
  });

  it('omits objects in lists that a caller cannot read', async () => {
    const simulator = await startGuarded();
    const seen: Record<string, string> = {};
    for (const [path, name] of [
      ['projects', 'reader'],
      ['projects', 'elsewhere'],
      ['projects', 'stranger'],
      ['scheduler/jobs', 'reader'],
      ['scheduler/jobs', 'elsewhere'],
      ['scheduler/jobs', 'no settle'],
      ['project/pay/jobs', 'no settle'],
      ['tokens', 'reader'],
    ] as const) {
      const { json } = await ask(simulator, `api/47/${path}`, withToken(name));
      seen[`${path} for ${name}`] = (json as { name?: string; creator?: string }[])
        .map(({ name: called, creator }) => called ?? creator)
        .join(' ');
    }
    await simulator.stop();
    expect(seen).toEqual({
      'projects for reader': 'other pay',
      'projects for elsewhere': 'other',
      'projects for stranger': '',
      'scheduler/jobs for reader': 'settle',
      'scheduler/jobs for elsewhere': '',
      'scheduler/jobs for no settle': '',
      'project/pay/jobs for no settle': 'backup',
      'tokens for reader': 'reader',
    });
  });
});

/** Starts the small installation with a second project, in the commercial edition, and with a token for each kind of caller. */
async function startGuarded(options: SimulatorOptions = {}): Promise<Simulator> {
  const simulator = await startSmall(options);
  simulator.control.createProject('other');
  simulator.control.configure({ commercial: true });
  for (const [name, policy] of callers) {
    simulator.control.addToken({ token: toToken(name), user: name, policy });
  }
  return simulator;
}

function withToken(name: string) {
  return { headers: { 'X-Rundeck-Auth-Token': toToken(name) } };
}

function toToken(name: string): string {
  return `token-of-${name.replace(' ', '-')}`;
}
