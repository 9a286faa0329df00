import { describe, expect, it } from 'vitest';
import {
  addRecent,
  type RecentRun,
  type RecentSheets,
  toNewest,
  toRecent,
} from '../../src/executions/ledger/recent-runs.ts';
import { someRun } from './some-execution.ts';

describe('executions/recent-runs', () => {
  it('writes only changed documents', () => {
    const first = add(new Map(), runs(1, 60));
    expect(first.written).toEqual(['0', '1']);
    expect(sizes(first.sheets)).toEqual(['0: 50', '1: 10']);
    const next = add(first.sheets, runs(61, 5));
    expect(next.written).toEqual(['1']);
    expect(sizes(next.sheets)).toEqual(['0: 50', '1: 15']);
    expect(newest(next.sheets).map(({ id }) => id)[0]).toBe(65);
  });

  it('keeps the newest thousand runs', () => {
    const { sheets } = add(new Map(), runs(1, 1000));
    const next = add(sheets, runs(1001, 120));
    expect(newest(next.sheets)).toHaveLength(1000);
    expect(newest(next.sheets).at(-1)?.id).toBe(121);
    expect(next.forgotten).toEqual(['0', '1']);
    expect(next.written).toEqual(['20', '21', '22']);
    expect([...next.sheets.keys()].slice(0, 2)).toEqual(['2', '3']);
    expect(add(next.sheets, runs(1121, 50)).forgotten).toEqual(['2']);
  });

  it('keeps the id of the job', () => {
    const job = { id: 'j1', name: 'settle', group: '', averageDurationMs: undefined };
    expect(toRecent('pay', someRun({ job })).jobId).toBe('j1');
    expect(toRecent('pay', someRun({ job: undefined }))).not.toHaveProperty('jobId');
  });

  it.each([
    [0, {}],
    [5, { failedNodes: ['n0', 'n1', 'n2', 'n3', 'n4'] }],
    [200, { failedNodes: ['n0', 'n1', 'n2', 'n3', 'n4'], failedNodeCount: 200 }],
  ])('keeps the first names of %i failed nodes', (count, kept) => {
    const { failedNodes, failedNodeCount } = toRecent(
      'pay',
      someRun({ failedNodes: Array.from({ length: count }, (_, index) => `n${index}`) }),
    );
    expect({ failedNodes, failedNodeCount }).toEqual(kept);
  });

  it('does not add a run older than a thousand others', () => {
    const { sheets } = add(new Map(), runs(1001, 1000));
    expect(add(sheets, runs(1, 100))).toEqual({ sheets, written: [], forgotten: [] });
  });

  it('sorts a future-dated run by the time of its count', () => {
    const before = add(new Map(), runs(1, 10)).sheets;
    const ahead = runs(11, 990).map((run) => ({ ...run, endedAtMs: run.endedAtMs + 86_400_000 }));
    const full = add(before, ahead, 90_000_000).sheets;
    expect(newest(full, 90_000_000)[0]?.id).toBe(1000);
    const { sheets } = add(full, runs(1001, 980), 2_000_000);
    const ids = newest(sheets, 2_000_000).map(({ id }) => id);
    expect(ids).toEqual(Array.from({ length: 1000 }, (_, index) => 1980 - index));
    const loaded = new Map([...sheets].sort(([one], [other]) => one.localeCompare(other)));
    expect(newest(loaded, 2_000_000).map(({ id }) => id)).toEqual(ids);
  });

  it('continues with runs that an earlier release stored separately', () => {
    const before: RecentSheets = new Map(runs(1, 3).map((run) => [`${run.startedAtMs} ${run.id}`, [run]]));
    const next = add(before, runs(4, 1));
    expect(next.written).toEqual(['0']);
    expect(newest(next.sheets).map(({ id }) => id)).toEqual([4, 3, 2, 1]);
  });
});

const newest = (sheets: RecentSheets, latestMs = Number.POSITIVE_INFINITY) => toNewest(sheets, latestMs);

function add(sheets: RecentSheets, more: readonly RecentRun[], latestMs = Number.POSITIVE_INFINITY) {
  return addRecent(sheets, more, latestMs);
}

function runs(firstId: number, count: number): RecentRun[] {
  return Array.from({ length: count }, (_, index) => {
    const id = firstId + index;
    const names = { project: 'pay', group: '', name: 'settle' };
    return { id, ...names, ending: 'succeeded', startedAtMs: id * 1000, endedAtMs: id * 1000 + 500 };
  });
}

function sizes(sheets: RecentSheets): string[] {
  return [...sheets].map(([key, kept]) => `${key}: ${kept.length}`);
}
