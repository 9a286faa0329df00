import { expect, it } from 'vitest';
import { createTimeShare } from '../../../src/expected-runs/asking/time-share.ts';

/** A share of an interval of a minute: 420 ms. */
function createShare() {
  let ticks = 1000;
  const share = createTimeShare({ ticks: () => ticks }, 60_000);
  return { ...share, pass: (ms: number): void => void (ticks += ms) };
}

it.each([
  [420, 'no request', 500, 0],
  [320, 'usual requests', 100, 4],
  [320, 'requests that waited', 4000, 4],
  [395, 'a request that waited for 2 s', 2000, 1],
  [-1581, 'a slow request', 2001, 1],
  [-4200, 'a very slow request', 4620, 1],
  [-4200, 'an even slower request', 4621, 1],
])('leaves %d ms after %s', (leftMs, _what, ms, requests) => {
  const { take, leftMs: toLeft } = createShare();
  take(ms, requests);
  expect(toLeft()).toBe(leftMs);
});

it('grows with time, up to the share of one interval', () => {
  const { take, grow, pass, leftMs, isTurnOfOthers } = createShare();
  take(251, 251);
  expect([leftMs(), isTurnOfOthers()]).toEqual([169, false]);
  take(1, 1);
  expect([leftMs(), isTurnOfOthers()]).toEqual([168, true]);
  pass(10_000);
  grow();
  grow();
  expect(leftMs()).toBeCloseTo(238);
  pass(26_000);
  grow();
  expect(leftMs()).toBeCloseTo(420);
  pass(60_000);
  grow();
  expect(leftMs()).toBe(420);
});

it('estimates how long requests take', () => {
  const { take, isTooLong, toDurationMs } = createShare();
  expect([isTooLong(1000), toDurationMs(1000)]).toEqual([false, 0]);
  take(105, 5);
  expect([isTooLong(4), isTooLong(5), toDurationMs(7)]).toEqual([false, true, 105_000]);
  take(5, 1);
  expect(toDurationMs(7)).toBeCloseTo(95_000);
});
