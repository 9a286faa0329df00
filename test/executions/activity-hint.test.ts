import { describe, expect, it } from 'vitest';
import type { ErrorKind } from '../../src/api/errors.ts';
import { createActivities } from '../../src/executions/reading/activities.ts';
import { createActivityHint } from '../../src/executions/reading/activity-hint.ts';
import { createFakeApi, refusal } from './fake-api.ts';

describe('executions/activity-hint', () => {
  it('searches until every missing execution is found', async () => {
    const { hint, check } = createScene();
    await check({ total: 5, known: 5 });
    expect(hint.searchedSinceMs()).toBeUndefined();
    await check({ total: 7, known: 5 });
    expect(hint.searchedSinceMs()).toBe(2 * roundMs);
    hint.noteRead(1);
    expect(hint.searchedSinceMs()).toBe(2 * roundMs);
    hint.noteRead(1);
    expect(hint.searchedSinceMs()).toBeUndefined();
    await check({ total: 8, known: 7 });
    expect(hint.searchedSinceMs()).toBe(3 * roundMs);
  });

  it('ends a search once every project was read, one after the other', async () => {
    const { hint, check, read } = createScene();
    await check({ total: 1 });
    read('pay');
    await check({ total: 1 });
    expect(hint.searchedSinceMs()).toBe(roundMs);
    read('stock');
    await check({ total: 1 });
    expect(hint.searchedSinceMs()).toBeUndefined();
  });

  it('begins a new search if an execution is still missing after all projects were read', async () => {
    const { hint, check, readAll } = createScene();
    await check({ total: 1 });
    readAll();
    hint.noteRead(1);
    await check({ total: 2, known: 1 });
    expect(hint.searchedSinceMs()).toBe(2 * roundMs);
  });

  it('searches for a run that ended during a search', async () => {
    const { hint, check, readAll } = createScene();
    await check({ total: 1 });
    readAll();
    await check({ total: 2, known: 1, before: 0 });
    expect(hint.searchedSinceMs()).toBe(2 * roundMs);
    readAll();
    hint.noteRead(1);
    await check({ total: 2, known: 2 });
    await check({ total: 3, known: 2 });
    expect(hint.searchedSinceMs()).toBe(4 * roundMs);
  });

  it('ignores projects that are never read', async () => {
    const { hint, check, read, readAll } = createScene();
    read('left out');
    await check({ total: 1 });
    readAll();
    await check({ total: 1 });
    expect(hint.searchedSinceMs()).toBeUndefined();
  });

  it('searches once for executions that cannot be read', async () => {
    const { hint, check, readAll } = createScene();
    await check({ total: 9, known: 2 });
    readAll();
    await check({ total: 9, known: 2 });
    expect(hint.searchedSinceMs()).toBeUndefined();
    await check({ total: 10, known: 2 });
    expect(hint.searchedSinceMs()).toBeDefined();
    await check({ total: 4, known: 2 });
    await check({ total: 5, known: 2 });
    expect(hint.searchedSinceMs()).toBeDefined();
  });

  it('searches for a run after a counted run was deleted', async () => {
    const { hint, check } = createScene();
    await check({ total: 4, known: 5 });
    expect(hint.searchedSinceMs()).toBeUndefined();
    await check({ total: 5, known: 5 });
    expect(hint.searchedSinceMs()).toBeDefined();
  });

  it('stops for an hour after three searches without a result', async () => {
    const { hint, check, asked, searchInVain } = createScene();
    await searchInVain();
    const before = asked.length;
    await check({ total: 100 });
    expect(hint.searchedSinceMs()).toBeUndefined();
    expect(asked).toHaveLength(before);
    await check({ total: 200, afterMs: 60 * minuteMs });
    expect(hint.searchedSinceMs()).toBeDefined();
  });

  it('searches again if the clock is set back after searches without a result', async () => {
    const { hint, check, searchInVain, setBack } = createScene();
    await searchInVain();
    setBack(minuteMs);
    await check({ total: 100 });
    expect(hint.searchedSinceMs()).toBeDefined();
  });

  it('keeps searching while searches find something', async () => {
    const { hint, check, readAll } = createScene();
    for (let count = 1; count <= 4; count += 1) {
      await check({ total: count, known: count - 1 });
      expect(hint.searchedSinceMs()).toBeDefined();
      readAll();
      hint.noteRead(1);
      await check({ total: count, known: count });
    }
  });

  it('does not stop if fewer than three searches in a row had no result', async () => {
    const { hint, check, readAll } = createScene();
    for (const [index, found] of [0, 0, 1, 0, 0].entries()) {
      await check({ total: index + 1, known: 0 });
      expect(hint.searchedSinceMs()).toBeDefined();
      readAll();
      hint.noteRead(found);
      await check({ total: index + 1, known: found });
    }
    await check({ total: 9 });
    expect(hint.searchedSinceMs()).toBeDefined();
  });

  it('reports how many missing executions have not been read yet', async () => {
    const { hint, check } = createScene();
    expect(hint.missing()).toBe(0);
    await check({ total: 9, known: 2 });
    hint.noteRead(3);
    expect(hint.missing()).toBe(4);
    await check({ total: 10, known: 5 });
    expect(hint.missing()).toBe(5);
    hint.noteRead(9);
    expect(hint.missing()).toBe(0);
  });

  it('after a search, requests the total of the window before the search once more', async () => {
    const { check, readAll, asked } = createScene();
    await check({ total: 1 });
    readAll();
    await check({ total: 1 });
    const spans = asked.map((text) => text.split(' ')[2]);
    expect(spans).toEqual(['0…15000', '0…30000', '0…14000']);
  });

  it.each([
    [true, 500],
    [false, 501],
  ])('treats the server as quick: %s after %d ms', async (isQuick, tookMs) => {
    const { hint, check } = createScene();
    await check({ tookMs });
    expect(hint.isQuick()).toBe(isQuick);
  });

  it('sends fewer requests for totals to a slow server', async () => {
    const { check, asked } = createScene();
    await check({ tookMs: 1500 });
    await check({ afterMs: 29_999 });
    expect(asked).toHaveLength(1);
    await check({ afterMs: 1 });
    expect(asked).toHaveLength(2);
  });

  it('requests the total once a minute with a thousand projects', async () => {
    const { check, asked } = createScene(Array.from({ length: 1000 }, (_, index) => `p${index}`));
    await check({});
    await check({ afterMs: 59_999 });
    expect(asked).toHaveLength(1);
    await check({ afterMs: 1 });
    expect(asked).toHaveLength(2);
  });

  it('requests no total if all projects were read', async () => {
    const { check, asked, readNext } = createScene();
    readNext();
    await check({ total: 5 });
    expect(asked).toEqual([]);
  });

  it.each(['forbidden', 'server', 'not_found'] as const)('stops for an hour after the error %s', async (kind) => {
    const { check, asked } = createScene();
    await check({ refused: kind });
    await check({ total: 5 });
    expect(asked).toHaveLength(1);
    await check({ total: 5, afterMs: 60 * minuteMs });
    expect(asked).toHaveLength(2);
  });

  it('rethrows an error that is not about its own request', async () => {
    await expect(createScene().check({ refused: 'timeout' })).rejects.toThrow('refused: timeout');
  });
});

