import { expect, it } from 'vitest';
import { findLongestDue } from '../../src/executions/reading/longest-due.ts';

it.each([
  ['b', { a: 9, b: 8, c: 9 }],
  ['c', { a: 9, b: 10, c: 8 }],
  ['a', { a: 9, b: 9 }],
  ['a', { a: 10 }],
  [undefined, { a: 11 }],
  ['b', { a: 10, b: -Infinity, c: -Infinity }],
  [undefined, {}],
])('finds %s as the longest due of %j at the time 10', (found, due) => {
  expect(findLongestDue(Object.entries<number>(due), 10, ([, ticks]) => ticks)?.[0]).toBe(found);
});
