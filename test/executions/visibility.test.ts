import { describe, expect, it } from 'vitest';
import type { ErrorKind } from '../../src/api/errors.ts';
import type { Window } from '../../src/api/paging.ts';
import type { Execution } from '../../src/domain/execution.ts';
import { toNewProject } from '../../src/executions/ledger/project-state.ts';
import { nothingRead } from '../../src/executions/reading/take-in.ts';
import { createVisibility } from '../../src/executions/reading/visibility.ts';
import { dayMs, hourMs } from '../support/durations.ts';
import { createFakeApi, refusal, toPage } from './fake-api.ts';
import { play } from './play.ts';
import { someRun, someRunning } from './some-execution.ts';

const nothingRuns = (project: string): string =>
  `automation_executions_running{project="${project}",job_group="",job_name=""} 0`;

describe('executions/visibility', () => {
  it('reports no hidden executions for credentials that can read everything', async () => {
    const { rounds, finish, visibility } = await play();
    await rounds(2);
    finish('pay');
    await rounds(2);
    expect(visibility()).toEqual({ running: 'known', runningDenied: [], history: [] });
  });

  it('reports hidden executions', async () => {
    const { control, simulator, rounds, finish, visibility, shown } = await play();
    await rounds(2);
    control.addToken({ token: simulator.token, policy: { events: [] } });
    finish('pay');
    finish('pay');
    await rounds(10);
    const history = [{ project: 'pay', counted: 2, readable: 0 }];
    expect(visibility()).toEqual({ running: 'denied', runningDenied: [], history });
    expect(shown('automation_executions_running')).toEqual([]);

    control.addToken({ token: simulator.token });
    await rounds(10);
    expect(visibility()).toEqual({ running: 'known', runningDenied: [], history: [] });
    expect(shown('automation_executions_running')).toEqual([nothingRuns('pay')]);
  });

  it('counts hidden executions once they are shown', async () => {
    const { control, simulator, rounds, finish, visibility, shown, counted } = await play();
    const hidden = control.createJob('pay', { name: 'secret' });
    await rounds(2);
    control.addToken({ token: simulator.token, policy: { hiddenJobs: [hidden] } });
    finish('pay');
    finish('pay', { jobId: hidden });
    await rounds(2);
    const history = [{ project: 'pay', counted: 2, readable: 1 }];
    expect(visibility()).toMatchObject({ history });
    // Short windows show nothing of an idle project.
    finish('pay');
    await rounds(100);
    expect(visibility()).toMatchObject({ history: [{ project: 'pay', counted: 3, readable: 2 }] });
    expect(shown('automation_exporter_executions_hidden')).toEqual([
      'automation_exporter_executions_hidden{project="pay"} 1',
    ]);

    control.addToken({ token: simulator.token });
    await rounds(25);
    expect(visibility().history).toEqual([]);
    expect(shown('automation_exporter_executions_hidden')).toEqual([]);
    expect(counted()).toEqual(['pay settle succeeded 2', 'pay secret succeeded 1']);
  });

  it('finds projects that the list of running executions omits', async () => {
    const { control, simulator, rounds, visibility, shown } = await play();
    control.createProject('stock');
    await rounds(2);
    expect(shown('automation_executions_running')).toEqual([nothingRuns('pay'), nothingRuns('stock')]);
    control.addToken({ token: simulator.token, policy: { events: ['stock'] } });
    await rounds(1, 6 * 3_600_000);
    await rounds(2);
    expect(visibility()).toMatchObject({ running: 'known', runningDenied: ['pay'] });
    expect(shown('automation_executions_running')).toEqual([nothingRuns('stock')]);

    control.addToken({ token: simulator.token });
    await rounds(25);
    expect(visibility().runningDenied).toEqual([]);
    expect(shown('automation_executions_running')).toEqual([nothingRuns('pay'), nothingRuns('stock')]);
  });

  it('sends few requests to check visibility', async () => {
    const { control, simulator, rounds } = await play();
    for (let index = 0; index < 9; index += 1) control.createProject(`p${index}`);
    const named = /\/project\/([^*]+)\/executions\/running$/;
    const asked = (): number => simulator.requests().filter(({ path }) => named.test(path)).length;
    await rounds(2);
    expect(asked()).toBe(2);
    await rounds(8);
    expect(asked()).toBe(10);
    await rounds(300, 60_000);
    expect(asked()).toBe(10);
  });

  it('dates the running executions of each project', async () => {
    const { control, rounds, nowMs, runningReadMs } = await play();
    for (let index = 10; index < 39; index += 1) control.createProject(`a${index}`);
    const body = '{"error":true,"errorCode":"api.error.project.missing","message":"Project does not exist: *"}';
    control.addFault({ kind: 'status', status: 404, path: '/project/[*]/executions/running$', body });
    await rounds(3);
    const ago = (project: string): number => nowMs() - (runningReadMs(project) ?? 0);
    expect(['a10', 'a34', 'a38'].map(ago)).toEqual([0, 15_000, 0]);
  });

  it('reports that a formerly readable project is denied', async () => {
    const { control, simulator, rounds, visibility } = await play();
    control.createProject('stock');
    await rounds(2);
    control.addToken({ token: simulator.token, policy: { projects: ['stock'], events: ['stock'] } });
    // Servers of this release check no right on the project, but a proxy may.
    const body = '{"error":true,"errorCode":"api.error.item.unauthorized","message":"denied"}';
    control.addFault({ kind: 'status', status: 403, path: '/project/pay/executions$', body });
    await rounds(10, 60_000);
    expect(visibility().history).toEqual([{ project: 'pay', counted: undefined, readable: 0 }]);
  });
});

