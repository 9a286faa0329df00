import { describe, expect, it } from 'vitest';
import type { Simulator } from '../../../simulator/simulator.ts';
import { ask, noon, settleId, startEmpty, startSmall } from '../caller.ts';

describe('simulator/answers/execution-lists', () => {
  it('lists executions by completion, newest first', async () => {
    const orders = [];
    for (const apiVersion of [47, 58]) {
      const simulator = await startEmpty({ apiVersion });
      simulator.control.createProject('p');
      for (const [start, end] of [
        [50, 10],
        [20, 10],
        [40, 10],
        [60, 5],
        [90, 80],
      ] as const) {
        simulator.control.addFinished('p', { startedAtMs: noon - start * 1000, endedAtMs: noon - end * 1000 });
      }
      orders.push(await idsOf(simulator, 'project/p/executions'));
      await simulator.stop();
    }
    expect(orders).toEqual([
      [4, 2, 3, 1, 5],
      [4, 3, 2, 1, 5],
    ]);
  });

  it('includes both ends of a window', async () => {
    const simulator = await startSmall();
    const lists = [];
    for (const query of [
      `begin=${noon - 20_000}&end=${noon}`,
      `begin=${noon - 19_999}&end=${noon}`,
      `begin=1&end=${noon - 50_000 + 456}`,
      `begin=1&end=${noon - 50_000 + 455}`,
      'begin=2026-01-15T11:59:00Z&end=2026-01-15T11:59:20Z',
      'recentFilter=30s',
      'recentFilter=1n',
      'recentFilter=30 s',
    ]) {
      lists.push(await idsOf(simulator, `project/pay/executions?${query}`));
    }
    await simulator.stop();
    expect(lists).toEqual([[2], [], [1], [], [1], [2], [2, 1], [2, 1]]);
  });

  it.each([
    ['begin=0', 'api.error.history.date-format'],
    ['begin=2026-01-15T11:59:00.5Z', 'api.error.history.date-format'],
    ['end=yesterday', 'api.error.history.date-format'],
  ])('refuses %s', async (query, errorCode) => {
    const simulator = await startSmall();
    const reply = await ask(simulator, `api/47/project/pay/executions?${query}`);
    await simulator.stop();
    expect(reply.status).toBe(400);
    expect(reply.json).toMatchObject({ errorCode });
  });

  it('returns 20 rows without a max', async () => {
    const simulator = await startEmpty();
    simulator.control.createProject('p');
    for (let count = 0; count < 25; count += 1) {
      simulator.control.addFinished('p', { startedAtMs: noon - 9000, endedAtMs: noon - 1000 - count });
    }
    const counts = [];
    for (const query of ['', '?max=0', '?max=many', '?max=7&offset=20']) {
      const { json } = await ask(simulator, `api/47/project/p/executions${query}`);
      counts.push((json as List).paging);
    }
    await simulator.stop();
    expect(counts).toEqual([
      { count: 20, total: 25, offset: 0, max: 20 },
      { count: 25, total: 25, offset: 0, max: 0 },
      { count: 25, total: 25, offset: 0, max: 0 },
      { count: 5, total: 25, offset: 20, max: 7 },
    ]);
  });

  it('includes unfinished executions if no date is given', async () => {
    const simulator = await startSmall();
    simulator.control.runJob(settleId);
    const first = await idsOf(simulator, 'project/pay/executions');
    simulator.control.configure({ unfinishedFirst: false });
    const last = await idsOf(simulator, 'project/pay/executions');
    const dated = await idsOf(simulator, 'project/pay/executions?recentFilter=1d');
    await simulator.stop();
    expect([first, last, dated]).toEqual([
      [3, 2, 1],
      [2, 1, 3],
      [2, 1],
    ]);
  });

  it('shows an unknown stored status as other', async () => {
    const simulator = await startEmpty();
    simulator.control.createProject('p');
    for (const status of ['succeeded', 'failed', 'timedout', 'aborted', 'incomplete', 'missed']) {
      simulator.control.addFinished('p', { startedAtMs: noon - 9000, endedAtMs: noon - 1000, status });
    }
    const { json } = await ask(simulator, 'api/47/project/p/executions');
    await simulator.stop();
    expect((json as List).executions.map(({ id, status, customStatus }) => [id, status, customStatus])).toEqual([
      [6, 'missed', undefined],
      [5, 'other', 'incomplete'],
      [4, 'aborted', undefined],
      [3, 'timedout', undefined],
      [2, 'failed', undefined],
      [1, 'succeeded', undefined],
    ]);
  });

  it('removes hidden rows after it selects the rows of a page', async () => {
    const simulator = await startSmall();
    simulator.control.addToken({ token: 'half', policy: { hiddenJobs: [settleId] } });
    const options = { headers: { 'X-Rundeck-Auth-Token': 'half' } };
    const page1 = await ask(simulator, 'api/47/project/pay/executions?max=1', options);
    const page2 = await ask(simulator, 'api/47/project/pay/executions?max=1&offset=1', options);
    await simulator.stop();
    expect((page1.json as List).paging).toEqual({ count: 1, total: 2, offset: 0, max: 1 });
    expect((page2.json as List).paging).toEqual({ count: 0, total: 2, offset: 1, max: 1 });
  });

  it('can move rows between pages while they are read', async () => {
    const simulator = await startSmall();
    simulator.control.configure({ shiftPages: 1, totalOffset: 3 });
    const page1 = await ask(simulator, 'api/47/project/pay/executions?max=1&recentFilter=1h');
    const page2 = await ask(simulator, 'api/47/project/pay/executions?max=1&recentFilter=1h&offset=1');
    await simulator.stop();
    expect((page1.json as List).executions.map(({ id }) => id)).toEqual([2]);
    expect((page2.json as List).executions.map(({ id }) => id)).toEqual([2]);
    expect((page1.json as List).paging.total).toBe(5);
  });

  it('never returns a total below 0', async () => {
    const heard: string[] = [];
    const simulator = await startEmpty({ onRequest: ({ path }) => heard.push(path) });
    simulator.control.createProject('pay');
    simulator.control.runCommand('pay', 'sleep');
    simulator.control.configure({ totalOffset: -3, unfinishedDated: true });
    const { json } = await ask(simulator, 'api/47/project/pay/executions?recentFilter=1h');
    const [{ succeededNodes } = {}] = simulator.truth().executions;
    await simulator.stop();
    expect((json as List).paging.total).toBe(0);
    expect((json as List).executions.map(({ id }) => id)).toEqual([1]);
    expect(heard).toEqual(['/api/47/project/pay/executions']);
    expect(succeededNodes).toEqual([]);
  });

  it('lists running executions of one, several or all projects, 20 by default', async () => {
    const simulator = await startEmpty();
    for (const name of ['a', 'b+1', 'c']) {
      simulator.control.createProject(name);
      for (let count = 0; count < 10; count += 1) {
        simulator.control.runCommand(name, 'sleep');
      }
    }
    const pagings = [];
    for (const path of ['*', '*?max=0', '*?max=100', 'a,b%2B1?max=100', 'c', '*?max=7&offset=28']) {
      const [names, query = ''] = path.split('?');
      const { json } = await ask(simulator, `api/47/project/${names}/executions/running?${query}`);
      pagings.push((json as List).paging);
    }
    const missing = await ask(simulator, 'api/47/project/a,none/executions/running');
    await simulator.stop();
    expect(pagings).toEqual([
      { count: 20, total: 30, offset: 0, max: 20 },
      { count: 20, total: 30, offset: 0, max: 20 },
      { count: 30, total: 30, offset: 0, max: 100 },
      { count: 20, total: 20, offset: 0, max: 100 },
      { count: 10, total: 10, offset: 0, max: 20 },
      { count: 2, total: 30, offset: 28, max: 7 },
    ]);
    expect([missing.status, (missing.json as { errorCode: string }).errorCode]).toEqual([
      404,
      'api.error.project.missing',
    ]);
  });

  it.each([
    [35, '3.3.0', [500, 200]],
    [36, '3.3.3', [200, 200]],
    [45, '4.14.0', [404, 404]],
    [46, '5.0.0', [200, 404]],
    [47, '5.3.0', [200, 200]],
  ])('treats a star or a list as the name of a project as v%i, %s does', async (apiVersion, release, expected) => {
    const simulator = await startSmall({ apiVersion, release });
    const seen = [];
    for (const names of ['*', 'pay,pay']) {
      seen.push((await ask(simulator, `api/35/project/${names}/executions/running`)).status);
    }
    await simulator.stop();
    expect(seen).toEqual(expected);
  });

  it.each([
    ['3.4.0', undefined, '200', '401 api.error.execution.project.notfound'],
    // The server writes an error for each project, or ends the connection.
    ['5.3.0', 47, 'broken off', '403 api.error.item.unauthorized'],
  ] as const)(
    'simulates %s if the events of some or all projects cannot be read',
    async (release, apiVersion, ofSome, ofAll) => {
      const simulator = await startSmall({
        release,
        ...(apiVersion === undefined ? { apiVersion: 39 } : { apiVersion }),
      });
      const { control } = simulator;
      control.createProject('stock');
      control.addToken({ token: 'half', policy: { events: ['pay'] } });
      control.addToken({ token: 'blind', policy: { events: [] } });
      const get = (path: string, token: string) =>
        fetch(`${simulator.url}/api/39/project/${path}`, { headers: { 'X-Rundeck-Auth-Token': token } });
      const some = await get('*/executions/running', 'half');
      const readSome = await some.text().then(
        () => String(some.status),
        () => 'broken off',
      );
      const all = await get('*/executions/running', 'blind');
      const [, code] = /"errorCode":"([^"]+)"/.exec(await all.text()) ?? [];
      const named = await get('pay/executions/running', 'blind');
      const finished = await get('pay/executions', 'blind');
      const history = await finished.json();
      await simulator.stop();
      expect([readSome, `${all.status} ${code}`, named.status]).toEqual([ofSome, ofAll, 403]);
      expect(history).toEqual({ paging: { count: 0, total: 2, offset: 0, max: 20 }, executions: [] });
    },
  );

  it('hides a one-time run unless postponed runs are requested', async () => {
    const simulator = await startSmall();
    const id = simulator.control.runJob(settleId, { atMs: noon + 10_000 });
    const lists: unknown[] = [];
    const look = async () => {
      const plain = await idsOf(simulator, 'project/pay/executions/running');
      const { json } = await ask(simulator, 'api/47/project/pay/executions/running?includePostponed=false');
      lists.push([plain, (json as List).executions.map((execution) => `${execution.id} ${execution.status}`)]);
    };
    await look();
    simulator.advance(10_500);
    await look();
    simulator.advance(60_000);
    await look();
    const [, , truth] = simulator.truth().executions;
    await simulator.stop();
    expect(id).toBe(3);
    expect(lists).toEqual([
      [[], ['3 scheduled']],
      [[], ['3 running']],
      [[], []],
    ]);
    expect(truth).toMatchObject({ id: 3, status: 'succeeded', type: 'user-scheduled' });
  });

  it('responds with 404 for a disabled and for a missing project', async () => {
    const simulator = await startSmall();
    simulator.control.changeProject('pay', { disabled: true });
    const codes = [];
    for (const path of [
      'project/pay/executions',
      'project/pay/executions/running',
      'project/none/executions',
      'execution/1',
    ]) {
      const { status, json } = await ask(simulator, `api/47/${path}`);
      codes.push(`${status} ${(json as { errorCode: string }).errorCode}`);
    }
    await simulator.stop();
    expect(codes).toEqual([
      '404 api.error.project.disabled',
      '404 api.error.project.disabled',
      '404 api.error.project.missing',
      '404 api.error.project.disabled',
    ]);
  });
});

type List = {
  readonly paging: { readonly count: number; readonly total: number; readonly offset: number; readonly max: number };
  readonly executions: readonly { readonly id: number; readonly status: string; readonly customStatus?: string }[];
};

async function idsOf(simulator: Simulator, path: string): Promise<number[]> {
  const { json } = await ask(simulator, `api/47/${path}`);
  return (json as List).executions.map(({ id }) => id);
}
