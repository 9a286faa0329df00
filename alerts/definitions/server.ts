import type { Alert } from '../alert.ts';
import { createExpressions } from '../expressions.ts';
import { dashboardOf, pageOf, serverText } from '../label-texts.ts';
import type { Thresholds } from '../thresholds.ts';

/** Does the server have room to work, does it stay up, and do its tokens last? */
export function serverAlerts(limits: Thresholds): Alert[] {
  return [restarted(limits), memoryLow(limits), clockSkewed(limits), schedulerSaturated(limits), tokenExpiring(limits)];
}

function restarted(limits: Thresholds): Alert {
  const { once } = createExpressions(limits);
  const rise = (metric: string): string =>
    once(`last_over_time(${metric}[${limits.gapWindow}]) - min_over_time(${metric}[${limits.restartWindow}])`);
  const skewRise = rise('automation_server_clock_skew_seconds');
  const startRise = rise('automation_server_start_time_seconds');
  return {
    alert: 'AutomationServerRestarted',
    // Servers compute their start from their clock: a start that moved as far as the clock is not a restart.
    expr: `(${startRise} - ${skewRise}) > ${limits.restartSeconds}\nor\n${startRise} > ${limits.restartSeconds} unless ${skewRise}`,
    for: '0s',
    severity: 'warning',
    summary: `Automation service ${serverText} restarted`,
    description: `${serverText} started again within the last ${limits.restartWindow}. Executions that were running at that time were interrupted.`,
    dashboard: dashboardOf.server,
    page: pageOf.server,
    needs: ['system-info'],
  };
}

function memoryLow(limits: Thresholds): Alert {
  const { once, newest } = createExpressions(limits);
  const minTotal = once(`min_over_time(automation_server_memory_total_bytes[${limits.memoryWindow}])`);
  const maxFree = once(`max_over_time(automation_server_memory_free_bytes[${limits.memoryWindow}])`);
  return {
    alert: 'AutomationServerMemoryLow',
    // What remains after a garbage collection; the momentary use says little. Two plain windows see every sample,
    // where a subquery would miss the collections between its steps.
    expr: `(${minTotal} - ${maxFree})\n  / ${newest('automation_server_memory_max_bytes')} > ${limits.memoryUsedRatio}`,
    for: limits.memoryLowFor,
    severity: 'warning',
    summary: `Automation service ${serverText} is running out of heap`,
    description: `${serverText} has not used less than {{ $value | humanizePercentage }} of its heap within the last ${limits.memoryWindow}.`,
    dashboard: dashboardOf.server,
    page: pageOf.server,
    needs: ['system-info'],
  };
}

function clockSkewed(limits: Thresholds): Alert {
  const { once } = createExpressions(limits);
  return {
    alert: 'AutomationServerClockSkewed',
    // By the exporter that sees the least of it: the clock of another one may be the one that is off.
    expr: `${once(`abs(last_over_time(automation_server_clock_skew_seconds[${limits.gapWindow}]))`, 'min')} > ${limits.clockSkewSeconds}`,
    for: limits.clockSkewedFor,
    severity: 'warning',
    summary: `The clock of ${serverText} differs from the exporter's`,
    description: `The clocks of ${serverText} and of the exporter differ by {{ $value | humanizeDuration }}. Schedules and execution times are off by the same amount.`,
    dashboard: dashboardOf.server,
    page: pageOf.server,
    needs: ['system-info'],
  };
}

function schedulerSaturated(limits: Thresholds): Alert {
  const { once, newest } = createExpressions(limits);
  const running = once(`avg_over_time(automation_scheduler_running_executions[${limits.schedulerWindow}])`);
  const size = newest('automation_scheduler_thread_pool_size');
  return {
    alert: 'AutomationSchedulerSaturated',
    // A mean, because a slot that was just freed may look empty for one poll though work is waiting.
    expr: `${running}\n  >= ${limits.schedulerUsedRatio} * (${size} > 0)`,
    for: limits.schedulerSaturatedFor,
    severity: 'critical',
    summary: `All scheduler threads of ${serverText} are busy`,
    description: `On average {{ $value | printf "%.1f" }} scheduler threads of ${serverText} were busy within the last ${limits.schedulerWindow}, which is all or nearly all of them. New executions start late or not at all.`,
    dashboard: dashboardOf.server,
    page: pageOf.server,
    needs: ['system-info'],
  };
}

function tokenExpiring(limits: Thresholds): Alert {
  const left = `${createExpressions(limits).newest('automation_token_expiration_timestamp_seconds', 'min')} - time()`;
  return {
    alert: 'AutomationTokenExpiringSoon',
    // A token that has expired is either noticed by whoever used it, or missed by nobody.
    expr: `${left} < ${limits.tokenExpirySeconds}\nand\n${left} > 0`,
    for: limits.tokenExpiringFor,
    severity: 'warning',
    summary: 'An API token of {{ $labels.server }} expires soon',
    description:
      'The API token {{ with $labels.name }}{{ . }}{{ else }}without a name{{ end }} of {{ $labels.server }} expires in {{ $value | humanizeDuration }}. What uses it is locked out after that.',
    dashboard: dashboardOf.server,
    page: pageOf.server,
    needs: ['tokens'],
  };
}
