import type { Alert } from '../alert.ts';
import { serverText } from '../label-texts.ts';
import type { Thresholds } from '../thresholds.ts';

/** Is the service up, may it run anything, does it feel well? */
export function serviceAlerts(limits: Thresholds): Alert[] {
  return [
    {
      alert: 'AutomationServiceDown',
      // Refused credentials also leave the server without an authenticated answer; they have their own alert.
      expr: 'automation_up == 0 unless on (job, instance, server, member) automation_credentials_accepted == 0',
      for: limits.serviceDownFor,
      severity: 'critical',
      summary: `Automation service ${serverText} is not responding`,
      description: `The exporter receives no usable response from ${serverText}. Jobs may not run.`,
    },
    {
      alert: 'AutomationCredentialsRejected',
      expr: 'automation_credentials_accepted == 0',
      for: limits.credentialsRejectedFor,
      severity: 'critical',
      summary: `Automation service ${serverText} rejects the credentials of the exporter`,
      description: `${serverText} responds, but rejects the credentials of the exporter. No other alert on this server can fire until they are replaced.`,
    },
    {
      alert: 'AutomationExecutionModePassive',
      expr: 'automation_execution_mode{mode="passive"} == 1',
      for: limits.passiveFor,
      severity: 'critical',
      summary: `Automation service ${serverText} is in passive mode`,
      description: `${serverText} has been passive for at least ${limits.passiveFor}: it does not start scheduled, manual or ad hoc executions until it is made active again.`,
    },
    {
      alert: 'AutomationExecutionModePassiveBriefly',
      expr: `max_over_time(automation_execution_mode{mode="passive"}[${limits.passiveBrieflyWindow}]) == 1`,
      for: '0s',
      severity: 'warning',
      summary: `Automation service ${serverText} was briefly passive`,
      description: `${serverText} was in passive mode within the last ${limits.passiveBrieflyWindow}. Executions that were due in that time did not start.`,
    },
    {
      alert: 'AutomationHealthcheckFailing',
      expr: 'automation_healthcheck_healthy == 0',
      for: limits.healthcheckFailingFor,
      severity: 'warning',
      summary: `Health check {{ $labels.check }} of ${serverText} fails`,
      description: `The server ${serverText} reports its health check {{ $labels.check }} as unhealthy.`,
    },
  ];
}