const roundMs = 15_000;
const minuteMs = 60_000;

type Given = {
  readonly total?: number;
  /** How many unknown executions started before the search; all by default. */
  readonly before?: number;
  readonly known?: number;
  readonly refused?: ErrorKind;
  readonly afterMs?: number;
  readonly tookMs?: number;
};

function createScene(projects = ['pay', 'stock']) {
  let answer: Given = {};
  let [nowMs, ticks] = [0, 0];
  const { api, asked } = createFakeApi(({ query }) => {
    ticks += answer.tookMs ?? 0;
    if (answer.refused !== undefined) throw refusal(answer.refused);
    const isBefore = Number(query['end']) < nowMs;
    const { total = 0, known = 0, before = total - known } = answer;
    return isBefore ? known + before : total;
  });
  const hint = createActivityHint({ ticks: () => ticks });
  const activities = createActivities();
  const read = (project: string): void => activities.note(project, { readAtMs: nowMs }, nowMs);
  const readAll = (): void => {
    for (const project of projects) read(project);
  };
  readAll();
  const check = async (given: Given): Promise<void> => {
    answer = given;
    nowMs += given.afterMs ?? roundMs;
    const window = { beginMs: 0, endMs: nowMs };
    await hint.check(api, { nowMs, window, activities, projects, countKnown: async () => given.known ?? 0 });
  };
  return {
    hint,
    asked,
    read,
    readAll,
    check,
    setBack: (ms: number) => {
      nowMs -= ms;
      activities.rewind(nowMs);
      hint.rewind();
    },
    /** The next round reads these executions first. */
    readNext: () => {
      for (const project of projects) activities.note(project, { readAtMs: nowMs + roundMs }, nowMs);
    },
    searchInVain: async () => {
      for (let count = 1; count <= 3; count += 1) {
        await check({ total: count });
        expect(hint.searchedSinceMs()).toBeDefined();
        readAll();
        await check({ total: count });
      }
    },
  };
}