const nowMs = 100 * dayMs;

describe('executions/visibility, one request in each round', () => {
  it('requests the running executions of one project in a round', async () => {
    const scene = createScene(['a', 'b', 'c']);
    scene.visibility.noteRunning({ executions: [], serverMs: undefined });
    scene.visibility.noteRead('b', { ...nothingRead, isDenied: true });
    expect(await scene.looks(5)).toEqual(['running b', 'running a', 'running c']);
    scene.pass(6 * hourMs - 1);
    expect(await scene.looks(2)).toEqual([]);
    scene.pass(1);
    expect(await scene.looks(5)).toEqual(['running a', 'running b', 'running c']);
  });

  it('reads a denied project again after five minutes', async () => {
    const scene = createScene(['a', 'b']);
    scene.visibility.noteRunning({ executions: [someRunning({ project: 'b' })], serverMs: undefined });
    scene.deny('a');
    expect(await scene.looks(3)).toEqual(['running a']);
    expect(scene.visibility.all()).toEqual({ running: 'known', runningDenied: ['a'], history: [] });
    expect([scene.visibility.mayReadRunning('a'), scene.visibility.mayReadRunning('b')]).toEqual([false, true]);
    scene.pass(300_000);
    expect(await scene.looks(3)).toEqual(['running a']);
    scene.visibility.noteRunning({ executions: [someRunning({ project: 'a' })], serverMs: undefined });
    expect(scene.visibility.all().runningDenied).toEqual([]);
  });

  it('reports no project as denied once one response covers all projects', async () => {
    const scene = createScene(['a', 'b']);
    scene.visibility.noteRunning({ executions: [someRunning({ project: 'a' })], serverMs: undefined });
    await scene.looks(2);
    scene.visibility.noteRunning({ executions: [], serverMs: undefined, denied: new Set(['a', 'b']) });
    expect(scene.visibility.all().runningDenied).toEqual(['a', 'b']);
    scene.visibility.noteRunning({ executions: [], serverMs: undefined });
    expect(scene.visibility.all().runningDenied).toEqual([]);
    expect(await scene.looks(3)).toEqual(['running a', 'running b']);
  });

  it('requests nothing if no project can be read', async () => {
    const scene = createScene(['a']);
    scene.visibility.noteRunning({ executions: undefined, serverMs: undefined, denied: 'all' });
    expect(await scene.looks(2)).toEqual([]);
    expect(scene.visibility.mayReadRunning('a')).toBe(false);
    expect(scene.visibility.all().running).toBe('denied');
  });

  it('reads the last day again when all rows are shown', async () => {
    const scene = createScene(['a'], { total: 3 });
    scene.visibility.noteRead('a', { ...nothingRead, total: 2, shown: 1, hidden: 1 });
    expect(await scene.looks(2)).toEqual([`day a ${nowMs - dayMs}…${nowMs}`]);
    expect(scene.visibility.all().history).toEqual([{ project: 'a', counted: 3, readable: 2 }]);
    expect(scene.readAgain).toEqual([]);
    scene.show();
    scene.pass(300_000);
    expect(await scene.looks(2)).toEqual([`day a ${nowMs - dayMs}…${nowMs}`]);
    expect(scene.visibility.all().history).toEqual([]);
    expect(scene.readAgain).toEqual([`a ${nowMs - dayMs}…${nowMs}`]);
  });

  it('removes the number of hidden executions of a project that is no longer read', async () => {
    const scene = createScene(['a', 'b']);
    scene.visibility.noteRunning({ executions: [], serverMs: undefined });
    scene.visibility.noteRead('a', { ...nothingRead, total: 2, hidden: 2, isUnshown: true });
    scene.deny('a');
    await scene.looks(2);
    expect(scene.visibility.all().history).toEqual([{ project: 'a', counted: 2, readable: 0 }]);
    scene.drop('a');
    await scene.looks(1);
    expect(scene.visibility.all().runningDenied).toEqual([]);
    expect(scene.visibility.all().history).toEqual([{ project: 'a', counted: undefined, readable: 0 }]);
  });

  it('does not report a project that has just been deleted as denied', async () => {
    const scene = createScene(['a']);
    scene.visibility.noteRunning({ executions: [], serverMs: undefined });
    scene.deny('a', 'not_found');
    expect(await scene.looks(1)).toEqual(['running a']);
    expect(scene.visibility.all().runningDenied).toEqual([]);
  });
});

