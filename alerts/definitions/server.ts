import type { Alert } from '../alert.ts';
import { createExpressions } from '../expressions.ts';
import { dashboardOf, pageOf, serverText } from '../label-texts.ts';
import type { Thresholds } from '../thresholds.ts';

/** Does the server have enough resources, does it stay up, and are its tokens valid? */
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
    // A start time that moved with the server's clock is no restart.
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
    // The memory after a garbage collection is measured. Two plain windows contain every sample, unlike a subquery.
    expr: `(${minTotal} - ${maxFree})\n  / ${newest('automation_server_memory_max_bytes')} > ${limits.memoryUsedRatio}`,
    for: limits.memoryLowFor,
    severity: 'warning',
    summary: `Automation service ${serverText} is running out of heap`,
    description: `${serverText} has used at least {{ $value | humanizePercentage }} of its heap throughout the last ${limits.memoryWindow}.`,
    dashboard: dashboardOf.server,
    page: pageOf.server,
    needs: ['system-info'],
  };
}

function clockSkewed(limits: Thresholds): Alert {
  const { once } = createExpressions(limits);
  return {
    alert: 'AutomationServerClockSkewed',
    // The smallest difference counts: the clock of another exporter may be wrong.
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
    // A mean is needed, because a thread looks free between two executions.
    expr: `${running}\n  >= ${limits.schedulerUsedRatio} * (${size} > 0)`,
    for: limits.schedulerSaturatedFor,
    severity: 'critical',
    summary: `All scheduler threads of ${serverText} are busy`,
    description: `On average {{ $value | printf "%.1f" }} scheduler threads of ${serverText} were busy within the last ${limits.schedulerWindow}: all or nearly all threads. New executions start late or not at all.`,
    dashboard: dashboardOf.server,
    page: pageOf.server,
    needs: ['system-info'],
  };
}

function tokenExpiring(limits: Thresholds): Alert {
  const left = `${createExpressions(limits).newest('automation_token_expiration_timestamp_seconds', 'min')} - time()`;
  return {
    alert: 'AutomationTokenExpiringSoon',
    // Expired tokens do not fire: their programs have already failed.
    expr: `${left} < ${limits.tokenExpirySeconds}\nand\n${left} > 0`,
    for: limits.tokenExpiringFor,
    severity: 'warning',
    summary: 'An API token of {{ $labels.server }} expires soon',
    description:
      'The API token {{ with $labels.name }}{{ . }}{{ else }}without a name{{ end }} of {{ $labels.server }} expires in {{ $value | humanizeDuration }}. Programs that use an expired token are locked out.',
    dashboard: dashboardOf.server,
    page: pageOf.server,
    needs: ['tokens'],
  };
}
