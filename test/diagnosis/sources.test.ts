import { describe, expect, it } from 'vitest';
import { command, work } from '../../simulator/scenarios/build.ts';
import type { Work } from '../../simulator/world/work.ts';
import type { Endpoint } from '../../src/api/endpoint.ts';
import { jobSections } from '../../src/api/endpoints/job-sections.ts';
import { pluginList } from '../../src/api/endpoints/plugins.ts';
import { executionMode, systemInfo } from '../../src/api/endpoints/system.ts';
import { createAsking } from '../../src/diagnosis/changes/asking.ts';
import { noteReading } from '../../src/diagnosis/changes/deciding/areas.ts';
import { createToReadings } from '../../src/diagnosis/changes/readings.ts';
import { birthMs } from '../executions/scene.ts';
import { createTestClient, fixedSecret } from '../support/client.ts';
import { createDirectSimulator } from '../support/direct-simulator.ts';
import { createScene } from './scene.ts';

const key = 'keys/team/pay/node.pem';
const steps = [command('settle --password=hunter2', 1, 0, { key })];

async function begin(...given: Parameters<typeof createScene>) {
  const made = createScene(...given);
  made.control.createProject('pay', ['db01', 'db02']);
  made.control.writeKey(key, { user: 'admin' });
  const options = { secret: 'canary-default' };
  const id = made.control.createJob('pay', { name: 'settle', work: work(['db01'], steps), options });
  await made.minutes(3);
  return { ...made, id };
}

function minuteOf(ms: number | undefined): number | undefined {
  return ms === undefined ? undefined : (ms - birthMs) / 60_000;
}

function createDirectApi() {
  const simulator = createDirectSimulator({ scenario: 'empty', apiVersion: 47 });
  const token = fixedSecret(simulator.token);
  const { api } = createTestClient({ url: 'http://127.0.0.1', transport: simulator.transport, token });
  return { api, requests: simulator.requests };
}

const { signal } = new AbortController();

const asked = {
  clock: { ticks: () => 1e9 },
  requestsPerSecond: 10,
  settings: {
    isWantedProject: (project: string) => project !== 'secret',
    isWantedJob: (path: string) => path !== 'pay/payroll/run',
  },
};

