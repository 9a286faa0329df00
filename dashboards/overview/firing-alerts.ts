import { factsTable } from '../pieces/facts-table.ts';
import type { GridPanel } from '../pieces/panel.ts';

/** The firing alerts; the name of each links to its runbook. */
export function firingAlerts(): GridPanel {
  const firing = 'ALERTS{alertname=~"Automation.+",alertstate="firing"';
  return factsTable({
    id: 801,
    title: 'Firing alerts',
    description:
      'Alerts that fire now for the selected servers, and those of the exporter itself. The name leads to the runbook.',
    emptyReason: 'Empty while no alert fires, or while the rules are not loaded.',
    unit: 'none',
    width: 12,
    height: 8,
    columns: {
      severity: 'Severity',
      alertname: 'Alert',
      server: 'Server',
      project: 'Project',
      job_group: 'Group',
      job_name: 'Job',
    },
    queries: [
      {
        expr: `topk(50, max by (severity, alertname, server, project, job_group, job_name) (${firing},cluster=~"$cluster",server=~"$server|"}))`,
        legend: '{{alertname}}',
      },
    ],
  });
}
