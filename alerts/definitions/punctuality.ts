import type { Alert } from '../alert.ts';
import { createExpressions } from '../expressions.ts';
import { dashboardOf, pageOf } from '../label-texts.ts';
import type { Thresholds } from '../thresholds.ts';
import { fast, type Objective, periodDays, slow, toBurning } from './objectives.ts';

export const delays = 'automation_schedule_delay_seconds';
/** Runs on schedule that started in time: within five minutes, a bucket of the delays. */
export const punctualStarts = `${delays}_bucket{le=~"300(\\\\.0)?"}`;
export const starts = `${delays}_count`;
const misses = 'automation_schedule_missed_total';

/** Of the expected times that are decided, this share has to have a run that starts in time. Every miss counts, whatever its cause. */
export const punctuality: Objective = {
  name: 'schedules-by-server',
  by: ['server'],
  description: 'Scheduled runs of a server start at most five minutes late.',
  target: 'punctualityObjective',
  errors: (window) =>
    toErrors(
      toTotal(window),
      toPunctual((events) => `rate(${events}[${window}])`),
    ),
  total: toTotal,
  count: (window, limits) => {
    const { once } = createExpressions(limits);
    const increase = (events: string): string => `increase(${events}[${window}])`;
    const all = `sum by (server) (${once(`${increase(starts)} or histogram_count(${increase(delays)})`)})`;
    const missed = `sum by (server) (${once(increase(misses))})`;
    return `(${missed} + (${all} - ${toPunctual(increase, once)} or 0 * ${missed}))`;
  },
};

function toTotal(window: string): string {
  const native = `histogram_count(rate(${delays}[${window}]))`;
  return `sum by (server) (rate(${starts}[${window}]) or ${native} or rate(${misses}[${window}]))`;
}

/** A native histogram has no bucket that ends at five minutes: Prometheus estimates the share below. */
function toPunctual(over: (events: string) => string, once = (expr: string): string => expr): string {
  const native = `histogram_fraction(0, 300, ${over(delays)}) * histogram_count(${over(delays)}) >= 0`;
  return `(sum by (server) (${once(over(punctualStarts))}) or sum by (server) (${once(native)}))`;
}

/** Where nothing has ever run on schedule, there are no starts in time. */
function toErrors(total: string, good: string): string {
  return `(${total} - (${good} or 0 * ${total}))`;
}

/** What kept runs from starting has paged; the windows hold the misses for a while after it is over. */
function toUnlessTold({ punctualityToldWindow: window }: Thresholds): string {
  const causes = 'AutomationServiceDown|AutomationExecutionModePassive|AutomationSchedulerSaturated';
  return `unless on (server)\n  max_over_time(ALERTS{alertname=~"${causes}",alertstate="firing"}[${window}])`;
}

/** Is the budget of runs that are late or missed spent faster than it lasts? */
export function punctualityAlerts(limits: Thresholds): Alert[] {
  const { unlessBehind } = createExpressions(limits);
  const guard = unlessBehind.replace('on (job, server)', 'on (server)');
  const shared = { dashboard: dashboardOf.schedule, page: pageOf.schedule, needs: ['schedule', 'executions'] } as const;
  return [
    {
      ...shared,
      alert: 'AutomationPunctualityBurnFast',
      expr: `(\n${toBurning(punctuality, fast, limits)}\n)\n${guard}\n${toUnlessTold(limits)}`,
      for: limits.burnFastFor,
      severity: 'critical',
      summary: 'High rate of late or missed scheduled runs on {{ $labels.server }}',
      description: `{{ $value | humanizePercentage }} of the scheduled runs on {{ $labels.server }} start more than 5 minutes late, or not at all. At this rate the budget of ${periodDays} days lasts for less than five days.`,
    },
    {
      ...shared,
      alert: 'AutomationPunctualityBurnSlow',
      expr: `(\n${toBurning(punctuality, slow, limits)}\n)\n${guard}`,
      for: limits.burnSlowFor,
      severity: 'warning',
      summary: 'Too many scheduled runs on {{ $labels.server }} are late or missing',
      description: `{{ $value | humanizePercentage }} of the scheduled runs on {{ $labels.server }} start more than 5 minutes late, or not at all. At this rate the budget of ${periodDays} days does not last for ${periodDays} days.`,
    },
  ];
}
