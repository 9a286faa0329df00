import { expect, it } from 'vitest';
import { createTenures } from '../../src/ownership/tenures.ts';

it.each([
  ['is answered at once', 0, true, 10_000],
  ['is answered late', 3000, true, 10_000],
  ['has no answer', 3000, undefined, 6667],
])('ends a lease by the request of its last renewal, if that %s', async (_how, answersAfterMs, answer, endsMs) => {
  let nowTicks = 0;
  const ends: number[] = [];
  const timers = new Set<{ atTicks: number; work: () => void }>();
  const after = (ms: number, work: () => void) => {
    const timer = { atTicks: nowTicks + ms, work };
    timers.add(timer);
    return () => timers.delete(timer);
  };
  /** The first renewal gets this answer, and no other one is answered. */
  let asked = 0;
  const reach = <Answer>() =>
    new Promise<Answer | undefined>((resolve) => {
      asked += 1;
      // This cast is safe: only renewals are asked for.
      if (asked === 1) after(answersAfterMs, () => resolve(answer as Answer | undefined));
    });
  const tenures = createTenures({
    leases: { renew: async () => true },
    clock: { ticks: () => nowTicks, after },
    reach,
    onEnd: (unit) => {
      ends.push(Math.round(nowTicks));
      tenures.end(unit);
    },
  });
  const lease = { unit: 'a', owner: 'me', address: '', epoch: 1, commits: 0, remainingMs: 10_000 };
  tenures.begin('a', lease, 0);
  for (let step = 0; step < 50 && timers.size > 0; step += 1) {
    const [next] = [...timers].toSorted((one, other) => one.atTicks - other.atTicks);
    if (next === undefined) break;
    timers.delete(next);
    nowTicks = next.atTicks;
    next.work();
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(ends).toEqual([endsMs]);
});
