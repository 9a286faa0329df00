import { expect, it } from 'vitest';
import { addNights, playNight } from './virtual-night.ts';

it('lists the runs at risk of virtual nights (part of `npm run bench tonight`)', async () => {
  const nights = [];
  for (const seed of [2, 3]) {
    const night = await playNight(seed);
    nights.push(night);
    expect((await playNight(seed, { kills: true })).lists).toEqual(night.lists);
  }
  const { listed, right, unseen, harmed, found, stale, byReason } = addNights(nights);
  expect([...byReason.keys()]).toHaveLength(12);
  for (const { listed, right, unseen } of byReason.values()) expect(right / (listed - unseen)).toBeGreaterThan(0.9);
  expect(listed).toBeGreaterThan(1000);
  expect(right / (listed - unseen)).toBeGreaterThan(0.95);
  expect(harmed).toBeGreaterThan(100);
  expect(found / harmed).toBeGreaterThan(0.95);
  expect(stale).toBe(0);
});
