import type { Thresholds } from './thresholds.ts';

/** PromQL that all alerts share: they must work with several exporters and over a short gap. */
interface Expressions {
  /** Returns the newest value of a gauge; by default the largest one if exporters differ. */
  readonly newest: (selector: string, pick?: 'max' | 'min') => string;
  /** Removes the labels of exporters, because exporters that watch the same server have equal values. */
  readonly once: (expression: string, pick?: 'max' | 'min') => string;
  /** Excludes servers that no exporter reaches, because they have their own alert. */
  readonly unlessDown: string;
  /** Excludes servers whose executions are read too late. */
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
    unlessDown: `unless on (job, cluster, server)\n  ${newest('automation_up{member=""}')} == 0`,
    unlessBehind: `unless on (job, cluster, server)\n  ${newest('automation_exporter_execution_lag_seconds', 'min')} > ${limits.executionLagSeconds}`,
  };
}
