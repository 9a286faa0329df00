/** The configuration of the schedule watch. */
export type ExpectedRunsSettings = {
  /** How late a run may start and still be the expected one. */
  readonly marginMs: number;
  readonly catchUpLimitMs: number;
  /** The time for which a new series is shown as 0, so that its first step can be seen. */
  readonly holdNewSeriesMs: number;
  /** Upper bounds of the buckets of delays, in seconds. */
  readonly buckets: readonly number[];
  /** The most jobs that are watched. */
  readonly maxJobs: number;
  readonly isWantedProject: (project: string) => boolean;
  readonly isWantedJob: (jobPath: string) => boolean;
  /** Reports whether a missed run of a job is critical. */
  readonly isCriticalJob: (jobPath: string) => boolean;
};

/** Default bounds of the buckets of delays, in seconds. */
export const defaultDelayBuckets = [1, 5, 15, 30, 60, 120, 300, 600, 1800] as const;
