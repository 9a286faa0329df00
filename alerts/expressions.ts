import type { Thresholds } from './thresholds.ts';

/** Pieces of PromQL that the alerts share, so that each of them holds with several exporters and over a short gap. */
export interface Expressions {
  /** The newest value of a gauge by any exporter: the largest, unless told otherwise. */
  readonly newest: (selector: string, pick?: 'max' | 'min') => string;
  /** An expression by any exporter: exporters that watch the same server count the same things. */
  readonly once: (expression: string, pick?: 'max' | 'min') => string;
  /** Says nothing about a server that no exporter reaches: that has an alert of its own. */
  readonly unlessDown: string;
  /** Says nothing about what is read so late that it is old. */
  readonly unlessBehind: string;
}

export function createExpressions(limits: Thresholds): Expressions {
  const once = (expression: string, pick = 'max'): string =>
    `${pick} without (${limits.replicaLabels}) (${expression})`;
  const newest = (selector: string, pick: 'max' | 'min' = 'max'): string =>
    once(`last_over_time(${selector}[${limits.gapWindow}])`, pick);
  return {
    once,
    newest,
    unlessDown: `unless on (job, server)\n  ${newest('automation_up{member=""}')} == 0`,
    unlessBehind: `unless on (job, server)\n  ${newest('automation_exporter_execution_lag_seconds', 'min')} > ${limits.executionLagSeconds}`,
  };
}
