import { factsTable } from '../pieces/facts-table.ts';
import type { GridPanel } from '../pieces/panel.ts';

/** The alerts that have no values to evaluate. */
export function silentAlerts(): GridPanel {
  return factsTable({
    id: 513,
    title: 'Alerts that cannot fire',
    description:
      'Alerts whose collector is off, denied or not supported by the server, with the collector and the reason.',
    emptyReason: 'Empty while every collector that an alert needs is on, or while the rules are not loaded.',
    unit: 'none',
    width: 24,
    height: 6,
    columns: { server: 'Server', member: 'Member', collector: 'Collector', reason: 'Reason', alerts: 'Alerts' },
    queries: [
      {
        expr: 'max by (server, member, collector, reason, alerts) (automation:silent_alerts:info{server=~"$server"})',
        legend: '{{collector}}',
      },
    ],
  });
}
