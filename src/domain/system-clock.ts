import type { Clock } from './clock.ts';

/** The clocks, timers and randomness of this process. Each is looked up on use, because tests replace them. */
export const systemClock: Clock = {
  now: () => Date.now(),
  ticks: () => performance.now(),
  after: (ms, run) => {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  },
  nextTurn: () =>
    new Promise((resolve) => {
      setImmediate(resolve);
    }),
  random: () => Math.random(),
};
