import { describe, expect, it } from 'vitest';
import type { ErrorKind } from '../../src/api/errors.ts';
import { createNarrowing } from '../../src/executions/reading/narrowing.ts';
import { createFakeApi, refusal } from './fake-api.ts';

describe('executions/narrowing', () => {
  it('finds the project of a run among two hundred with ten requests', async () => {
    const { find, asked } = createScene({ ends: { p137: 1 } });
    expect(await find()).toEqual(['p137', 'p138']);
    expect(asked.length).toBeLessThanOrEqual(10);
  });

  it('finds the projects of several runs', async () => {
    const { find } = createScene({ ends: { p0: 1, p40: 2, p199: 1 } });
    const found = await find({ missing: 4 });
    expect(found).toEqual(expect.arrayContaining(['p0', 'p40', 'p199']));
    expect(found.length).toBeLessThanOrEqual(9);
  });

  it('stops once all missing executions are located', async () => {
    const { find, asked } = createScene({ ends: { p0: 1 } });
    expect(await find()).toContain('p0');
    // Requests for a group of 75 projects, then for 38, 19, 10, 5 and 3.
    expect(asked).toHaveLength(6);
  });

  it('does not search for executions that are known', async () => {
    const { find } = createScene({ ends: { p3: 4, p90: 1 }, known: { p3: 4 } });
    const found = await find();
    expect(found).toContain('p90');
    expect(found).not.toContain('p3');
  });

  it('finds no project if a run belongs to no known job', async () => {
    expect(await createScene({ ends: {} }).find()).toEqual([]);
  });

  it('requests no totals if reading the projects is as cheap', async () => {
    const { find, asked } = createScene({ ends: { p3: 1 }, jobsOfEach: 20 });
    expect(await find()).toEqual([]);
    expect(asked).toEqual([]);
  });

  it('requests at most 75 jobs at once', async () => {
    const { find, longest } = createScene({ ends: {}, jobsOfEach: 10 });
    await find();
    expect(longest()).toBe(70);
  });

  it('stops when the time for the search is over', async () => {
    const { find, asked } = createScene({ ends: { p3: 1 } });
    expect(await find({ mayGoOn: () => false })).toEqual([]);
    expect(asked).toEqual([]);
  });

  it('stops for an hour if the projects of a search had nothing new', async () => {
    const { find, noteVain } = createScene({ ends: { p3: 1 } });
    noteVain();
    expect(await find({ afterMs: 3_599_999 })).toEqual([]);
    expect(await find({ afterMs: 3_600_000 })).toContain('p3');
  });

  it.each(['rejected', 'forbidden', 'server'] as const)('stops for an hour after the error %s', async (kind) => {
    const { find, asked } = createScene({ ends: { p3: 1 }, refused: kind });
    expect(await find()).toEqual([]);
    expect(await find({ afterMs: 3_599_999 })).toEqual([]);
    expect(asked).toHaveLength(1);
  });

  it('rethrows an error that is not about its own request', async () => {
    await expect(createScene({ ends: {}, refused: 'timeout' }).find()).rejects.toThrow('refused: timeout');
  });
});

type Given = {
  readonly ends: Readonly<Record<string, number>>;
  readonly known?: Readonly<Record<string, number>>;
  readonly jobsOfEach?: number;
  readonly refused?: ErrorKind;
};

type Asking = { readonly missing?: number; readonly afterMs?: number; readonly mayGoOn?: () => boolean };

/** Two hundred projects; a job id begins with the name of its project. */
function createScene({ ends, known = {}, jobsOfEach = 1, refused }: Given) {
  const candidates = Array.from({ length: 200 }, (_, project) => ({
    project: `p${project}`,
    jobIds: Array.from({ length: jobsOfEach }, (_job, index) => `p${project}/${index}`),
  }));
  const sumOf = (counts: Readonly<Record<string, number>>, projects: Iterable<string>): number =>
    [...projects].reduce((sum, project) => sum + (counts[project] ?? 0), 0);
  let longest = 0;
  const { api, asked } = createFakeApi(({ query }) => {
    if (refused !== undefined) throw refusal(refused);
    const ids: readonly unknown[] = [query['jobIdListFilter']].flat();
    longest = Math.max(longest, ids.length);
    return sumOf(ends, new Set(ids.map((id) => String(id).split('/')[0] ?? '')));
  });
  const narrowing = createNarrowing();
  return {
    asked,
    longest: () => longest,
    noteVain: () => narrowing.noteVain(0),
    find: ({ missing = 1, afterMs = 0, mayGoOn = () => true }: Asking = {}) =>
      narrowing.find(api, {
        candidates,
        missing,
        window: { beginMs: 0, endMs: 1 },
        nowMs: afterMs,
        countKnown: async (projects) => sumOf(known, projects),
        mayGoOn,
      }),
  };
}
