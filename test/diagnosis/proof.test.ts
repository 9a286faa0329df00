import { expect, it } from 'vitest';
import { isAll } from '../support/all.ts';
import { causePlans, countPlan } from './other-causes.ts';
import { countShape, suspectShapes } from './other-worlds.ts';
import { prove } from './proof.ts';

it('recognises failures of many programs, and removes their secrets', () => {
  const figures = prove({ seed: 7, logs: isAll ? 10_000 : 1000, pairs: isAll ? 20 : 3 });
  expect(figures.leaks).toEqual([]);
  expect(figures.stable).toBeGreaterThanOrEqual(0.95);
  expect(figures.colliding).toBeLessThan(0.005);
  expect(figures.unharmed).toBeGreaterThanOrEqual(0.98);
});

/** Here every cause that can be known is found. */
const worlds = 10;
const unknowable = [
  'ten keys rotated, the definition not readable',
  'nothing of ours, but somebody edited the steps without harm',
];

it.each(Object.entries(suspectShapes))('finds the suspect: %s', (name, shape) => {
  if (unknowable.includes(name)) return;
  const hasCause = !name.startsWith('nothing of ours');
  expect(countShape(shape, worlds)).toMatchObject({ first: hasCause ? worlds : 0, fitsWithout: 0 });
});

it.each(Object.entries(causePlans))('finds the common cause: %s', (_name, plan) => {
  expect(countPlan(plan, 3)).toMatchObject({ right: plan.kind === undefined ? 0 : 3, wrongEver: 0 });
});
