import { duration } from '../values/duration.ts';
import { choices } from '../values/lists.ts';
import { number, wholeNumber } from '../values/number.ts';
import { type OptionTree, option } from './option.ts';

/** Every alert of `alerts/definitions/`; a test compares them. */
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

/** The limits of alerts and pages that a site may set; the defaults are those of `status/limits.ts`. */
export const alertOptions = {
  thresholds: {
    consecutive_failures: option(wholeNumber(1, 1000), 3).help('Failures of a job in a row that are reported.'),
    duration_factor: option(number(1, 1000), 1.3).help(
      'Multiple of its earlier median duration from which a job that has lastingly become slower is reported.',
    ),
    node_failures: option(wholeNumber(1, 100_000), 5).help(
      'Failures on one node within 30 minutes, at least, to report the node.',
    ),
    node_failure_ratio: option(number(0.01, 1), 0.8).help(
      "Share of a project's failures that must be on one node to report the node.",
    ),
    executions_objective: option(number(0.5, 0.9999), 0.95).help('Share of executions that must succeed over 30 days.'),
    punctuality_objective: option(number(0.5, 0.9999), 0.99).help(
      'Share of scheduled runs that must start in time over 30 days.',
    ),
    memory_used_ratio: option(number(0.1, 1), 0.9).help(
      'Share of its heap above which the use of a server must stay for half an hour to be reported.',
    ),
    scheduler_used_ratio: option(number(0.1, 1), 0.95).help(
      'Share of scheduler threads that must be busy over five minutes to be reported.',
    ),
    service_down_for: option(duration('30s', '1d'), '2m').help(
      'How long a server must be away before AutomationServiceDown fires; pages show it at once.',
    ),
  },
  off: option(choices('a list of alerts', alertNames), []).help(
    'Alerts to leave out of the rules; pages show their problems as notes.',
  ),
} as const satisfies OptionTree;
