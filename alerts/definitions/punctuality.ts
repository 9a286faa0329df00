import type { Alert } from '../alert.ts';
import { createExpressions } from '../expressions.ts';
import { dashboardOf, pageOf } from '../label-texts.ts';
import type { Thresholds } from '../thresholds.ts';
import { fast, type Objective, periodDays, slow, toBurning } from './objectives.ts';

export const delays = 'automation_schedule_delay_seconds';
/** Scheduled runs that started in time: the bucket of delays up to five minutes. */
export const punctualStarts = `${delays}_bucket{le=~"300(\\\\.0)?"}`;
export const starts = `${delays}_count`;
const misses = 'automation_schedule_missed_total';

/** The share of decided start times with a run that started in time; missed runs of any cause count as bad. */
export const punctuality: Objective = {
  name: 'schedules-by-server',
  by: ['cluster', 'server'],
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
    const all = `sum by (cluster, server) (${once(`${increase(starts)} or histogram_count(${increase(delays)})`)})`;
    const missed = `sum by (cluster, server) (${once(increase(misses))})`;
    return `(${missed} + (${all} - ${toPunctual(increase, once)} or 0 * ${missed}))`;
  },
};

function toTotal(window: string): string {
  const native = `histogram_count(rate(${delays}[${window}]))`;
  return `sum by (cluster, server) (rate(${starts}[${window}]) or ${native} or rate(${misses}[${window}]))`;
}

/** A native histogram has no bucket limit at five minutes, so Prometheus estimates the share below. */
function toPunctual(over: (events: string) => string, once = (expr: string): string => expr): string {
  const native = `histogram_fraction(0, 300, ${over(delays)}) * histogram_count(${over(delays)}) >= 0`;
  return `(sum by (cluster, server) (${once(over(punctualStarts))}) or sum by (cluster, server) (${once(native)}))`;
}

/** A server without scheduled runs has no series of starts in time. */
function toErrors(total: string, good: string): string {
  return `(${total} - (${good} or 0 * ${total}))`;
}

/** Excludes missed runs whose cause has its own alert, while this alert fires and for some time afterwards. */
function toUnlessTold({ punctualityToldWindow: window }: Thresholds): string {
  const told = (causes: string): string => `max_over_time(ALERTS{${causes},alertstate="firing"}[${window}])`;
  // A member that is down or passive does not explain missed runs of other members.
  const ofServer = told('alertname=~"AutomationServiceDown|AutomationExecutionModePassive",member=""');
  return `unless on (cluster, server) (\n  ${ofServer}\n  or\n  ${told('alertname="AutomationSchedulerSaturated"')}\n)`;
}

/** Is the budget of late and missed runs spent too fast? */
export function punctualityAlerts(limits: Thresholds): Alert[] {
  const { unlessBehind } = createExpressions(limits);
  const guard = unlessBehind.replace('on (job, cluster, server)', 'on (cluster, server)');
  const shared = { dashboard: dashboardOf.schedule, page: pageOf.schedule, needs: ['schedule', 'executions'] } as const;
  return [
    {
      ...shared,
      alert: 'AutomationPunctualityBurnFast',
      expr: `(\n${toBurning(punctuality, fast, limits)}\n)\n${guard}\n${toUnlessTold(limits)}`,
      for: limits.burnFastFor,
      severity: 'critical',
      summary: 'High rate of late or missed scheduled runs on {{ $labels.server }}',
      description: `{{ $value | humanizePercentage }} of the scheduled runs on {{ $labels.server }} start more than 5 minutes late, or not at all. At this rate the budget of ${periodDays} days is spent in less than five days.`,
    },
    {
      ...shared,
      alert: 'AutomationPunctualityBurnSlow',
      expr: `(\n${toBurning(punctuality, slow, limits)}\n)\n${guard}`,
      for: limits.burnSlowFor,
      severity: 'warning',
      summary: 'Too many scheduled runs on {{ $labels.server }} are late or missing',
      description: `{{ $value | humanizePercentage }} of the scheduled runs on {{ $labels.server }} start more than 5 minutes late, or not at all. At this rate the budget of ${periodDays} days is spent before ${periodDays} days are over.`,
    },
  ];
}
