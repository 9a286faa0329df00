import { duration } from '../values/duration.ts';
import { choices } from '../values/lists.ts';
import { number, wholeNumber } from '../values/number.ts';
import { type OptionTree, option } from './option.ts';

/** All alerts of `alerts/definitions/`; a test compares them. */
export const alertNames = [
  'AutomationServiceDown',
  'AutomationCredentialsRejected',
  'AutomationExecutionModePassive',
  'AutomationExecutionModePassiveBriefly',
  'AutomationHealthcheckFailing',
  'AutomationLogStorageFailing',
  'AutomationLogStorageBacklog',
  'AutomationLogStorageMissing',
  'AutomationServerRestarted',
  'AutomationServerMemoryLow',
  'AutomationServerClockSkewed',
  'AutomationSchedulerSaturated',
  'AutomationTokenExpiringSoon',
  'AutomationCommonCause',
  'AutomationJobFailingRepeatedly',
  'AutomationJobFailsForAccess',
  'AutomationJobFailsForTarget',
  'AutomationJobNoRecentSuccess',
  'AutomationExecutionOverdue',
  'AutomationNodeFailingEverywhere',
  'AutomationScheduleMissed',
  'AutomationScheduleMissedCritical',
  'AutomationScheduleOwnerGone',
  'AutomationScheduleLate',
  'AutomationSchedulerWillSaturate',
  'AutomationRunsAtRisk',
  'AutomationRunsAtRiskCritical',
  'AutomationJobDisabledTooLong',
  'AutomationJobSlower',
  'AutomationErrorBudgetBurnFast',
  'AutomationErrorBudgetBurnSlow',
  'AutomationPunctualityBurnFast',
  'AutomationPunctualityBurnSlow',
  'AutomationExporterDown',
  'AutomationExporterInstanceDown',
  'AutomationExporterCollectorFailing',
  'AutomationExporterCollectorDenied',
  'AutomationExporterExecutionsLagging',
  'AutomationExporterExecutionsHidden',
  'AutomationExporterExecutionsImported',
  'AutomationExporterSeriesDropped',
  'AutomationExporterTracesNotDelivered',
  'AutomationExporterHeldUp',
  'AutomationExporterConfigReloadFailed',
  'AutomationExporterNoOwner',
  'AutomationExporterStateDown',
  'AutomationExporterConfigDiffers',
  'AutomationExporterLeaseFlapping',
] as const;

/** The limits of alerts and pages that a site may set. The defaults come from `status/limits.ts`. */
export const alertOptions = {
  thresholds: {
    consecutive_failures: option(wholeNumber(1, 1000), 3).help(
      'A job is reported after this number of failures in a row.',
    ),
    duration_factor: option(number(1, 1000), 1.3).help(
      'A job is reported as slower if its median duration is at least this multiple of the earlier one.',
    ),
    node_failures: option(wholeNumber(1, 100_000), 5).help(
      'A node is reported if it has at least this number of failures within 30 minutes.',
    ),
    node_failure_ratio: option(number(0.01, 1), 0.8).help(
      "A node is reported if it has at least this share of its project's failures.",
    ),
    executions_objective: option(number(0.5, 0.9999), 0.95).help(
      'Share of executions that must succeed over 30 days; with 0.83 or less, AutomationErrorBudgetBurnFast cannot fire.',
    ),
    punctuality_objective: option(number(0.5, 0.9999), 0.99).help(
      'Share of scheduled runs that must start in time over 30 days; with 0.83 or less, AutomationPunctualityBurnFast cannot fire.',
    ),
    memory_used_ratio: option(number(0.1, 1), 0.9).help(
      'A server is reported if it uses more than this share of its heap for half an hour.',
    ),
    scheduler_used_ratio: option(number(0.1, 1), 0.95).help(
      'A server is reported if this share of its scheduler threads is busy over five minutes.',
    ),
    service_down_for: option(duration('30s', '1d'), '2m').help(
      'How long a server must be away before AutomationServiceDown fires; pages show it immediately.',
    ),
  },
  off: option(choices('a list of alerts', alertNames), []).help(
    'Alerts to leave out of the rules; pages show their problems as notes.',
  ),
} as const satisfies OptionTree;
