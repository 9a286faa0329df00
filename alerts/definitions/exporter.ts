import type { Alert } from '../alert.ts';
import { serverText } from '../label-texts.ts';
import type { Thresholds } from '../thresholds.ts';

/** Can the numbers be trusted? */
export function exporterAlerts(limits: Thresholds): Alert[] {
  const target = `up{job="${limits.exporterJob}"}`;
  return [
    {
      alert: 'AutomationExporterCollectorFailing',
      // A collector that is off for a known reason is not failing, and a server that is down has an alert of its own.
      expr: 'automation_exporter_collector_success == 0\nunless on (job, instance, server, member, collector) automation_exporter_collector_enabled == 0\nunless on (job, instance, server, member) automation_up == 0',
      for: limits.collectorFailingFor,
      severity: 'warning',
      summary: `Collector {{ $labels.collector }} fails on ${serverText}`,
      description: `The exporter can not read what {{ $labels.collector }} needs from ${serverText}. Its series are old or gone, and alerts on them are blind.`,
    },
    {
      alert: 'AutomationExporterCollectorDenied',
      expr: 'automation_exporter_collector_enabled{reason="denied"} == 0',
      for: limits.collectorDeniedFor,
      severity: 'warning',
      summary: `Collector {{ $labels.collector }} is denied by ${serverText}`,
      description: `${serverText} knows the exporter, but does not authorize it to read what {{ $labels.collector }} needs.`,
    },
    {
      alert: 'AutomationExporterExecutionsLagging',
      expr: `automation_exporter_execution_lag_seconds > ${limits.executionLagSeconds}`,
      for: limits.executionsLaggingFor,
      severity: 'warning',
      summary: 'Executions of {{ $labels.server }} are read late',
      description:
        'The exporter has not read the finished executions of some project of {{ $labels.server }} for {{ $value | humanizeDuration }}. Alerts on finished executions of this server stay silent meanwhile.',
    },
    {
      alert: 'AutomationExporterExecutionsHidden',
      expr: 'automation_exporter_executions_hidden > 0',
      for: limits.executionsHiddenFor,
      severity: 'warning',
      summary: `Executions of {{ $labels.project }} are hidden from the exporter`,
      description:
        'Of the finished executions of {{ $labels.project }} on {{ $labels.server }}, {{ $value }} that the server counts are not shown to the credentials of the exporter. No metric and no alert covers them.',
    },
    {
      alert: 'AutomationExporterSeriesDropped',
      // Jobs of the same group and name are merged for good, and their sum is what was meant.
      expr: `increase(automation_exporter_series_dropped_total{reason!="merged"}[${limits.seriesDroppedWindow}]) > 0`,
      for: limits.seriesDroppedFor,
      severity: 'warning',
      summary: `Collector {{ $labels.collector }} leaves out series of ${serverText}`,
      description: `The exporter leaves out series that {{ $labels.collector }} has of ${serverText}; the reason is {{ $labels.reason }}. Dashboards and alerts do not see them.`,
    },
    {
      alert: 'AutomationExporterTracesNotDelivered',
      // Three ways not to arrive, told apart by a label, so that each is an alert of its own.
      expr: [
        toCause(
          `time() - automation_exporter_spool_oldest_timestamp_seconds > ${limits.traceOldestSeconds}`,
          'waiting',
        ),
        toCause('automation_exporter_traces_quarantined > 0', 'quarantined'),
        toCause(
          `increase(automation_exporter_spans_rejected_total{reason="partial_success"}[${limits.spansRejectedWindow}]) > 0`,
          'rejected',
        ),
      ].join('\nor\n'),
      for: limits.tracesNotDeliveredFor,
      severity: 'warning',
      summary: 'Traces of executions do not get to the collector',
      description:
        '{{ if eq $labels.cause "waiting" }}A finished trace has waited for {{ $value | humanizeDuration }}: the collector can not be reached, or can not take it.{{ else if eq $labels.cause "quarantined" }}Traces that are quarantined, since the collector refuses them: {{ $value }}.{{ else }}The collector takes traces, but not all of their spans; those are lost.{{ end }} The page /traces of {{ $labels.instance }} says more.',
    },
    {
      alert: 'AutomationExporterHeldUp',
      // Every Node program has this metric.
      expr: `max_over_time(nodejs_eventloop_lag_max_seconds[${limits.heldUpWindow}]) > ${limits.heldUpSeconds}\nand on (job, instance) automation_exporter_build_info`,
      for: limits.heldUpFor,
      severity: 'warning',
      summary: 'The automation exporter is held up again and again',
      description:
        'The process of {{ $labels.instance }} does nothing for up to {{ $value | humanizeDuration }} at a time: polls are late, and scrapes wait or fail.',
    },
    {
      alert: 'AutomationExporterConfigReloadFailed',
      expr: 'automation_exporter_config_last_reload_successful == 0',
      for: limits.configReloadFailedFor,
      severity: 'warning',
      summary: 'The automation exporter refuses its new configuration',
      description:
        'The last attempt of {{ $labels.instance }} to read its configuration failed. The old one stays in force until it restarts, and then it does not start.',
    },
    {
      alert: 'AutomationExporterDown',
      expr: `${target} == 0 or absent(${target})`,
      for: limits.exporterDownFor,
      severity: 'warning',
      summary: 'Prometheus can not scrape the automation exporter',
      description:
        'There is no working target with the job {{ $labels.job }}. No other alert of the automation service can fire.',
    },
  ];
}

function toCause(expression: string, cause: string): string {
  return `label_replace(${expression}, "cause", "${cause}", "", "")`;
}
