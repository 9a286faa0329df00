import { describe, expect, it } from 'vitest';
import type { Api } from '../../src/api/client.ts';
import { type ProjectState, toNewProject } from '../../src/executions/ledger/project-state.ts';
import { createCatchUp } from '../../src/executions/open-round.ts';
import { createActivities } from '../../src/executions/reading/activities.ts';
import { nothingRead } from '../../src/executions/reading/take-in.ts';

describe('executions/catch-up', () => {
  it('reads first the project that was read longest ago', async () => {
    const scene = createScene({ pay: 5, stock: 3, ship: 9 });
    for (let round = 0; round < 5; round += 1) await scene.round(1);
    expect(scene.served).toEqual(['ship', 'pay', 'stock', 'ship', 'pay']);
  });

  it('continues with other projects while there is time', async () => {
    const scene = createScene({ pay: 2, stock: 1 });
    await scene.round(100);
    expect(scene.served).toEqual(['pay', 'stock', 'pay']);
    expect(scene.left()).toEqual([]);
  });

  it('reads a project that makes no progress only once a round', async () => {
    const scene = createScene({ pay: 2 }, { isStuck: true });
    await scene.round(100);
    expect(scene.served).toEqual(['pay']);
    await scene.round(100);
    expect(scene.served).toEqual(['pay', 'pay']);
  });
});

/** Creates projects, each with the number of turns that its backlog needs. */
function createScene(turns: Readonly<Record<string, number>>, { isStuck = false } = {}) {
  const states = new Map(Object.entries(turns).map(([project, left]) => [project, toBehind(project, left)]));
  const activities = createActivities();
  const served: string[] = [];
  let left = 0;
  const reading = {
    readPast: async (_api: unknown, project: string) => {
      served.push(project);
      left -= 1;
      const behind = (states.get(project)?.backlog?.length ?? 0) - 1;
      if (!isStuck) states.set(project, toBehind(project, behind));
      return nothingRead;
    },
  };
  const readPast = createCatchUp({ cache: { states }, activities, reading });
  return {
    served,
    left: () => [...states.values()].filter(({ backlog }) => backlog !== undefined),
    round: async (room: number) => {
      left = room;
      await readPast({
        // This cast is safe: the test sends no request.
        api: () => ({}) as Api,
        nowMs: 1000,
        mayGoOn: () => left > 0,
        attempt: (work) => work(),
        noteRead: () => undefined,
      });
    },
  };
}

/** The state of a project whose backlog needs this many turns. */
function toBehind(project: string, left: number): ProjectState {
  const state = { ...toNewProject(project, 0), scannedThroughMs: 900 };
  if (left <= 0) return state;
  const backlog = Array.from({ length: left }, (_, index) => ({
    beginMs: 500 - (left - index) * 10,
    endMs: 505 - (left - index) * 10,
  }));
  return { ...state, aheadThroughMs: 1000, backlog };
}
