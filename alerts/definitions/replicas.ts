import type { Alert } from '../alert.ts';
import { dashboardOf, pageOf } from '../label-texts.ts';
import type { Thresholds } from '../thresholds.ts';

const exporterItself = { dashboard: dashboardOf.exporter, needs: [] } as const;

/** Alerts about exporters that share a database. Other exporters do not have these series. */
export function replicaAlerts(limits: Thresholds): Alert[] {
  const { gapWindow, leaseFlapsWindow, leaseFlaps } = limits;
  const epoch = 'automation_exporter_lease_epoch';
  const highest = `max by (job, cluster, server) (max_over_time(${epoch}[${leaseFlapsWindow}]))`;
  const lowest = `min by (job, cluster, server) (min_over_time(${epoch}[${leaseFlapsWindow}]))`;
  return [
    {
      alert: 'AutomationExporterNoOwner',
      expr: `max by (job, cluster, server) (last_over_time(automation_exporter_lease_owned[${gapWindow}])) == 0`,
      for: limits.noOwnerFor,
      severity: 'critical',
      summary: 'No exporter watches an automation server',
      description:
        'None of the exporters with the job {{ $labels.job }} owns {{ $labels.server }}, so no exporter polls the server, and no other alert about the server can fire. The next owner counts the executions that ended in between.',
      ...exporterItself,
      page: pageOf.server,
    },
    {
      alert: 'AutomationExporterStateDown',
      expr: `last_over_time(automation_exporter_state_up[${gapWindow}]) == 0`,
      for: limits.stateDownFor,
      severity: 'warning',
      summary: 'An automation exporter cannot reach its database',
      description:
        '{{ $labels.instance }} gets no response from the database that the exporters share. The exporter owns no server until the database responds again; an exporter that reaches the database takes over.',
      ...exporterItself,
      page: pageOf.front,
    },
    {
      alert: 'AutomationExporterConfigDiffers',
      expr: `last_over_time(automation_exporter_config_differs[${gapWindow}]) == 1`,
      for: limits.configDiffersFor,
      severity: 'warning',
      summary: 'Automation exporters that share a database have different configurations',
      description:
        '{{ $labels.instance }} has a different configuration from another exporter that owns servers. The metrics of a server depend on which exporter owns the server.',
      ...exporterItself,
      page: pageOf.front,
    },
    {
      alert: 'AutomationExporterLeaseFlapping',
      expr: `${highest}\n-\n${lowest}\n> ${leaseFlaps}`,
      for: limits.leaseFlappingFor,
      severity: 'warning',
      summary: 'The owner of an automation server changes again and again',
      description:
        'Exporters acquired {{ $labels.server }} {{ $value }} times within half an hour: each time its series are absent for a few seconds, and its polls begin again.',
      ...exporterItself,
      page: pageOf.server,
    },
  ];
}
