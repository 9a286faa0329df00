import { describe, expect, it } from 'vitest';
import type { ErrorKind } from '../../src/api/errors.ts';
import { createActivities } from '../../src/executions/reading/activities.ts';
import { createActivityHint } from '../../src/executions/reading/activity-hint.ts';
import { createFakeApi, refusal } from './fake-api.ts';

describe('executions/activity-hint', () => {
  it('asks for a sweep when more has ended than is known, until all projects were read', async () => {
    const scene = createScene();
    await scene.check({ total: 5, known: 5 });
    expect(scene.wire.sweepSinceMs()).toBeUndefined();
    await scene.check({ total: 6, known: 5 });
    expect(scene.wire.sweepSinceMs()).toBe(2 * minuteMs);
    scene.read('pay');
    await scene.check({});
    expect(scene.wire.sweepSinceMs()).toBe(2 * minuteMs);
    scene.read('stock');
    await scene.check({});
    expect(scene.wire.sweepSinceMs()).toBeUndefined();
  });

  it('waits for no project that is not read at all', async () => {
    const scene = createScene();
    scene.read('left out');
    await scene.check({ total: 1 });
    scene.read('pay');
    scene.read('stock');
    await scene.check({});
    expect(scene.wire.sweepSinceMs()).toBeUndefined();
  });

  it('learns how much of the total may not be read', async () => {
    const scene = createScene();
    await scene.check({ total: 9, known: 2 });
    scene.sweep();
    await scene.check({});
    await scene.check({ total: 9, known: 2 });
    expect(scene.wire.sweepSinceMs()).toBeUndefined();
    await scene.check({ total: 10, known: 2 });
    expect(scene.wire.sweepSinceMs()).toBeDefined();
  });

  it('is ignored for an hour after three false sweeps', async () => {
    const scene = createScene();
    for (let count = 1; count <= 3; count += 1) {
      await scene.check({ total: count });
      expect(scene.wire.sweepSinceMs()).toBeDefined();
      scene.sweep();
      await scene.check({});
    }
    await scene.check({ total: 100 });
    expect(scene.wire.sweepSinceMs()).toBeUndefined();
    await scene.check({ total: 200, afterMs: 60 * minuteMs });
    expect(scene.wire.sweepSinceMs()).toBeDefined();
  });

  it('continues to trust a hint whose sweeps find something', async () => {
    const scene = createScene();
    for (let count = 1; count <= 4; count += 1) {
      await scene.check({ total: count });
      expect(scene.wire.sweepSinceMs()).toBeDefined();
      scene.sweep();
      scene.wire.noteRead(1);
      await scene.check({});
    }
  });

  it.each(['forbidden', 'server', 'not_found'] as const)(
    'does without for an hour where the answer is %s',
    async (kind) => {
      const scene = createScene();
      await scene.check({ refused: kind });
      await scene.check({ total: 5 });
      expect(scene.asked).toHaveLength(1);
      await scene.check({ total: 5, afterMs: 60 * minuteMs });
      expect(scene.asked).toHaveLength(2);
    },
  );

  it('reports a fault that is not its own', async () => {
    await expect(createScene().check({ refused: 'timeout' })).rejects.toThrow('refused: timeout');
  });
});

const minuteMs = 60_000;

type Given = {
  readonly total?: number;
  readonly known?: number;
  readonly refused?: ErrorKind;
  readonly afterMs?: number;
};

function createScene() {
  let answer: Given = {};
  let nowMs = 0;
  const { api, asked } = createFakeApi(() => {
    if (answer.refused !== undefined) throw refusal(answer.refused);
    return answer.total ?? 0;
  });
  const wire = createActivityHint();
  const activities = createActivities();
  const read = (project: string): void => activities.note(project, { readAtMs: nowMs }, nowMs);
  const projects = ['pay', 'stock'];
  for (const project of projects) read(project);
  return {
    wire,
    asked,
    read,
    sweep: () => {
      for (const project of projects) read(project);
    },
    check: async (given: Given) => {
      answer = given;
      nowMs += given.afterMs ?? minuteMs;
      const window = { beginMs: 0, endMs: nowMs };
      await wire.check(api, { nowMs, window, activities, projects, countKnown: async () => given.known ?? 0 });
    },
  };
}