describe('diagnosis/sources', () => {
  it('records keys with the time and the user that the server gives', async () => {
    const { control, minutes, changes, told } = await begin();
    await minutes(2);
    control.writeKey(key, { user: 'bob' });
    await minutes(60);
    control.deleteKey(key);
    await minutes(62);
    expect(told()).toEqual([`key ${key}: no longer listed (62, 121]`, `key ${key}: changed by bob (2, 62]`]);
    expect(minuteOf(changes()[1]?.atMs)).toBe(5);
  });

  it('reads keys when a login is refused, but not after every refusal', async () => {
    const { control, minutes, told, noteClass, requests } = await begin();
    await minutes(10);
    control.writeKey(key, { user: 'bob' });
    await noteClass('work');
    expect(told()).toEqual([]);
    await noteClass('access');
    expect(told()).toEqual([`key ${key}: changed by bob (2, 13]`]);
    const before = requests().length;
    await noteClass('access');
    expect(
      requests()
        .slice(before)
        .filter(({ path }) => path.includes('/storage/')),
    ).toEqual([]);
  });

  it('reads keys again when a login is refused soon afterwards', async () => {
    const { control, told, noteClass } = await begin();
    control.writeKey(key, { user: 'bob' });
    await noteClass('access');
    expect(told()).toEqual([expect.stringContaining(`key ${key}: changed by bob`)]);
  });

  it('shows users only if configured', async () => {
    const { control, minutes, told, stored } = await begin({ settings: { namesUsers: false } });
    control.writeKey(key, { user: 'bob' });
    await minutes(61);
    expect(told()).toEqual([`key ${key}: changed (2, 62]`]);
    const sheets = (await stored()).filter(({ kind }) => kind === 'change-sheet');
    expect(JSON.stringify(sheets)).not.toContain('bob');
  });

  it.each([40, 58])(
    'names the changed sections of definitions, with API %d',
    async (apiVersion) => {
      const { control, minutes, told, id } = await begin({ apiVersion });
      control.changeJob(id, { work: work(['db02'], steps, { timeoutMs: 60_000 }), description: 'other' });
      await minutes(apiVersion < 56 ? 24 * 60 + 5 : 12);
      expect(told().map((line) => line.split(' (')[0])).toEqual([
        `definition pay/settle: nodes, limits changed${apiVersion < 56 ? '' : ' by admin'}`,
      ]);
    },
    240_000,
  );

  it('names the editor of a job that fails right after the edit', async () => {
    const { control, minutes, told, id } = await begin({ apiVersion: 58 });
    control.runJob(id);
    await minutes(4);
    control.setConditions({ downNodes: ['db01'] });
    control.runJob(id);
    const edit = () => control.changeJob(id, { work: work(['db02'], steps) });
    await minutes(1, edit);
    expect(told()).toEqual(['definition pay/settle: nodes changed by admin (1, 8]']);
  });

  it('names the edit of a failed job that was renamed', async () => {
    const { control, minutes, explain, truth, id } = await begin({ apiVersion: 58 });
    const find = (jobName: string) => {
      const startedAtMs = truth().executions.at(-1)?.startedAtMs ?? 0;
      const run = { project: 'pay', job: jobName, jobId: id, startedAtMs, successMs: undefined, failedNodes: ['db01'] };
      const { suspects, unchanged } = explain({ ...run, failureClass: 'work' });
      return [...suspects.map(({ subject, what, fits }) => `${subject}: ${what}${fits ? ', fits' : ''}`), ...unchanged];
    };
    control.runJob(id);
    await minutes(4);
    control.changeJob(id, { work: work(['db01'], [command('false', 1, 1)]) });
    await minutes(4);
    control.changeJob(id, { name: 'settle-all' });
    await minutes(4);
    control.runJob(id);
    await minutes(4);
    const both = ['pay/settle-all: steps, options changed, fits', 'pay/settle-all: renamed, was settle'];
    expect(find('settle-all')).toEqual([...both, 'the project', 'the server']);
    control.changeJob(id, { name: 'settle-each' });
    await minutes(4);
    expect(find('settle-all')).toEqual([
      'pay/settle-each: steps, options changed, fits',
      'pay/settle-each: renamed, was settle',
      'the project',
      'the server',
    ]);
  });

  it.each([14, 24, 34, 44, 47, 58])(
    'watches definitions, jobs, keys, nodes, projects and the server with API %d',
    async (apiVersion) => {
      const { control, minutes, explain, id, truth } = await begin({ apiVersion });
      // Keys are read each hour. On old servers, a job is read only after it runs.
      control.runJob(id);
      await minutes(65);
      control.runJob(id);
      await minutes(65);
      control.writeKey(key, { user: 'bob' });
      control.setConditions({ downNodes: ['db01'] });
      control.runJob(id);
      await minutes(65);
      const [, success, failure] = truth().executions.map(({ startedAtMs }) => startedAtMs);
      const run = { project: 'pay', job: 'settle', failedNodes: ['db01'], failureClass: 'access' } as const;
      const { suspects, unchanged, notWatched } = explain({ ...run, startedAtMs: failure ?? 0, successMs: success });
      expect(suspects).toMatchObject([{ kind: 'key', scope: 'job', fits: true }]);
      expect(unchanged).toEqual([
        'the definition of the job',
        'the name and switches of the job',
        'nodes',
        'the project',
        'the server',
      ]);
      expect(notWatched).toEqual([]);
    },
  );

  it('reads the definition of a job that fails after a success', async () => {
    const { control, minutes, told, id } = await begin();
    control.runJob(id);
    await minutes(2);
    control.changeJob(id, { work: work(['db01'], [command('false', 1, 1)]) });
    control.runJob(id);
    await minutes(2);
    expect(told()).toEqual(['definition pay/settle: steps, options changed (1, 6]']);
  });

  it('reads the definition of a failed job a minute later if the server did not respond', async () => {
    const { control, minutes, told, id } = await begin();
    control.runJob(id);
    await minutes(2);
    control.changeJob(id, { work: work(['db01'], [command('false', 1, 1)]) });
    control.runJob(id);
    const body = '{"error":true,"errorCode":"unauthorized"}';
    for (const path of [`${id}/info$`, `${id}$`]) {
      const end = control.addFault({ kind: 'status', status: 401, path, body });
      await minutes(2);
      end();
    }
    expect(told()).toEqual([]);
    await minutes(1);
    expect(told()).toEqual(['definition pay/settle: steps, options changed (1, 10]']);
  });

  it('records a mode once, although two endpoints report it', () => {
    const toReadings = createToReadings();
    const known = { areas: new Map(), hash: (text: string) => text, namesUsers: false, release: () => undefined };
    const server = { version: '5.20.1', node: 'auto-1', serverUUID: 'a-uuid' };
    const info = systemInfo.body.parse({ system: { rundeck: server, executions: { executionMode: 'passive' } } });
    const receive = (endpoint: Endpoint<unknown>, answer: unknown) =>
      toReadings({ member: undefined, endpoint, path: {}, answer }, known).flatMap(({ things }) => [...things.keys()]);
    expect(receive(executionMode, 'passive')).toEqual([]);
    expect(receive(systemInfo, info)).toEqual(['a-uuid']);
    expect(receive(executionMode, 'passive')).toEqual(['a-uuid']);
  });

  it('does not treat another release as a change of definitions or plugins', () => {
    const known = { areas: new Map(), hash: (text: string) => text, namesUsers: false };
    const definition = { sections: new Map(), keys: [], children: [] };
    for (const [endpoint, answer] of [
      [jobSections, definition],
      [pluginList, []],
    ] as const) {
      const asked = { member: undefined, endpoint, path: { id: '7' }, answer };
      const [before] = createToReadings()(asked, { ...known, release: () => '5.20.1' });
      expect(before?.basis).toBe('5.20.1');
    }
    const times = { area: 'definition 7', fromMs: 1, throughMs: 2 };
    const { area } = noteReading(undefined, { ...times, things: new Map([['', { steps: 'a' }]]), basis: '5.20.1' });
    const after = { ...times, things: new Map([['', { steps: 'b' }]]) };
    expect(noteReading(area, { ...after, basis: '6.1.0' }).differences).toEqual([]);
    expect(noteReading(area, { ...after, basis: '5.20.1' }).differences).toHaveLength(1);
  });

  it('does not treat a switch as an edit of the definition', async () => {
    const { control, minutes, told, id } = await begin({ apiVersion: 58 });
    control.changeJob(id, { scheduleEnabled: false });
    await minutes(3);
    expect(told().map((line) => line.replace(/ \(.*/, ''))).toEqual(['switch pay/settle: schedule switched off']);
  });

  it('records nodes and their lasting attributes', async () => {
    const { control, minutes, told } = await begin();
    control.changeProject('pay', {
      nodes: new Map([['db01', { hostname: 'elsewhere', username: 'auto', 'ui:status:text': 'x' }]]),
    });
    await minutes(16);
    expect(told().toSorted()).toEqual([
      'node db01: hostname, tags, os changed (1, 16]',
      'node db02: no longer listed (1, 16]',
    ]);
  });

  it('dates a change of nodes one reading earlier, because servers first return old nodes', async () => {
    const { control, minutes, told } = await begin();
    await minutes(30);
    control.changeProject('pay', { nodes: new Map([['db01', { hostname: 'elsewhere', username: 'auto' }]]) });
    await minutes(15);
    expect(told().filter((line) => line.startsWith('node db02'))).toEqual(['node db02: no longer listed (16, 46]']);
  });

  it('accepts an empty list of nodes only when it is repeated', async () => {
    const { control, minutes, told } = await begin();
    control.changeProject('pay', { nodes: new Map() });
    await minutes(16);
    expect(told()).toEqual([]);
    await minutes(15);
    expect(told()).toHaveLength(2);
  });

  it('compares the first failure of a job with its last success', async () => {
    const { control, minutes, told, id } = await begin();
    control.runJob(id, { user: 'amira' });
    await minutes(2);
    control.setConditions({ downNodes: ['db01'] });
    control.runJob(id, { user: 'jonas', options: { secret: 'canary-other' } });
    await minutes(2);
    control.runJob(id, { user: 'lee' });
    await minutes(2);
    expect(told()).toEqual(['run pay/settle: arguments; user (3, 5]']);
  });

  it('loses no change while the state cannot be written', async () => {
    const { control, minutes, told, fill, id } = await begin();
    control.runJob(id, { user: 'amira' });
    await minutes(2);
    fill(true);
    control.setConditions({ downNodes: ['db01'] });
    control.runJob(id, { user: 'jonas' });
    await minutes(1);
    control.createJob('pay', { name: 'new' });
    await minutes(3);
    fill(false);
    await minutes(2);
    expect(told()).toEqual(['job pay/new: created (6, 7]', 'run pay/settle: user (3, 5]']);
  });

  it('compares readings in their order, even after a failed write', async () => {
    const { control, minutes, told, fill } = await begin();
    const job = control.createJob('pay', { name: 'new' });
    let attempts = 0;
    fill(true, () => {
      attempts += 1;
      if (attempts === 1) control.deleteJob(job);
    });
    await minutes(1);
    fill(false);
    await minutes(1);
    expect(told()).toEqual(['job pay/new: created (3, 4]', 'job pay/new: no longer listed (4, 4]']);
  });

  it('stores no definitions, option values or users', async () => {
    const { control, minutes, stored, id } = await begin({ settings: { namesUsers: false } });
    control.runJob(id, { user: 'amira', options: { secret: 'canary-other' } });
    await minutes(30);
    const all = (await stored()).filter(({ kind }) => kind.startsWith('change-'));
    expect(all.length).toBeGreaterThan(5);
    expect(JSON.stringify(all)).not.toMatch(/hunter2|canary|amira|admin|settle --/);
  });

  it('omits areas that the token cannot read', async () => {
    const { control, minutes, told, id } = await begin({ token: 'blind' });
    control.runJob(id);
    await minutes(2);
    control.changeJob(id, { work: work(['db01'], [command('false', 1, 1)]) });
    control.runJob(id);
    await minutes(2);
    expect(told()).toEqual(['definition pay/settle: steps, options changed (1, 6]']);
  });

  it('compares plugins once after each start of the server', async () => {
    const { control, minutes, told, changes, requests } = await begin();
    control.configure({ plugins: { notifier: '1.3.0', other: '1.0.0' } });
    await minutes(10);
    expect(told()).toEqual([]);
    control.restart();
    await minutes(3);
    expect(told().filter((line) => line.startsWith('plugin'))).toEqual([
      'plugin WorkflowStep notifier: 1.2.0 → 1.3.0 (1, 14]',
      'plugin WorkflowStep other: installed (1, 14]',
    ]);
    expect(minuteOf(changes()[0]?.atMs)).toBe(13);
    expect(requests().filter(({ path }) => path.includes('plugin/list'))).toHaveLength(2);
  });

  it.each([
    ['compares plugins', ['one'], true],
    ['does not compare plugins of members, which may have different ones', ['one', 'other'], false],
  ])('%s', async (_what, members, isAsked) => {
    const things = new Map(members.map((member) => [member, { start: '7' }]));
    const areas = new Map([['server', { things, sinceMs: 0, readMs: 0 }]]);
    const { api, requests } = createDirectApi();
    await createAsking({ ...asked, areas }).read(api, signal);
    expect(requests().some(({ path }) => path.endsWith('/plugin/list'))).toBe(isAsked);
  });

  it('sends no request about the nodes of excluded projects', async () => {
    const things = new Map(['pay', 'secret'].map((project) => [project, {}]));
    const areas = new Map([['projects', { things, sinceMs: 0, readMs: 0 }]]);
    const { api, requests } = createDirectApi();
    await createAsking({ ...asked, areas }).read(api, signal);
    expect(requests().flatMap(({ path }) => /project\/(.*)\/resources/.exec(path)?.[1] ?? [])).toEqual(['pay']);
  });

  it('sends no request about the definitions of excluded jobs', async () => {
    const things = new Map([
      ['j1', { path: 'payroll/run' }],
      ['j2', { path: 'settle' }],
    ]);
    const areas = new Map([['jobs pay', { things, sinceMs: 0, readMs: 0 }]]);
    const { api, requests } = createDirectApi();
    await createAsking({ ...asked, areas }).read(api, signal);
    expect(requests().flatMap(({ path }) => /job\/([^/]*)$/.exec(path)?.[1] ?? [])).toEqual(['j2']);
  });

  it('reads the jobs that a failed job runs as steps, at any depth', async () => {
    const { control, minutes, explain } = await begin();
    const parts = work(['db01'], steps);
    const refer = (id: string, one: Work): Work => {
      const step = { kind: 'jobref', text: id, nodeStep: false, seconds: 0, failureChance: 0 } as const;
      return work(['db01'], [step, command('own', 1, 0)], { references: new Map([[id, one]]) });
    };
    const inner = control.createJob('pay', { name: 'inner', work: parts });
    const ofMiddle = refer(inner, parts);
    const middle = control.createJob('pay', { name: 'middle', work: ofMiddle });
    const outer = control.createJob('pay', { name: 'outer', work: refer(middle, ofMiddle) });
    await minutes(3);
    control.runJob(outer);
    await minutes(2);
    control.changeJob(inner, { work: work(['db01'], [command('other', 1, 0)]) });
    control.setConditions({ downNodes: ['db01'] });
    control.runJob(outer);
    await minutes(2);
    const run = { project: 'pay', job: 'outer', startedAtMs: birthMs + 10 * 60_000, failedNodes: [] };
    const { suspects } = explain({ ...run, failureClass: 'work', successMs: birthMs + 6 * 60_000 });
    expect(suspects.map(({ subject, scope, fits }) => [subject, scope, fits])).toEqual([['pay/inner', 'child', true]]);
  });

  it('sends few requests', async () => {
    const { minutes, requests } = await begin();
    const before = requests().length;
    await minutes(60);
    const own = requests()
      .slice(before)
      .filter(({ path }) => /\/storage\/|\/resources|\/job\/[^/]+$/.test(path));
    expect(own.length).toBeLessThanOrEqual(4 + 4);
  });
});
