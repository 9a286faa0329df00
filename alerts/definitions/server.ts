import type { Alert } from '../alert.ts';
import { serverText } from '../label-texts.ts';
import type { Thresholds } from '../thresholds.ts';

/** Does the server have room to work, and does it stay up? */
export function serverAlerts(limits: Thresholds): Alert[] {
  const start = 'automation_server_start_time_seconds';
  const leastTotal = `min_over_time(automation_server_memory_total_bytes[${limits.memoryWindow}])`;
  const mostFree = `max_over_time(automation_server_memory_free_bytes[${limits.memoryWindow}])`;
  return [
    {
      alert: 'AutomationServerRestarted',
      expr: `${start} - min_over_time(${start}[${limits.restartWindow}]) > ${limits.restartSeconds}`,
      for: '0s',
      severity: 'warning',
      summary: `Automation service ${serverText} restarted`,
      description: `${serverText} started again within the last ${limits.restartWindow}. Executions that were running at that time were interrupted.`,
    },
    {
      alert: 'AutomationServerMemoryLow',
      // What remains after a garbage collection; the momentary use says little. Two plain windows see every sample,
      // where a subquery would miss the collections between its steps.
      expr: `(${leastTotal} - ${mostFree})\n  / automation_server_memory_max_bytes > ${limits.memoryUsedRatio}`,
      for: limits.memoryLowFor,
      severity: 'warning',
      summary: `Automation service ${serverText} is running out of heap`,
      description: `${serverText} has not used less than {{ $value | humanizePercentage }} of its heap within the last ${limits.memoryWindow}.`,
    },
    {
      alert: 'AutomationServerClockSkewed',
      expr: `abs(automation_server_clock_skew_seconds) > ${limits.clockSkewSeconds}`,
      for: limits.clockSkewedFor,
      severity: 'warning',
      summary: `The clock of ${serverText} is off`,
      description: `The clocks of ${serverText} and of the exporter differ by {{ $value | humanizeDuration }}. Schedules and execution times are off by the same amount.`,
    },
    {
      alert: 'AutomationSchedulerSaturated',
      // A mean, because a slot that was just freed may look empty for one poll though work is waiting.
      expr: `avg_over_time(automation_scheduler_running_executions[${limits.schedulerWindow}])\n  >= ${limits.schedulerUsedRatio} * automation_scheduler_thread_pool_size\nand automation_scheduler_thread_pool_size > 0`,
      for: limits.schedulerSaturatedFor,
      severity: 'critical',
      summary: `All scheduler threads of ${serverText} are busy`,
      description: `On average {{ $value | printf "%.1f" }} scheduler threads of ${serverText} were busy within the last ${limits.schedulerWindow}, which is all or nearly all of them. New executions start late or not at all.`,
    },
  ];
}
