import type { Clock } from './clock.ts';

/** The clocks, timers and randomness of this process. Functions are looked up when used, because tests replace them. */
export const systemClock: Clock = {
  now: () => Date.now(),
  ticks: () => performance.now(),
  awakeTicks: () => {
    looks ??= setInterval(look, lookEveryMs).unref();
    return look();
  },
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

let looks: NodeJS.Timeout | undefined;
let lookedTicks = Number.NEGATIVE_INFINITY;
let awakeMs = 0;

/** Returns the awake time. Of a long pause between two calls, only a part counts: the process was suspended. */
function look(): number {
  const nowTicks = performance.now();
  awakeMs += Math.min(nowTicks - lookedTicks, 2 * lookEveryMs);
  lookedTicks = nowTicks;
  return awakeMs;
}

const lookEveryMs = 1000;
