import { expect, it } from 'vitest';
import { addScores, playNight } from './virtual-night.ts';

it('lists in virtual nights what will be harmed, and little else (a part of `npm run bench tonight`)', async () => {
  const scores = [];
  for (let seed = 1; seed <= 4; seed += 1) scores.push(await playNight(seed));
  const { listed, right, harmed, found, stale } = addScores(scores);
  expect(listed).toBeGreaterThan(1000);
  expect(right / listed).toBeGreaterThan(0.95);
  expect(harmed).toBeGreaterThan(100);
  expect(found / harmed).toBeGreaterThan(0.95);
  expect(stale).toBe(0);
});
