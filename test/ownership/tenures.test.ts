import { expect, it } from 'vitest';
import { createTenures } from '../../src/ownership/tenures.ts';

/** Answers the first renewals after these times, or with an error for undefined. */
function setScene(answersAfterMs: number, answers: readonly (true | undefined)[]) {
  let nowTicks = 0;
  const ends: number[] = [];
  const timers = new Set<{ atTicks: number; work: () => void }>();
  const after = (ms: number, work: () => void) => {
    const timer = { atTicks: nowTicks + ms, work };
    timers.add(timer);
    return () => timers.delete(timer);
  };
  const left = [...answers];
  const reach = <Answer>() =>
    new Promise<Answer | undefined>((resolve) => {
      const isAnswered = left.length > 0;
      // This cast is safe: only renewals are requested.
      const answer = left.shift() as Answer | undefined;
      if (isAnswered) after(answersAfterMs, () => resolve(answer));
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
  const begin = (epoch: number): void => {
    const lease = { unit: 'a', owner: 'me', address: '', epoch, commits: 0, remainingMs: 10_000 };
    tenures.begin('a', lease, nowTicks);
  };
  /** Plays all timers; returns the times at which the lease has ended. */
  async function play(): Promise<readonly number[]> {
    for (let step = 0; step < 50 && timers.size > 0; step += 1) {
      const [next] = [...timers].toSorted((one, other) => one.atTicks - other.atTicks);
      if (next === undefined) break;
      timers.delete(next);
      nowTicks = next.atTicks;
      next.work();
      await new Promise((resolve) => setImmediate(resolve));
    }
    return ends;
  }
  return { after, begin, end: () => tenures.end('a'), play };
}

it.each([
  ['is answered immediately', 0, [true], 10_000],
  ['is answered late', 3000, [true], 10_000],
  ['has no answer', 3000, [undefined], 6667],
  ['has no answer, but the next one has', 0, [undefined, true], 11_111],
] as const)(
  'computes the end of a lease from the last renewal request if the request %s',
  async (_how, answersAfterMs, answers, endsMs) => {
    const { begin, play } = setScene(answersAfterMs, answers);
    begin(1);
    expect(await play()).toEqual([endsMs]);
  },
);

it('keeps a lease that was acquired again', async () => {
  const { after, begin, end, play } = setScene(0, [undefined]);
  begin(1);
  after(2000, end);
  after(3000, () => begin(2));
  expect(await play()).toEqual([9667]);
});
