import { describe, expect, it, onTestFinished } from 'vitest';
import type { Api } from '../../src/api/client.ts';
import { ApiError, notAsked } from '../../src/api/errors.ts';
import { createRunningReader } from '../../src/executions/reading/running-reader.ts';
import { refusal } from './fake-api.ts';
import { createScene } from './scene.ts';
import { someRunning } from './some-execution.ts';

const missing =
  '{"errorCode":"api.error.project.missing","apiversion":45,"error":true,"message":"Project does not exist: *"}';

describe('executions/running-reader', () => {
  it('reads project by project if a server treats `*` as a name', async () => {
    const scene = await createScene({ apiVersion: 45, clientVersion: 45 });
    onTestFinished(scene.stop);
    const { control } = scene;
    for (const project of ['pay', 'stock']) control.createProject(project);
    control.addFault({ kind: 'status', path: '/project/\\*/executions/running', status: 404, body: missing });
    await scene.rounds(2);
    const id = control.createJob('pay', { name: 'settle', group: 'nightly' });
    control.runJob(id, { atMs: scene.nowMs() + 600_000 });
    await scene.rounds(1);

    expect(scene.shown('automation_executions_queued').filter((line) => line.endsWith(' 1'))).toEqual([
      'automation_executions_queued{project="pay",status="scheduled"} 1',
    ]);
    const asked = scene.simulator.requests().filter(({ path }) => path.endsWith('/executions/running'));
    expect(asked.map(({ path }) => path.replace('/api/45/project/', ''))).toEqual([
      '*/executions/running',
      '*/executions/running',
      'pay/executions/running',
      'stock/executions/running',
      'pay/executions/running',
      'stock/executions/running',
    ]);
  });

  it('reads projects with running executions in every round', async () => {
    const names = Array.from({ length: 40 }, (_, index) => `p${index}`);
    const { read, asked, pass } = setUp((project) => (project === 'p12' ? [someRunning({ id: 7, project })] : []));

    // Some of the projects have not been read yet.
    expect((await read(names)).executions).toBeUndefined();
    expect(asked.splice(0)).toEqual(['*', ...names.slice(0, 25)]);
    expect((await read(names)).executions?.map(({ id }) => id)).toEqual([7]);
    expect(asked.splice(0)).toEqual(['p12', ...names.slice(25), ...names.slice(0, 10)]);
    await read(names.filter((name) => name !== 'p12'));
    expect(asked.splice(0)).not.toContain('p12');
    pass(3_600_000);
    await read(names);
    expect(asked[0]).toBe('*');
  });

  it('returns the time at which each project was read', async () => {
    const names = Array.from({ length: 40 }, (_, index) => `p${index}`);
    const { read, pass } = setUp((project) => {
      if (project === 'p7') throw refusal('forbidden', 'api.error.item.unauthorized');
      return [];
    });
    await read(names);
    pass(15_000);
    const { readTicks } = await read(names);
    expect(['p0', 'p7', 'p10', 'p24', 'p25', 'p39'].map((name) => readTicks?.get(name))).toEqual([
      15_000,
      undefined,
      0,
      0,
      15_000,
      15_000,
    ]);
    pass(3_600_000);
    expect((await read(names.slice(0, 1))).readTicks?.size).toBe(1);
  });

  it('reads a list with hidden rows to its end', async () => {
    const all = Array.from({ length: 1200 }, (_, id) => someRunning({ id, project: id % 2 === 0 ? 'pay' : 'hidden' }));
    const { read } = setUp(
      () => all,
      () => undefined,
    );
    expect((await read([])).executions?.length).toBe(600);
  });

  it('marks runs that were listed before their member started', async () => {
    const run = { startedAtMs: 2, memberUuid: 'a' };
    const runs = [
      run,
      { ...run, startedAtMs: 3 },
      { ...run, memberUuid: 'b' },
      // The clock was set back after the start was read.
      { ...run, memberUuid: 'ahead' },
      { ...run, status: 'queued' as const },
    ];
    const { read } = setUp(
      () => runs.map((fields, id) => someRunning({ id, ...fields })),
      () => undefined,
    );
    const { executions } = await read([]);
    expect(executions?.map(({ interruptedAtMs }) => interruptedAtMs)).toEqual([
      3,
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
  });

  it('omits projects that are deleted or cannot be read', async () => {
    const { read } = setUp((project) => {
      if (project === 'gone') throw refusal('not_found', 'api.error.project.missing');
      if (project === 'closed') throw refusal('forbidden', 'api.error.item.unauthorized');
      return [someRunning({ id: 7, project })];
    });

    const { executions, denied } = await read(['gone', 'closed', 'pay']);
    expect(executions?.map(({ id }) => id)).toEqual([7]);
    expect(denied).toEqual(new Set(['closed']));
    expect((await read(['gone', 'pay'])).denied).toEqual(new Set());
  });

  it('continues with the project at which the budget ended', async () => {
    let places = 2;
    const { read, asked } = setUp((project) => {
      places -= 1;
      if (places < 0) throw notAsked('running', 'timeout', 'no place', { isOwnLimit: true });
      return [someRunning({ id: 7, project })];
    });
    const names = ['a', 'b', 'c'];
    expect((await read(names)).executions).toBeUndefined();
    places = 5;
    expect((await read(names)).executions?.map(({ project }) => project)).toEqual(['a', 'b', 'c']);
    expect(asked).toEqual(['*', 'a', 'b', 'c', 'c', 'a', 'b']);
    places = 0;
    await expect(read(names)).rejects.toThrow('no place');
  });

  it('publishes running executions of a project that becomes readable again', async () => {
    let isOpen = false;
    const { read } = setUp((project) => {
      if (!isOpen) throw refusal('forbidden', 'api.error.item.unauthorized');
      return [someRunning({ id: 7, project })];
    });

    expect(await read(['pay'])).toMatchObject({ executions: undefined, denied: 'all' });
    isOpen = true;
    expect(await read(['pay'])).toMatchObject({ executions: [{ id: 7 }], denied: new Set() });
    isOpen = false;
    expect(await read(['pay'])).toMatchObject({ executions: undefined, denied: 'all' });
  });

  it('reads all projects with one request again after rights are restored', async () => {
    let isOpen = false;
    const refuse = () => refusal('forbidden', 'api.error.item.unauthorized');
    const { read, asked } = setUp(
      (project) => {
        if (!isOpen) throw refuse();
        return [someRunning({ id: 7, project })];
      },
      () => (isOpen ? undefined : refuse()),
    );
    const names = ['a', 'b', 'c', 'd'];
    await read(names);
    isOpen = true;
    await read(names);
    asked.splice(0);
    expect((await read(names)).denied).toBeUndefined();
    expect(asked).toEqual(['*']);
  });

  it('reads project by project if `*` is refused', async () => {
    const names = ['closed', 'shut', 'pay', 'stock'];
    const { read, asked } = setUp(
      (project) => {
        if (project === 'closed' || project === 'shut') throw refusal('forbidden', 'api.error.item.unauthorized');
        return [someRunning({ id: 7, project })];
      },
      () => refusal('forbidden', 'api.error.item.unauthorized'),
    );

    const { executions, denied } = await read(names);
    expect(executions?.map(({ project }) => project)).toEqual(['pay', 'stock']);
    expect(denied).toEqual(new Set(['closed', 'shut']));
    expect(asked.splice(0)).toEqual(['*', ...names]);
    await read(names);
    expect(asked.splice(0)).toEqual(['closed', 'pay', 'stock']);
    await read(names);
    expect(asked.splice(0)).toEqual(['shut', 'pay', 'stock']);
  });

  it('reports that no project can be read if all are denied', async () => {
    const { read } = setUp(
      () => [],
      () => refusal('forbidden'),
    );
    expect(await read(['pay'])).toMatchObject({ executions: undefined, denied: 'all' });
  });

  it('reports that no project can be read if all are denied or missing', async () => {
    const { read } = setUp((project) => {
      if (project === 'gone') throw refusal('not_found', 'api.error.project.disabled');
      throw refusal('forbidden', 'api.error.item.unauthorized');
    });
    expect(await read(['gone', 'closed', 'shut'])).toMatchObject({ executions: undefined, denied: 'all' });
    expect(await read(['gone'])).toMatchObject({ executions: [], denied: new Set() });
  });

  it('reports an error 500 for `*` as a failure', async () => {
    const failure = () => new ApiError('failed', { kind: 'server', apiEndpoint: 'any', status: 500 });
    const answer = (): [] => [];

    for (const release of ['5.3.0', '3.3.1-20200713', '3.30.0'])
      await expect(setUp(answer, failure, release).read(['pay'])).rejects.toThrow('failed');
    // Without the right to read system info, the release is unknown.
    for (const release of ['3.2.7-20200615', '3.3.0-20200701', ''])
      expect(await setUp(answer, failure, release).read(['pay'])).toMatchObject({ executions: [] });
  });

  it('tries one request again soon if the release is unknown', async () => {
    let failures = 1;
    const failOnce = (): ApiError | undefined => {
      failures -= 1;
      return failures < 0 ? undefined : new ApiError('failed', { kind: 'server', apiEndpoint: 'any', status: 500 });
    };
    const { read, asked, pass } = setUp(() => [], failOnce, '');
    await read(['pay']);
    pass(60_000);
    await read(['pay']);
    expect(asked).toEqual(['*', 'pay', '*']);
  });
});

type Input = {
  readonly path: { readonly project: string };
  readonly query: { readonly max: number; readonly offset: number };
};

function setUp(
  answer: (project: string) => readonly ReturnType<typeof someRunning>[],
  ofStar: () => ApiError | undefined = () => refusal('not_found', 'api.error.project.missing'),
  release = '4.15.0',
) {
  const asked: string[] = [];
  let nowTicks = 0;
  const api = {
    getTimed: async (_endpoint: unknown, { path: { project }, query: { max, offset } }: Input) => {
      asked.push(project);
      const fault = project === '*' ? ofStar() : undefined;
      if (fault !== undefined) throw fault;
      const all = answer(project);
      const items = all.slice(offset, offset + max).filter((run) => run.project !== 'hidden');
      return { answer: { total: all.length, items, oddRows: [] }, serverMs: 5 };
    },
    server: () => ({ release }),
  };
  const reader = createRunningReader(
    () => nowTicks,
    () => {},
    () =>
      new Map([
        ['a', 3],
        ['ahead', 6],
      ]),
  );
  return {
    asked,
    // This cast is safe: the reader uses only this method of the API.
    read: (projects: readonly string[]) => reader(() => api as unknown as Api, projects),
    pass: (ms: number) => {
      nowTicks += ms;
    },
  };
}
