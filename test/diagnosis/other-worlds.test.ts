import { expect, it } from 'vitest';
import { causePlans, countPlan } from './other-causes.ts';
import { countShape, suspectShapes } from './other-worlds.ts';

/** In these worlds every knowable cause is found, and no wrong one is named. */
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

it.each(Object.entries(causePlans))('finds the one cause: %s', (_name, plan) => {
  expect(countPlan(plan, 3)).toMatchObject({ right: plan.kind === undefined ? 0 : 3, wrongEver: 0 });
});
