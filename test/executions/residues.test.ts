import { describe, expect, it } from 'vitest';
import { createResidues } from '../../src/executions/recount/comparison.ts';

const hourMs = 3_600_000;
const day = { beginMs: 0, endMs: 24 * hourMs - 1 };

describe('executions/residues', () => {
  it('sums the hours of a window for one project', () => {
    const residues = createResidues();
    for (const [hour, difference] of [
      [3, 2],
      [4, -1],
      [5, 7],
    ] as const)
      residues.set('pay', hour, difference);
    residues.set('stock', 3, 100);
    expect(residues.sum('pay', { beginMs: 3 * hourMs, endMs: 5 * hourMs - 1 })).toBe(1);
    expect(residues.sum('pay', day)).toBe(8);
    residues.set('pay', 5, 0);
    expect(residues.sum('pay', day)).toBe(1);
    expect(residues.sum('none', day)).toBe(0);
  });

  it('lists the hours that differ within the window, and joins consecutive ones', () => {
    const residues = createResidues();
    for (const hour of [2, 3, 4, 9]) residues.set('pay', hour, 1);
    expect(residues.windows('pay', { beginMs: 2.5 * hourMs, endMs: 9.5 * hourMs })).toEqual([
      { beginMs: 2.5 * hourMs, endMs: 5 * hourMs - 1 },
      { beginMs: 9 * hourMs, endMs: 9.5 * hourMs },
    ]);
  });

  it('keeps the differences of every hour of a week, for any number of projects', () => {
    const residues = createResidues();
    const projects = Array.from({ length: 400 }, (_, index) => `p${index}`);
    for (const project of projects) for (let hour = 0; hour < 168; hour += 1) residues.set(project, hour, 1);
    const week = { beginMs: 0, endMs: 168 * hourMs - 1 };
    expect(projects.filter((project) => residues.sum(project, week) !== 168)).toEqual([]);
  });

  it('removes what is no longer compared', () => {
    const residues = createResidues();
    for (const hour of [2, 3]) residues.set('pay', hour, 1);
    residues.set('gone', 3, 1);
    residues.prune(3 * hourMs, (project) => project === 'pay');
    expect([residues.sum('pay', day), residues.sum('gone', day)]).toEqual([1, 0]);
  });
});
