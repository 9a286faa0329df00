const minute = 60_000;
const hour = 60 * minute;

export const executionLimits = {
  consecutiveFailures: 3,
  /** How many consecutive failures are a problem if a key is refused or a node is not reached; 1 for a critical job. */
  failuresOfCause: 2,
  nodeWindowMs: 30 * minute,
  nodeFailures: 5,
  nodeFailureRatio: 0.8,
  nodeFailingJobs: 2,
  durationFactor: 1.3,
  /** How long an increase of durations is reported. After 14 days, the new durations count as usual. */
  durationShiftMs: 14 * 24 * hour,
  lagSeconds: 1800,
  /** The window for imports. A problem needs imports in two windows in a row, and no other executions. */
  importsWindowMs: 26 * hour,
  objective: 0.95,
  burnFailures: 10,
  burns: {
    burning: [
      { shortMs: 5 * minute, longMs: hour, factor: 14.4 },
      { shortMs: 30 * minute, longMs: 6 * hour, factor: 6 },
    ],
    burning_slowly: [
      { shortMs: 2 * hour, longMs: 24 * hour, factor: 3 },
      { shortMs: 6 * hour, longMs: 72 * hour, factor: 1 },
    ],
  },
} as const;

export const scheduleLimits = {
  windowMs: 30 * minute,
  lateRatio: 0.05,
  offMs: 7 * 24 * hour,
  /** A critical run at risk is urgent if its start is at most two hours away. */
  soonMs: 2 * hour,
  objective: 0.99,
  burnTimes: 10,
  burns: [
    { shortMs: hour, longMs: 6 * hour, factor: 6 },
    { shortMs: 2 * hour, longMs: 24 * hour, factor: 3 },
    { shortMs: 6 * hour, longMs: 72 * hour, factor: 1 },
  ],
} as const;

export const serverLimits = {
  clockSkewSeconds: 30,
  schedulerWindowMs: 5 * 60_000,
  schedulerUsedRatio: 0.95,
  memoryWindowMs: 30 * 60_000,
  memoryUsedRatio: 0.9,
  restartSeconds: 60,
  /** How long a passive mode that is over is still shown. */
  recentlyMs: 10 * minute,
} as const;

export type Limits = {
  readonly execution: Numbers<typeof executionLimits>;
  readonly schedule: Numbers<typeof scheduleLimits>;
  readonly server: Numbers<typeof serverLimits>;
};

type Numbers<T> = { readonly [K in keyof T]: T[K] extends number ? number : T[K] };

export const usualLimits: Limits = { execution: executionLimits, schedule: scheduleLimits, server: serverLimits };

/** Returns the time after which the series of a collector expire. */
export function toPatienceMs(everyMs: number): number {
  return Math.max(3 * everyMs, minute);
}
