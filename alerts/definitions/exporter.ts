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
      description: `The exporter cannot read what {{ $labels.collector }} needs from ${serverText}. Its series are stale or missing, and alerts that use them cannot fire.`,
    },
    {
      alert: 'AutomationExporterCollectorDenied',
      expr: 'automation_exporter_collector_enabled{reason="denied"} == 0',
      for: limits.collectorDeniedFor,
      severity: 'warning',
      summary: `Collector {{ $labels.collector }} is denied by ${serverText}`,
      description: `${serverText} accepts the credentials of the exporter, but they lack the permission to read what {{ $labels.collector }} needs.`,
    },
    {
      alert: 'AutomationExporterExecutionsLagging',
      expr: `automation_exporter_execution_lag_seconds > ${limits.executionLagSeconds}`,
      for: limits.executionsLaggingFor,
      severity: 'warning',
      summary: 'Executions of {{ $labels.server }} are read late',
      description:
        'The exporter has not read the finished executions of at least one project of {{ $labels.server }} for {{ $value | humanizeDuration }}. Alerts on finished executions of this server do not fire until it has caught up.',
    },
    {
      alert: 'AutomationExporterExecutionsHidden',
      expr: 'automation_exporter_executions_hidden > 0',
      for: limits.executionsHiddenFor,
      severity: 'warning',
      summary: `Executions of {{ $labels.project }} are hidden from the exporter`,
      description:
        '{{ $labels.server }} counts {{ $value }} finished executions of {{ $labels.project }} that it does not show to the credentials of the exporter. No metric and no alert covers them.',
    },
    {
      alert: 'AutomationExporterSeriesDropped',
      // Jobs of the same group and name are merged for good, and their sum is what was meant.
      expr: `increase(automation_exporter_series_dropped_total{reason!="merged"}[${limits.seriesDroppedWindow}]) > 0`,
      for: limits.seriesDroppedFor,
      severity: 'warning',
      summary: `Collector {{ $labels.collector }} drops series of ${serverText}`,
      description: `The exporter drops series of {{ $labels.collector }} of ${serverText} (reason: {{ $labels.reason }}). They are missing in dashboards and alerts.`,
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
      summary: 'Traces of executions are not delivered',
      description:
        '{{ if eq $labels.cause "waiting" }}A finished trace has been waiting for {{ $value | humanizeDuration }}: the trace backend is unreachable or does not accept it.{{ else if eq $labels.cause "quarantined" }}Traces that are quarantined because the trace backend rejects them: {{ $value }}.{{ else }}The trace backend accepts traces, but rejects some of their spans, which are lost.{{ end }} The page /traces of {{ $labels.instance }} says more.',
    },
    {
      alert: 'AutomationExporterHeldUp',
      // Every Node program has this metric.
      expr: `max_over_time(nodejs_eventloop_lag_max_seconds[${limits.heldUpWindow}]) > ${limits.heldUpSeconds}\nand on (job, instance) automation_exporter_build_info`,
      for: limits.heldUpFor,
      severity: 'warning',
      summary: 'The automation exporter is blocked repeatedly',
      description:
        'The process of {{ $labels.instance }} is blocked for up to {{ $value | humanizeDuration }} at a time: polls are late, and scrapes are slow or fail.',
    },
    {
      alert: 'AutomationExporterConfigReloadFailed',
      expr: 'automation_exporter_config_last_reload_successful == 0',
      for: limits.configReloadFailedFor,
      severity: 'warning',
      summary: 'The automation exporter could not reload its configuration',
      description:
        'The last configuration reload of {{ $labels.instance }} failed. The previous configuration stays in force, but the next restart will fail.',
    },
    {
      alert: 'AutomationExporterDown',
      expr: `${target} == 0 or absent(${target})`,
      for: limits.exporterDownFor,
      severity: 'warning',
      summary: 'Prometheus cannot scrape the automation exporter',
      description:
        'There is no healthy target with the job {{ $labels.job }}. No other alert of the automation service can fire.',
    },
  ];
}

function toCause(expression: string, cause: string): string {
  return `label_replace(${expression}, "cause", "${cause}", "", "")`;
}
