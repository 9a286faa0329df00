import { describe, expect, it } from 'vitest';
import {
  createNodeNotes,
  type FailingNode,
  findWitnesses,
  listSettled,
  noteUsual,
} from '../../../src/expected-runs/risks/nodes.ts';

type Run = Parameters<ReturnType<typeof createNodeNotes>>[1][number];

function run(name: string, endedAtMs: number, nodes: Partial<Run>): Run {
  const job = { id: name, name, group: '', averageDurationMs: undefined };
  return { status: 'failed', project: 'pay', job, endedAtMs, failedNodes: [], ...nodes };
}

/** Records runs in transactions, and commits each transaction. */
function noteAll(...transactions: readonly (readonly Run[])[]): ReadonlyMap<string, FailingNode> {
  const note = createNodeNotes();
  const known = new Map<string, FailingNode>();
  for (const runs of transactions) {
    for (const [node, failing] of note(known, runs)) {
      if (failing === undefined) known.delete(node);
      else known.set(node, failing);
    }
  }
  return known;
}

const a = run('a', 10, { failedNodes: ['db03'] });
const b = run('b', 20, { failedNodes: ['db03'], succeededOn: ['db01'] });
const well = (endedAtMs: number): Run => run('c', endedAtMs, { status: 'succeeded', succeededOn: ['db03'] });

describe('expected-runs/risks/nodes', () => {
  it('records the jobs that failed on a node since its last success', () => {
    for (const order of [[[a, b]], [[b, a]], [[b], [a]], [[well(5)], [b], [a]]]) {
      const [failing] = noteAll(...order).values();
      expect({ ...failing, jobs: failing?.jobs.toSorted() }).toEqual({
        node: 'db03',
        sinceMs: 10,
        lastMs: 20,
        jobs: ['pay/a', 'pay/b'],
      });
    }
  });

  it('removes a node at the first success after the failures', () => {
    expect(noteAll([a], [b], [well(15)]).size).toBe(1);
    expect(noteAll([a], [b], [well(20)]).size).toBe(0);
    expect(noteAll([well(30)], [well(5)], [a, b]).size).toBe(0);
    // The newest pages are read first.
    expect(noteAll([well(30)], [a, b]).size).toBe(0);
  });

  it('treats a node as failing only after failures of two jobs', () => {
    const since = (path: string) => ({ 'pay/a': 10, 'pay/b': 20 })[path];
    const isBroken = (...runs: readonly Run[]) =>
      [...noteAll(runs).values()].some((node) => findWitnesses(node, since).length > 0);
    expect(isBroken(a, { ...a, endedAtMs: 12 })).toBe(false);
    expect(isBroken(a, { ...b, status: 'aborted' })).toBe(false);
    expect(isBroken(a, { ...b, status: 'failed-with-retry' })).toBe(false);
    expect(isBroken(a, b)).toBe(true);
    // The failure is older than the last success on the node.
    expect(findWitnesses({ node: 'db03', sinceMs: 10, lastMs: 20, jobs: ['pay/a', 'pay/early'] }, () => 5)).toEqual([]);
    expect(noteAll([a, b], [{ ...well(30), status: 'aborted' }]).size).toBe(1);
  });

  it('omits nodes that failed only now', () => {
    const known = noteAll([a], [b]);
    expect([listSettled(known, 9).size, listSettled(known, 10).size]).toEqual([0, 1]);
  });

  it('removes a node that has not been used for a week', () => {
    const dayMs = 86_400_000;
    expect(noteAll([a, b], [run('x', 8 * dayMs + 20, {})]).size).toBe(1);
    expect(noteAll([a, b], [run('x', 8 * dayMs + 21, {})]).size).toBe(0);
  });

  it.each([
    [20_000, 0],
    [20_001, 1],
  ])('remembers the successes of %d nodes', (count, failing) => {
    const many = Array.from({ length: count - 1 }, (_, index) => `n${index}`);
    expect(noteAll([{ ...well(30), succeededOn: ['db03', ...many] }], [a]).size).toBe(failing);
  });

  it('names the first ten jobs that failed', () => {
    const runs = Array.from({ length: 11 }, (_, index) => run(`${index}`, index + 1, { failedNodes: ['db03'] }));
    expect(noteAll(runs).get('db03')?.jobs).toEqual(runs.slice(0, 10).map(({ job }) => `pay/${job?.name}`));
  });

  it('treats the nodes of the last five runs as usual', () => {
    const on = (...succeededOn: readonly string[]): Run => run('a', 1, { succeededOn });
    const names = (runs: readonly Run[]) => {
      let nodes: ReturnType<typeof noteUsual>;
      for (const each of runs) nodes = noteUsual(nodes, each);
      return Object.keys(nodes ?? {}).sort();
    };
    expect(names([on('x'), on('y'), on('y'), on('y'), on('y')])).toEqual(['x', 'y']);
    expect(names([on('x'), on('y'), on('y'), on('y'), on('y'), on('y')])).toEqual(['y']);
    expect(names([on('x'), run('a', 1, { failedNodes: ['z'] }), on()])).toEqual(['x', 'z']);
    const same = noteUsual(undefined, on('x', 'y'));
    expect(noteUsual(same, on('y', 'x'))).toBe(same);
    expect(noteUsual(same, on('y'))).toEqual({ x: 4, y: 5 });
    expect(noteUsual({ x: 4, y: 5 }, on('y', 'x'))).toEqual({ x: 5, y: 5 });
    expect(noteUsual(same, on('x', 'z'))).toEqual({ x: 5, z: 5, y: 4 });
    const many = Array.from({ length: 101 }, (_, index) => `n${index}`);
    expect(Object.keys(noteUsual(undefined, on(...many)) ?? {})).toEqual(many.slice(0, 100));
    expect(Object.keys(noteUsual({ x: 5 }, on(...many.slice(0, 99))) ?? {})).toHaveLength(100);
    expect(Object.keys(noteUsual({ x: 5 }, on(...many)) ?? {})).toEqual(many.slice(0, 100));
  });
});
