import type { Config } from '../src/config/config.ts';
import { formatDuration } from '../src/config/values/duration.ts';
import { allAlerts, buildRules } from './generate.ts';
import { defaultThresholds, type Thresholds } from './thresholds.ts';

type Site = Config['alerts'];

/** The rules with a site's own thresholds, without the alerts that it turned off. */
export function buildSiteRules({ thresholds, off }: Site): string {
  return buildRules(toChanges(thresholds), off);
}

/** The configured changes of an alert, as lines of the configuration. */
export function listSiteChanges(alert: string, { thresholds, off }: Site): readonly string[] {
  const usual = describe(alert, {});
  const lines = Object.entries(toChanges(thresholds)).flatMap(([key, value]) => {
    // This cast is safe: the keys are thresholds.
    const before = defaultThresholds[key as keyof Thresholds];
    if (value === before || describe(alert, { [key]: value }) === usual) return [];
    return `alerts.thresholds.${optionNames[key] ?? key}: ${String(value)} (usually ${String(before)})`;
  });
  return off.some((name) => name === alert) ? [...lines, 'alerts.off: this alert is left out of the rules'] : lines;
}

/** The names of the settable thresholds in a configuration. */
export const optionNames: Readonly<Record<string, string>> = {
  jobConsecutiveFailures: 'consecutive_failures',
  durationFactor: 'duration_factor',
  nodeFailures: 'node_failures',
  nodeFailureRatio: 'node_failure_ratio',
  executionsObjective: 'executions_objective',
  punctualityObjective: 'punctuality_objective',
  memoryUsedRatio: 'memory_used_ratio',
  schedulerUsedRatio: 'scheduler_used_ratio',
  serviceDownFor: 'service_down_for',
};

function toChanges({ consecutiveFailures, serviceDownForMs, ...others }: Site['thresholds']): Partial<Thresholds> {
  return { ...others, jobConsecutiveFailures: consecutiveFailures, serviceDownFor: formatDuration(serviceDownForMs) };
}

/** Renders a whole rule as text, for comparisons. */
function describe(alert: string, changes: Partial<Thresholds>): string {
  return JSON.stringify(allAlerts({ ...defaultThresholds, ...changes }).find((one) => one.alert === alert));
}
