import { bursts, type Case, counter, gauge, pulse } from './case.ts';

const dashboard = '/d/automation-exporter';
const collectors = 'automation_exporter_collector_success{server="prod",collector=';
const enabled = 'automation_exporter_collector_enabled{server="prod",collector=';
const dropped = 'automation_exporter_series_dropped_total{server="prod",collector="executions",reason=';

export const exporterCases: readonly Case[] = [
  {
    alert: 'AutomationExporterDown',
    series: { 'up{job="automation-exporter"}': gauge(1, 0) },
    below: { 'up{job="automation-exporter"}': gauge(1), 'up{job="other"}': gauge(1, 0) },
    firesAfter: 5,
    labels: { job: 'automation-exporter', severity: 'critical' },
    summary: 'The automation service is not monitored',
    description:
      'Prometheus scrapes no exporter with the job automation-exporter, so no other alert of the automation service can fire. Open the page Status, Targets of Prometheus. If Prometheus has a target for the job, start the exporter again and read its last log line. Without a target, look for the job in the scrape configuration. The service itself is not affected.',
    dashboard,
  },
  {
    alert: 'AutomationExporterInstanceDown',
    series: {
      'up{job="automation-exporter",instance="a:9720"}': gauge(1, 0),
      'up{job="automation-exporter",instance="b:9720"}': gauge(1),
    },
    below: { 'up{job="automation-exporter",instance="b:9720"}': gauge(1, 0) },
    firesAfter: 5,
    labels: { job: 'automation-exporter', instance: 'a:9720', severity: 'warning' },
    summary: 'One of several automation exporters is down',
    description:
      'Prometheus cannot scrape a:9720; another exporter with the job automation-exporter answers. Servers that only a:9720 watches are not monitored.',
    dashboard,
    page: '/',
  },
  {
    alert: 'AutomationExporterCollectorFailing',
    series: {
      'automation_up{server="prod"}': gauge(1),
      [`${collectors}"log-storage"}`]: gauge(1, 0),
      [`${collectors}"ping"}`]: gauge(1, 0),
      [`${collectors}"system-info"}`]: gauge(1),
      [`${enabled}"log-storage",reason=""}`]: gauge(1),
    },
    // Every collector fails while the server is down.
    below: { 'automation_up{server="prod"}': gauge(1, 0) },
    firesAfter: 10,
    labels: { server: 'prod', severity: 'warning' },
    summary: 'Collectors fail on prod',
    description:
      'The exporter cannot read the data of these collectors from prod: log-storage, ping. Series of failing collectors are stale or missing: alerts that use such series cannot fire.',
    dashboard,
    page: '/?server=prod#server-prod',
  },
  {
    alert: 'AutomationExporterCollectorDenied',
    series: {
      [`${enabled}"log-storage",reason="denied"}`]: gauge('none', 0),
      [`${enabled}"tokens",reason="denied"}`]: gauge('none', 0),
      [`${enabled}"threads",reason="config"}`]: gauge(0),
      // Here the exporter has no admin rights.
      [`${enabled}"users",reason="denied"}`]: gauge(0),
    },
    below: {
      [`${enabled}"log-storage",reason="denied"}`]: gauge('none'),
      [`${enabled}"tokens",reason="denied"}`]: gauge('none'),
    },
    firesAfter: 10,
    // Prometheus still uses the last sample of a vanished series until the gap is too long.
    resolvesAfter: 3,
    labels: { server: 'prod', reason: 'denied', severity: 'warning' },
    summary: 'prod denies collectors',
    description:
      'prod accepts the credentials of the exporter, but they lack permissions for these collectors: log-storage, tokens. Alerts that use series of denied collectors cannot fire.',
    dashboard,
    page: '/?server=prod#server-prod-rights',
  },
  {
    alert: 'AutomationExporterExecutionsLagging',
    series: { 'automation_exporter_execution_lag_seconds{server="prod"}': gauge(15, 1801) },
    below: { 'automation_exporter_execution_lag_seconds{server="prod"}': gauge(15, 1800) },
    firesAfter: 10,
    labels: { server: 'prod', severity: 'warning' },
    summary: 'Executions of prod are read late',
    description:
      'The exporter has not read the finished executions of at least one project of prod for 30m 1s. Alerts on finished executions of this server do not fire until the exporter has read them.',
    dashboard,
    page: '/?server=prod#server-prod',
  },
  {
    alert: 'AutomationExporterExecutionsHidden',
    series: {
      'automation_exporter_executions_hidden{server="prod",project="warehouse"}': gauge(0, 84),
      'automation_exporter_executions_hidden{server="prod",project="web-shop"}': gauge(0, 30),
      'automation_exporter_executions_hidden{server="prod",project="pay"}': gauge(0),
    },
    below: {
      'automation_exporter_executions_hidden{server="prod",project="warehouse"}': gauge(0),
      'automation_exporter_executions_hidden{server="prod",project="web-shop"}': gauge(0),
    },
    firesAfter: 15,
    labels: { server: 'prod', severity: 'warning' },
    summary: 'Executions of prod are hidden from the exporter',
    description:
      'Finished executions that prod hides from the credentials of the exporter: 114, in these projects: warehouse, web-shop. No metric and no alert covers hidden executions.',
    dashboard,
    page: '/?server=prod#server-prod-rights',
  },
  {
    alert: 'AutomationExporterExecutionsImported',
    minuteIs: 10,
    // In this window, recounts of the last week find executions of a whole day.
    series: {
      'automation_exporter_executions_imported_total{server="prod"}': bursts(24, 24 * 6),
      'automation_exporter_executions_observed_total{server="prod"}': counter(0, 0),
    },
    // An execution is counted every few minutes.
    below: { 'automation_exporter_executions_observed_total{server="prod"}': counter(0, 0.01) },
    firesAfter: 27 * 6,
    resolvesAfter: 22 * 6,
    labels: { server: 'prod', severity: 'warning' },
    summary: 'Executions of prod are not counted',
    description:
      'All executions of prod that the exporter reads look like imports: they ended more than a day before others with lower ids started. The exporter does not count imports: about 24 in the last 1d2h, and more in the 1d2h before. The clock of the server, or of a member of its cluster, may be wrong.',
    dashboard,
    page: '/?server=prod#server-prod',
  },
  {
    alert: 'AutomationExporterSeriesDropped',
    series: { [`${dropped}"limit"}`]: counter(0, 1), [`${dropped}"merged"}`]: counter(1, 1) },
    below: { [`${dropped}"limit"}`]: counter(0, 0) },
    firesAfter: 15,
    resolvesAfter: 14.5,
    labels: { server: 'prod', severity: 'warning' },
    summary: 'Series of prod are dropped',
    description:
      'The exporter drops series of prod; collectors: executions. Dashboards and alerts lack the dropped series.',
    dashboard,
    page: '/?server=prod#server-prod',
  },
  {
    alert: 'AutomationExporterTracesNotDelivered',
    series: { 'automation_exporter_traces_quarantined{job="automation-exporter"}': gauge(0, 1) },
    below: { 'automation_exporter_traces_quarantined{job="automation-exporter"}': gauge(0) },
    firesAfter: 15,
    perExporter: true,
    labels: { job: 'automation-exporter', cause: 'quarantined', severity: 'warning' },
    summary: 'Traces or log records of executions are not delivered',
    description:
      'Quarantined traces and log records, which the backend rejects: 1. The page http://localhost:9720/traces has details (instance ).',
    dashboard,
    page: '/traces',
  },
  {
    alert: 'AutomationExporterHeldUp',
    series: {
      'nodejs_eventloop_lag_max_seconds{job="automation-exporter"}': gauge(0.1, 2),
      'automation_exporter_build_info{job="automation-exporter",version="0.1.0"}': gauge(1),
    },
    below: { 'nodejs_eventloop_lag_max_seconds{job="automation-exporter"}': gauge(0.1, 1) },
    firesAfter: 10,
    resolvesAfter: 5,
    perExporter: true,
    labels: { job: 'automation-exporter', severity: 'warning' },
    summary: 'The automation exporter is blocked repeatedly',
    description: 'The process of  is blocked for up to 2s at a time: polls are late, and scrapes are slow or fail.',
    dashboard,
    page: '/',
  },
  {
    alert: 'AutomationExporterConfigReloadFailed',
    series: { 'automation_exporter_config_last_reload_successful{job="automation-exporter"}': gauge(1, 0) },
    below: { 'automation_exporter_config_last_reload_successful{job="automation-exporter"}': pulse(1, 0, 5) },
    firesAfter: 5,
    perExporter: true,
    labels: { job: 'automation-exporter', severity: 'warning' },
    summary: 'The automation exporter could not reload its configuration',
    description:
      'The last configuration reload of  failed. The previous configuration stays in force, but the next restart will fail.',
    dashboard,
    page: '/',
  },
];
