import type { SeriesRules } from './series/series-plan.ts';

/** The configuration of executions. */
export type ExecutionSettings = SeriesRules & {
  /** The time that each round reads again before the last read: ends become visible late. */
  readonly overlapMs: number;
  /** Within which every project is read, idle ones too. */
  readonly maxDelayMs: number;
  /** The time before the first start from which on executions are counted. */
  readonly backfillMs: number;
  /** Executions that ended longer ago are skipped, which is reported. */
  readonly catchUpLimitMs: number;
  /** Runs longer than this many times their average are overdue. */
  readonly overdueFactorOf: (jobPath: string) => number;
  readonly overdueFloorMs: number;
  /** The time for which a new series is shown as 0, so that its first step can be seen. */
  readonly holdNewSeriesMs: number;
  readonly isWantedProject: (project: string) => boolean;
  readonly isWantedJob: (jobPath: string) => boolean;
  /** The age that the last success of a job may reach, where that is configured. */
  readonly successAgeMsOf: (jobPath: string) => number | undefined;
};

/**
 * Enough for the defaults of `jobs` and 1,000 projects: 5,000 jobs of 28 series, 200 of them with 7 histograms of 16 series,
 * 5,000 nodes, and for each project 72 series and 3 histograms, which makes 287,400.
 */
export const defaultMaxSeries = 300_000;

/** Default bounds of the buckets of durations, in seconds. */
export const defaultBuckets = [1, 5, 15, 30, 60, 120, 300, 600, 1800, 3600, 7200, 21_600, 43_200] as const;
