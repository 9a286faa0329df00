import { expect, it } from 'vitest';
import { isAll } from '../support/all.ts';
import { prove } from './proof.ts';

it('recognises failures of many programs, and leaves no secret and few marks in their logs', () => {
  const figures = prove({ seed: 7, logs: isAll ? 10_000 : 1000, pairs: isAll ? 20 : 3 });
  expect(figures.leaks).toEqual([]);
  expect(figures.stable).toBeGreaterThanOrEqual(0.95);
  expect(figures.colliding).toBeLessThan(0.005);
  expect(figures.unharmed).toBeGreaterThanOrEqual(0.98);
});
