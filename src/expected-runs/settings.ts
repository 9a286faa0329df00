export type ExpectedRunsSettings = {
  /** The maximum delay of a start that still matches its expected time. */
  readonly marginMs: number;
  readonly catchUpLimitMs: number;
  /** How long a new series is published as 0, so that Prometheus sees its first increase. */
  readonly holdNewSeriesMs: number;
  readonly buckets: readonly number[];
  readonly maxJobs: number;
  readonly isWantedProject: (project: string) => boolean;
  readonly isWantedJob: (jobPath: string) => boolean;
  readonly isCriticalJob: (jobPath: string) => boolean;
};

/** The default bounds of delay buckets in seconds. */
export const defaultDelayBuckets = [1, 5, 15, 30, 60, 120, 300, 600, 1800] as const;
