import type { Alert } from '../alert.ts';
import { createExpressions } from '../expressions.ts';
import { causeText, dashboardOf, pageOf, serverText } from '../label-texts.ts';
import type { Thresholds } from '../thresholds.ts';

/** Is the service up, may it start executions, are its health checks fine? */
export function serviceAlerts(limits: Thresholds): Alert[] {
  const { newest, once } = createExpressions(limits);
  const passive = 'automation_execution_mode{mode="passive"}';
  const wasCritical = `max_over_time(ALERTS{alertname="AutomationExecutionModePassive",alertstate="firing"}[${limits.passiveLongWindow}])`;
  return [
    {
      alert: 'AutomationServiceDown',
      // Refused credentials have their own alert, although automation_up is 0.
      expr: `(\n  ${unlessServerItself((of) => `${newest(`automation_up{${of}}`)} == 0`)}\n)\nunless on (job, cluster, server, member)\n  ${newest('automation_credentials_accepted')} == 0`,
      for: limits.serviceDownFor,
      severity: 'critical',
      summary: `Automation service ${serverText} is not responding`,
      description: `The exporter receives no usable response from ${serverText}. Jobs might not run.${causeText(limits)}`,
      dashboard: dashboardOf.server,
      page: pageOf.server,
      needs: [],
    },
    {
      alert: 'AutomationCredentialsRejected',
      expr: unlessServerItself((of) => `${newest(`automation_credentials_accepted{${of}}`)} == 0`),
      for: limits.credentialsRejectedFor,
      severity: 'critical',
      summary: `Automation service ${serverText} rejects the credentials of the exporter`,
      description: `${serverText} responds, but rejects the credentials of the exporter. No other alert on this {{ if $labels.member }}member{{ else }}server{{ end }} can fire until the credentials are replaced.`,
      dashboard: dashboardOf.server,
      page: pageOf.server,
      needs: [],
    },
    {
      alert: 'AutomationExecutionModePassive',
      expr: `${newest(passive)} == 1`,
      for: limits.passiveFor,
      severity: 'critical',
      summary: `Automation service ${serverText} is in passive mode`,
      description: `${serverText} has been passive for at least ${limits.passiveFor}: it does not start scheduled, manual or ad hoc executions until it is made active again.`,
      dashboard: dashboardOf.server,
      page: pageOf.server,
      needs: ['execution-mode'],
    },
    {
      alert: 'AutomationExecutionModePassiveBriefly',
      // The passive mode is over, and was too short for the alert above.
      expr: `${once(`max_over_time(${passive}[${limits.passiveBrieflyWindow}])`)} == 1\nunless ${newest(passive)} == 1\nunless on (job, cluster, server, member)\n  ${wasCritical}`,
      for: '0s',
      severity: 'warning',
      summary: `Automation service ${serverText} was briefly passive`,
      description: `${serverText} is active, but was in passive mode for less than ${limits.passiveFor} within the last ${limits.passiveBrieflyWindow}. Executions that were due during this time did not start.`,
      dashboard: dashboardOf.server,
      page: pageOf.server,
      needs: ['execution-mode'],
    },
    {
      alert: 'AutomationHealthcheckFailing',
      // If the number of threads is known, AutomationSchedulerSaturated replaces this health check.
      expr: `${newest(`automation_healthcheck_healthy{check!="${threadCheck}"}`)} == 0\nor\n${newest(`automation_healthcheck_healthy{check="${threadCheck}"}`)} == 0\n  unless on (job, cluster, server, member) ${newest('automation_scheduler_thread_pool_size')} > 0`,
      for: limits.healthcheckFailingFor,
      severity: 'warning',
      summary: `Health check {{ $labels.check }} of ${serverText} fails`,
      description: `The server ${serverText} reports its health check {{ $labels.check }} as unhealthy.`,
      dashboard: dashboardOf.server,
      page: pageOf.server,
      needs: ['healthcheck'],
    },
  ];
}

const threadCheck = 'quartz.scheduler.threadPool';

/** Returns the condition for a server, or else for each of its members. */
function unlessServerItself(toCondition: (selector: string) => string): string {
  const ofServer = toCondition('member=""');
  return `${ofServer}\nor\n(\n  ${toCondition('member!=""')}\n  unless on (job, cluster, server)\n  ${ofServer}\n)`;
}
