/** The page that shows the cause of a problem, or the section of the front page. */
export type Place =
  | 'server'
  | 'rights'
  | 'config'
  | 'traces'
  | 'schedule'
  | 'tonight'
  | 'failures'
  | 'jobs'
  | 'failed jobs'
  | 'off jobs';

type Kind = {
  /** The alerts for the problem. The first alert has the most helpful runbook. */
  readonly alerts: readonly string[];
  readonly page: Place;
  /** True if the problem is not urgent, so that the page stays green. */
  readonly isNote?: true;
};

/** All kinds of problems, worst first, with their alerts and pages. `alerts/definitions/` uses the same names. */
export const kindsOfProblems = {
  database: { alerts: ['AutomationExporterStateDown'], page: 'config' },
  unwatched: { alerts: ['AutomationExporterNoOwner'], page: 'server' },
  down: { alerts: ['AutomationServiceDown'], page: 'server' },
  refused: { alerts: ['AutomationCredentialsRejected'], page: 'server' },
  blind: { alerts: ['AutomationExporterExecutionsHidden'], page: 'rights' },
  passive: { alerts: ['AutomationExecutionModePassive'], page: 'server' },
  saturated: { alerts: ['AutomationSchedulerSaturated'], page: 'server' },
  owner_gone: { alerts: ['AutomationScheduleOwnerGone'], page: 'schedule' },
  critical_missed: { alerts: ['AutomationScheduleMissedCritical'], page: 'schedule' },
  critical_at_risk: { alerts: ['AutomationRunsAtRiskCritical'], page: 'tonight' },
  common_cause: { alerts: ['AutomationCommonCause'], page: 'failures' },
  burning: { alerts: ['AutomationErrorBudgetBurnFast'], page: 'failures' },
  unpunctual: { alerts: ['AutomationPunctualityBurnFast', 'AutomationPunctualityBurnSlow'], page: 'schedule' },
  logs: {
    alerts: ['AutomationLogStorageFailing', 'AutomationLogStorageBacklog', 'AutomationLogStorageMissing'],
    page: 'server',
  },
  missed: { alerts: ['AutomationScheduleMissed'], page: 'schedule' },
  node_failing: { alerts: ['AutomationNodeFailingEverywhere'], page: 'failures' },
  unwell: { alerts: ['AutomationHealthcheckFailing'], page: 'server' },
  clock: { alerts: ['AutomationServerClockSkewed'], page: 'server' },
  memory: { alerts: ['AutomationServerMemoryLow'], page: 'server' },
  restarted: { alerts: ['AutomationServerRestarted'], page: 'server' },
  was_passive: { alerts: ['AutomationExecutionModePassiveBriefly'], page: 'server' },
  overdue: { alerts: ['AutomationExecutionOverdue'], page: 'server' },
  starts_late: { alerts: ['AutomationScheduleLate'], page: 'schedule' },
  jobs_failing: {
    alerts: ['AutomationJobFailingRepeatedly', 'AutomationJobFailsForAccess', 'AutomationJobFailsForTarget'],
    page: 'failed jobs',
  },
  jobs_stale: { alerts: ['AutomationJobNoRecentSuccess'], page: 'jobs' },
  at_risk: { alerts: ['AutomationRunsAtRisk'], page: 'tonight' },
  burning_slowly: { alerts: ['AutomationErrorBudgetBurnSlow'], page: 'failures' },
  jobs_slow: { alerts: ['AutomationJobSlower'], page: 'server', isNote: true },
  token: { alerts: ['AutomationTokenExpiringSoon'], page: 'server' },
  not_reloaded: { alerts: ['AutomationExporterConfigReloadFailed'], page: 'config' },
  differs: { alerts: ['AutomationExporterConfigDiffers'], page: 'config' },
  unreadable: { alerts: ['AutomationExporterExecutionsHidden'], page: 'rights' },
  imported: { alerts: ['AutomationExporterExecutionsImported'], page: 'server' },
  behind: { alerts: ['AutomationExporterExecutionsLagging'], page: 'server' },
  failing: { alerts: ['AutomationExporterCollectorFailing'], page: 'server' },
  late: { alerts: ['AutomationExporterCollectorFailing'], page: 'server' },
  undelivered: { alerts: ['AutomationExporterTracesNotDelivered'], page: 'traces' },
  quarantined: { alerts: ['AutomationExporterTracesNotDelivered'], page: 'traces' },
  denied: { alerts: ['AutomationExporterCollectorDenied'], page: 'rights' },
  partial: { alerts: ['AutomationExporterCollectorDenied'], page: 'rights' },
  hidden: { alerts: ['AutomationExporterSeriesDropped'], page: 'server' },
  left_out: { alerts: ['AutomationExporterSeriesDropped'], page: 'server' },
  waiting: { alerts: [], page: 'server' },
  will_saturate: { alerts: ['AutomationSchedulerWillSaturate'], page: 'schedule', isNote: true },
  off_long: { alerts: ['AutomationJobDisabledTooLong'], page: 'off jobs', isNote: true },
} as const satisfies Readonly<Record<string, Kind>>;

export type ProblemKind = keyof typeof kindsOfProblems;

export function ofKind(kind: ProblemKind): Kind {
  return kindsOfProblems[kind];
}

/** A problem of a watched server that its collectors do not report. */
export type Trouble = {
  readonly kind: ProblemKind;
  readonly member?: string | undefined;
  /** The problem as a sentence without its subject. Texts put the name of the server before the sentence. */
  readonly text: string;
  readonly detail?: string;
};

/** Reports whether no problem needs a person soon. */
export function isWell(problems: readonly Judged[]): boolean {
  return problems.every(({ kind, isOff }) => isOff === true || ofKind(kind).isNote === true);
}

/** A kind of problem. `isOff` is set if the configuration removes the alerts of the kind from the rules. */
type Judged = { readonly kind: ProblemKind; readonly isOff?: true };

/** Marks problems whose alerts are all off, and moves them to the end. */
export function markOff<P extends Judged>(problems: readonly P[], off: readonly string[] = []): readonly P[] {
  if (off.length === 0) return problems;
  const isOff = ({ kind }: P): boolean => {
    const { alerts } = ofKind(kind);
    return alerts.length > 0 && alerts.every((alert) => off.includes(alert));
  };
  const marked = problems.filter(isOff).map((problem) => ({ ...problem, isOff: true as const }));
  return [...problems.filter((problem) => !isOff(problem)), ...marked];
}
