import { expect, it } from 'vitest';
import { causePlans, countPlan } from './other-causes.ts';
import { countShape, suspectShapes } from './other-worlds.ts';

/** What can be known in these worlds is known, and nothing wrong is named in any. */
const worlds = 10;
const unknowable = [
  'ten keys rotated, the definition not readable',
  'nothing of ours, but somebody edited the steps without harm',
];
/** Chance alone would do that more often than once in 1,000 looks. */
const tooSmall = ['a small estate, half of it on one node'];

it.each(Object.entries(suspectShapes))('finds the suspect: %s', (name, shape) => {
  if (unknowable.includes(name)) return;
  const hasCause = !name.startsWith('nothing of ours');
  expect(countShape(shape, worlds)).toMatchObject({ first: hasCause ? worlds : 0, fitsWithout: 0 });
});

it.each(Object.entries(causePlans))('finds the one cause: %s', (name, plan) => {
  const isNamed = plan.kind !== undefined && !tooSmall.includes(name);
  expect(countPlan(plan, 3)).toMatchObject({ right: isNamed ? 3 : 0, wrongEver: 0 });
});
