import { type Case, gauge, pulse } from './case.ts';

const dashboard = '/d/automation-exporter';
const owned = 'automation_exporter_lease_owned{job="automation-exporter",server="prod"}';
const stateUp = 'automation_exporter_state_up{job="automation-exporter"}';
const differs = 'automation_exporter_config_differs{job="automation-exporter"}';
const epoch = 'automation_exporter_lease_epoch{job="automation-exporter",server="prod"}';

export const replicaCases: readonly Case[] = [
  {
    alert: 'AutomationExporterNoOwner',
    series: { [owned]: gauge(1, 0) },
    below: { [owned]: pulse(1, 0, 2) },
    firesAfter: 2,
    labels: { job: 'automation-exporter', server: 'prod', severity: 'critical' },
    summary: 'No exporter watches an automation server',
    description:
      'None of the exporters with the job automation-exporter owns prod, so no exporter polls the server, and no other alert about the server can fire. The next owner counts the executions that ended in between.',
    dashboard,
    page: '/?server=prod#server-prod',
  },
  {
    alert: 'AutomationExporterStateDown',
    series: { [stateUp]: gauge(1, 0) },
    below: { [stateUp]: pulse(1, 0, 2) },
    firesAfter: 2,
    perExporter: true,
    labels: { job: 'automation-exporter', severity: 'warning' },
    summary: 'An automation exporter cannot reach its database',
    description:
      ' gets no response from the database that the exporters share. The exporter owns no server until the database responds again; an exporter that reaches the database takes over.',
    dashboard,
    page: '/',
  },
  {
    alert: 'AutomationExporterConfigDiffers',
    series: { [differs]: gauge(0, 1) },
    below: { [differs]: pulse(0, 1, 15) },
    firesAfter: 15,
    perExporter: true,
    labels: { job: 'automation-exporter', severity: 'warning' },
    summary: 'Automation exporters that share a database have different configurations',
    description:
      ' has a different configuration from another exporter that owns servers. The metrics of a server depend on which exporter owns the server.',
    dashboard,
    page: '/',
  },
  {
    alert: 'AutomationExporterLeaseFlapping',
    series: { [epoch]: gauge(3, 9) },
    below: { [epoch]: gauge(3, 8) },
    firesAfter: 1,
    resolvesAfter: 30,
    labels: { job: 'automation-exporter', server: 'prod', severity: 'warning' },
    summary: 'The owner of an automation server changes again and again',
    description:
      'Exporters acquired prod 6 times within half an hour: each time its series are absent for a few seconds, and its polls begin again.',
    dashboard,
    page: '/?server=prod#server-prod',
  },
];
