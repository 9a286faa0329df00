import { describe, expect, it } from 'vitest';
import type { Window } from '../../src/api/paging.ts';
import { compare, createResidues } from '../../src/executions/recount/comparison.ts';
import type { Ledger } from '../../src/state/ledger.ts';
import { createFakeApi } from './fake-api.ts';

const hour = 3_600_000;
/** A window from one hour up to the end of another. */
const hours = (from: number, through: number): Window => ({ beginMs: from * hour, endMs: (through + 1) * hour - 1 });
const within = (ends: readonly number[], { beginMs, endMs }: Window): number =>
  ends.filter((ms) => ms >= beginMs && ms <= endMs).length;

/** Compares what ended on the server with what the ledger has. Hidden executions cannot be read. */
function createScene(onServer: readonly number[], inLedger: readonly number[], hidden: readonly number[] = []) {
  const known = [...inLedger];
  const read: string[] = [];
  const residues = createResidues();
  const { api, asked } = createFakeApi(({ query: { begin = 0, end = 0 } }) => ({
    total: within(onServer, { beginMs: begin, endMs: end }),
    items: [],
    oddRows: [],
  }));
  const ledger = { countEnds: async (_server: string, window: Window) => within(known, window) };
  const readAgain = async (window: Window): Promise<void> => {
    read.push(`${window.beginMs / hour}…${(window.endMs + 1) / hour}`);
    for (const ms of onServer)
      if (within([ms], window) > 0 && !known.includes(ms) && !hidden.includes(ms)) known.push(ms);
  };
  const pass = { api, project: 'pay', nowMs: 0, readAgain };
  return {
    residues,
    asked,
    run: async (open: Window[], { unshown = [] as Window[], steps = 1000 } = {}) => {
      read.length = 0;
      let left = steps;
      // This cast is safe: only this function is called.
      const options = { server: 'prod', ledger: ledger as unknown as Ledger, residues, mayGoOn: () => (left -= 1) > 0 };
      const { isDone } = await compare(pass, { isWeek: false, unshown, open }, options);
      return { isDone, read: [...read], open: open.length, unshown: unshown.length };
    },
  };
}

describe('executions/recount/comparison', () => {
  const done = { isDone: true, open: 0, unshown: 0 };
  it.each([
    ['nothing if nothing is missing', [5, hour], [5, hour], [], [], []],
    ['the hour of a missing execution', [5, 2 * hour], [5], [], ['2…3'], []],
    ['the first hour', [5, 2 * hour], [2 * hour], [], ['0…1'], []],
    ['the last millisecond of an hour', [2 * hour - 1], [], [], ['1…2'], []],
    ['the last hour', [4 * hour - 1], [], [], ['3…4'], []],
    ['two hours', [5, 3 * hour], [], [], ['0…1', '3…4'], []],
    ['a hidden execution once', [5, 2 * hour], [5], [2 * hour], ['2…3'], [hours(2, 2)]],
    ['hidden executions of two hours', [hour, 2 * hour], [], [hour, 2 * hour], ['1…2', '2…3'], [hours(1, 2)]],
    ['no hour whose executions were deleted', [], [5, 6, 3 * hour], [], [], [hours(0, 0), hours(3, 3)]],
    ['no part of a window without executions', [3 * hour], [5, 3 * hour], [], [], [hours(0, 0)]],
  ])('reads again %s', async (...[, onServer, inLedger, hidden, read, residues]) => {
    const scene = createScene(onServer, inLedger, hidden);
    expect(await scene.run([hours(0, 3)])).toEqual({ ...done, read });
    expect(scene.residues.windows('pay', hours(0, 3))).toEqual(residues);
    // A known difference is not read again.
    expect(await scene.run([hours(0, 3)])).toEqual({ ...done, read: [] });
  });

  it('reads the parts of hours at the ends of a window', async () => {
    const scene = createScene([hour + 5], []);
    expect((await scene.run([{ beginMs: hour + 1, endMs: hour + 9 }])).read).toEqual([
      `${1 + 1 / hour}…${1 + 10 / hour}`,
    ]);
    const deleted = createScene([], [hour + 5, 2 * hour]);
    await deleted.run([{ beginMs: hour + 5, endMs: 2 * hour }]);
    expect(deleted.residues.sum('pay', { beginMs: hour, endMs: 2 * hour })).toBe(-2);
  });

  it('forgets a difference that has ended', async () => {
    const scene = createScene([5], [5]);
    scene.residues.set('pay', 0, 1);
    expect(await scene.run([hours(0, 0)])).toEqual({ ...done, read: [] });
    expect(scene.residues.windows('pay', hours(0, 3))).toEqual([]);
  });

  it('begins with the windows that have hidden rows, and reads one window in each step', async () => {
    const scene = createScene([5, 2 * hour], []);
    const [open, unshown] = [[hours(0, 3)], [hours(7, 7), hours(9, 9)]];
    const seen = [];
    for (let step = 0; step < 3; step += 1) seen.push(await scene.run(open, { unshown, steps: 1 }));
    expect(seen).toEqual([
      { isDone: false, read: ['9…10'], open: 1, unshown: 1 },
      { isDone: false, read: ['7…8'], open: 1, unshown: 0 },
      { isDone: false, read: [], open: 2, unshown: 0 },
    ]);
    expect(await scene.run(open)).toMatchObject({ isDone: true, read: ['0…1', '2…3'] });
    expect(await scene.run([], { unshown: [hours(7, 7)] })).toEqual({ ...done, read: ['7…8'] });
  });

  it('joins hours that differ, and forgets old ones', () => {
    const residues = createResidues();
    for (const at of [1, 2, 4]) residues.set('pay', at, 3);
    residues.set('shop', 1, 3);
    const window = { beginMs: hour + 7, endMs: 5 * hour };
    expect(residues.windows('pay', window)).toEqual([{ beginMs: hour + 7, endMs: 3 * hour - 1 }, hours(4, 4)]);
    expect([residues.sum('pay', window), residues.sum('gone', window)]).toEqual([9, 0]);
    residues.prune(2 * hour - 1, () => true);
    expect(residues.sum('pay', window)).toBe(9);
    residues.prune(2 * hour, () => true);
    expect([residues.sum('pay', window), residues.sum('shop', window)]).toEqual([6, 0]);
    residues.prune(0, (project) => project !== 'pay');
    expect(residues.sum('pay', window)).toBe(0);
  });
});
