import type { SeriesRules } from './series/series-plan.ts';

export type ExecutionSettings = SeriesRules & {
  /** How far each round reads back before the last read. Executions become visible with a delay. */
  readonly overlapMs: number;
  /** The maximum time between two reads of any project, idle or not. */
  readonly maxDelayMs: number;
  /** Counting begins this long before the first start of the exporter. */
  readonly backfillMs: number;
  /** The configured start of counting. The configured start replaces `backfillMs`. */
  readonly countFromMs?: number | undefined;
  /** The age from which ended executions are skipped and reported. */
  readonly catchUpLimitMs: number;
  /** Returns the multiple of its average duration above which a run is overdue. */
  readonly overdueFactorOf: (jobPath: string) => number;
  readonly overdueFloorMs: number;
  /** How long a new series is published as 0, so that Prometheus sees its first increase. */
  readonly holdNewSeriesMs: number;
  readonly isWantedProject: (project: string) => boolean;
  readonly isWantedJob: (jobPath: string) => boolean;
  readonly successAgeMsOf: (jobPath: string) => number | undefined;
  /** Returns the configured owner of a job. By default, jobs have no owner. */
  readonly ownerOf?: (jobPath: string) => string | undefined;
};

/**
 * The default limit of series. Enough for 1,000 projects with the defaults of `jobs`: 5,000 jobs with 29 series, 200
 * jobs with 7 histograms of 16 series, 5,000 nodes, and 72 series and 3 histograms per project (292,400).
 */
export const defaultMaxSeries = 300_000;

/** The default bounds of duration buckets in seconds. */
export const defaultBuckets = [1, 5, 15, 30, 60, 120, 300, 600, 1800, 3600, 7200, 21_600, 43_200] as const;