function createScene(projects: readonly string[], { total = 0 } = {}) {
  let nowTicks = 0;
  let names = projects;
  let hidden = 1;
  const denied = new Map<string, ErrorKind>();
  const asked: string[] = [];
  const readAgain: string[] = [];
  const rows: readonly Execution[] = Array.from({ length: total }, (_, index) =>
    someRun({ id: index + 1, startedAtMs: nowMs - 9000, endedAtMs: nowMs - 1000 * index }),
  );
  const { api } = createFakeApi((question) => {
    const { endpoint, project, query } = question;
    asked.push(
      endpoint === 'running-executions' ? `running ${project}` : `day ${project} ${query['begin']}…${query['end']}`,
    );
    const kind = denied.get(project);
    if (kind !== undefined) throw refusal(kind);
    const page = toPage(rows, question);
    return { ...page, items: page.items.slice(0, page.total - hidden) };
  });
  const visibility = createVisibility(() => nowTicks);
  const note = async (_api: unknown, project: string, { beginMs, endMs }: Window) => {
    readAgain.push(`${project} ${beginMs}…${endMs}`);
    return [];
  };
  return {
    visibility,
    readAgain,
    deny: (project: string, kind: ErrorKind = 'forbidden') => denied.set(project, kind),
    show: () => {
      hidden = 0;
    },
    drop: (project: string) => {
      names = names.filter((name) => name !== project);
    },
    pass: (ms: number) => {
      nowTicks += ms;
    },
    /** Plays this many rounds, and returns their requests. */
    looks: async (count: number) => {
      asked.length = 0;
      const states = new Map(names.map((name) => [name, toNewProject(name, 0)]));
      for (let times = 0; times < count; times += 1) {
        await visibility.look(() => api, { names, states, nowMs, reading: { readAgain: note } });
      }
      return [...asked];
    },
  };
}
