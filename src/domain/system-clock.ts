import type { Clock } from './clock.ts';

/** The clocks, timers and chance of this process. Each is looked up when it is used, because tests replace them. */
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
