import type { Alert } from '../alert.ts';
import { createExpressions } from '../expressions.ts';
import { dashboardOf, listOf, ofAlert, pageOf, serverText } from '../label-texts.ts';
import type { Thresholds } from '../thresholds.ts';

/** Can the numbers be trusted? */
export function exporterAlerts(limits: Thresholds): Alert[] {
  return [
    ...presence(limits),
    collectorFailing(limits),
    collectorDenied(limits),
    executionsLagging(limits),
    executionsHidden(limits),
    executionsImported(limits),
    seriesDropped(limits),
    tracesNotDelivered(limits),
    heldUp(limits),
    configReloadFailed(limits),
  ];
}

const exporterItself = { dashboard: dashboardOf.exporter, needs: [] } as const;

function presence(limits: Thresholds): Alert[] {
  const target = `up{job="${limits.exporterJob}"}`;
  const anyUp = `max by (job, cluster) (${target})`;
  return [
    {
      alert: 'AutomationExporterDown',
      expr: `${anyUp} == 0\nor\nabsent(${target})`,
      for: limits.exporterDownFor,
      severity: 'critical',
      summary: 'The automation service is not monitored',
      // The exporter serves the runbooks, so the text repeats this runbook.
      description:
        'Prometheus scrapes no exporter with the job {{ $labels.job }}, so no other alert of the automation service can fire. Open the page Status, Targets of Prometheus. If Prometheus has a target for the job, start the exporter again and read its last log line. Without a target, look for the job in the scrape configuration. The service itself is not affected.',
      ...exporterItself,
    },
    {
      alert: 'AutomationExporterInstanceDown',
      expr: `${target} == 0\nand on (job, cluster)\n  ${anyUp} == 1`,
      for: limits.exporterDownFor,
      severity: 'warning',
      summary: 'One of several automation exporters is down',
      description:
        'Prometheus cannot scrape {{ $labels.instance }}; another exporter with the job {{ $labels.job }} answers. Servers that only {{ $labels.instance }} watches are not monitored.',
      ...exporterItself,
      page: pageOf.front,
    },
  ];
}

const enabled = 'automation_exporter_collector_enabled';

function collectorFailing(limits: Thresholds): Alert {
  const { newest } = createExpressions(limits);
  const failing = `${newest('automation_exporter_collector_success', 'min')} == 0`;
  // A collector that is off is not failing, and a server that is down has its own alert.
  const off = `unless on (job, cluster, server, member, collector)\n  ${newest(enabled, 'min')} == 0`;
  const down = `unless on (job, cluster, server, member)\n  ${newest('automation_up')} == 0`;
  return {
    alert: 'AutomationExporterCollectorFailing',
    expr: `count without (collector) (\n${failing}\n${off}\n${down}\n)`,
    for: limits.collectorFailingFor,
    severity: 'warning',
    summary: `Collectors fail on ${serverText}`,
    description: `The exporter cannot read the data of these collectors from ${serverText}: ${listOf('collector', `last_over_time(automation_exporter_collector_success{${ofAlert}}[${limits.gapWindow}]) == 0`)}. Series of failing collectors are stale or missing: alerts that use such series cannot fire.`,
    dashboard: dashboardOf.exporter,
    page: pageOf.server,
    needs: [],
  };
}

function collectorDenied(limits: Thresholds): Alert {
  const { newest } = createExpressions(limits);
  return {
    alert: 'AutomationExporterCollectorDenied',
    // Collectors that only administrators may use are a note on the page.
    expr: `count without (collector) (\n${newest(`${enabled}{reason="denied",collector!~"${limits.administratorCollectors}"}`)} == 0\n)`,
    for: limits.collectorDeniedFor,
    severity: 'warning',
    summary: `${serverText} denies collectors`,
    description: `${serverText} accepts the credentials of the exporter, but they lack permissions for these collectors: ${listOf('collector', `last_over_time(${enabled}{${ofAlert},reason="denied",collector!~"${limits.administratorCollectors}"}[${limits.gapWindow}]) == 0`)}. Alerts that use series of denied collectors cannot fire.`,
    dashboard: dashboardOf.exporter,
    page: pageOf.rights,
    needs: [],
  };
}

function executionsLagging(limits: Thresholds): Alert {
  const { newest, unlessDown } = createExpressions(limits);
  return {
    alert: 'AutomationExporterExecutionsLagging',
    expr: `${newest('automation_exporter_execution_lag_seconds', 'min')} > ${limits.executionLagSeconds}\n${unlessDown}`,
    for: limits.executionsLaggingFor,
    severity: 'warning',
    summary: 'Executions of {{ $labels.server }} are read late',
    description:
      'The exporter has not read the finished executions of at least one project of {{ $labels.server }} for {{ $value | humanizeDuration }}. Alerts on finished executions of this server do not fire until the exporter has read them.',
    dashboard: dashboardOf.exporter,
    page: pageOf.server,
    needs: ['executions'],
  };
}

function executionsHidden(limits: Thresholds): Alert {
  const { newest } = createExpressions(limits);
  return {
    alert: 'AutomationExporterExecutionsHidden',
    expr: `sum without (project) (\n${newest('automation_exporter_executions_hidden', 'min')}\n) > 0`,
    for: limits.executionsHiddenFor,
    severity: 'warning',
    summary: 'Executions of {{ $labels.server }} are hidden from the exporter',
    description: `Finished executions that {{ $labels.server }} hides from the credentials of the exporter: {{ $value }}, in these projects: ${listOf('project', `last_over_time(automation_exporter_executions_hidden{${ofAlert}}[${limits.gapWindow}]) > 0`)}. No metric and no alert covers hidden executions.`,
    dashboard: dashboardOf.exporter,
    page: pageOf.rights,
    needs: ['executions'],
  };
}

function executionsImported(limits: Thresholds): Alert {
  const { once } = createExpressions(limits);
  const window = limits.importsWindow;
  const imported = 'automation_exporter_executions_imported_total';
  const counted = once(`increase(automation_exporter_executions_observed_total[${window}])`);
  const countedBefore = once(`increase(automation_exporter_executions_observed_total[${window}] offset ${window})`);
  return {
    alert: 'AutomationExporterExecutionsImported',
    // Exporters that share a state read the server one after the other.
    expr: [
      `${once(`increase(${imported}[${window}])`)} > 0`,
      `and\n${once(`increase(${imported}[${window}] offset ${window})`)} > 0`,
      `unless\n${counted} > 0`,
      `unless\n${countedBefore} > 0`,
    ].join('\n'),
    for: limits.executionsImportedFor,
    severity: 'warning',
    summary: `Executions of ${serverText} are not counted`,
    description: `All executions of ${serverText} that the exporter reads look like imports: they ended more than a day before others with lower ids started. The exporter does not count imports: about {{ $value | printf "%.0f" }} in the last ${window}, and more in the ${window} before. The clock of the server, or of a member of its cluster, may be wrong.`,
    dashboard: dashboardOf.exporter,
    page: pageOf.server,
    needs: ['executions'],
  };
}

function seriesDropped(limits: Thresholds): Alert {
  const { once } = createExpressions(limits);
  const { seriesDroppedWindow: window } = limits;
  const toDropping = (labels: string): string => {
    // Jobs with the same group and name are merged: their sum is the right value.
    const dropped = `automation_exporter_series_dropped_total{${labels}reason!="merged"}`;
    // Between two polls of a slow collector, the counter does not rise, but the series are still missing.
    const interval = `last_over_time(automation_exporter_collector_interval_seconds[${window}])`;
    const ofSlow = (slowWindow: string, seconds: number): string =>
      `increase(${dropped}[${slowWindow}]) > 0 and on (job, cluster, server, member, collector) ${interval} > ${seconds}`;
    return `increase(${dropped}[${window}]) > 0 or ${ofSlow('65m', 600)} or ${ofSlow('25h', 3600)}`;
  };
  return {
    alert: 'AutomationExporterSeriesDropped',
    expr: `sum without (collector, reason) (\n${once(toDropping(''))}\n) > 0`,
    for: limits.seriesDroppedFor,
    severity: 'warning',
    summary: `Series of ${serverText} are dropped`,
    description: `The exporter drops series of ${serverText}; collectors: ${listOf('collector', toDropping(`${ofAlert},`))}. Dashboards and alerts lack the dropped series.`,
    dashboard: dashboardOf.exporter,
    page: pageOf.server,
    needs: [],
  };
}

function tracesNotDelivered(limits: Thresholds): Alert {
  const ofExporter = (selector: string): string => `last_over_time(${selector}[${limits.gapWindow}])`;
  return {
    alert: 'AutomationExporterTracesNotDelivered',
    // Three ways in which delivery fails; the label `cause` distinguishes them. Each exporter has its own spool.
    expr: [
      toCause(
        `time() - ${ofExporter('automation_exporter_spool_oldest_timestamp_seconds')} > ${limits.traceOldestSeconds}`,
        'waiting',
      ),
      toCause(`${ofExporter('automation_exporter_traces_quarantined')} > 0`, 'quarantined'),
      toCause(
        `increase(automation_exporter_spans_rejected_total{reason="partial_success"}[${limits.spansRejectedWindow}]) > 0`,
        'rejected',
      ),
    ].join('\nor\n'),
    for: limits.tracesNotDeliveredFor,
    severity: 'warning',
    summary: 'Traces or log records of executions are not delivered',
    description: `{{ if eq $labels.cause "waiting" }}Finished traces or log records have been waiting for {{ $value | humanizeDuration }}: their backend is unreachable or does not accept them.{{ else if eq $labels.cause "quarantined" }}Quarantined traces and log records, which the backend rejects: {{ $value }}.{{ else }}The trace backend accepts traces, but rejects some of their spans, which are lost.{{ end }} The page ${limits.baseUrl}/traces has details (instance {{ $labels.instance }}).`,
    ...exporterItself,
    page: pageOf.traces,
  };
}

function heldUp(limits: Thresholds): Alert {
  return {
    alert: 'AutomationExporterHeldUp',
    // Other Node.js programs have this metric too.
    expr: `max_over_time(nodejs_eventloop_lag_max_seconds[${limits.heldUpWindow}]) > ${limits.heldUpSeconds}\nand on (job, cluster, instance)\n  last_over_time(automation_exporter_build_info[${limits.gapWindow}])`,
    for: limits.heldUpFor,
    severity: 'warning',
    summary: 'The automation exporter is blocked repeatedly',
    description:
      'The process of {{ $labels.instance }} is blocked for up to {{ $value | humanizeDuration }} at a time: polls are late, and scrapes are slow or fail.',
    ...exporterItself,
    page: pageOf.front,
  };
}

function configReloadFailed(limits: Thresholds): Alert {
  return {
    alert: 'AutomationExporterConfigReloadFailed',
    expr: `last_over_time(automation_exporter_config_last_reload_successful[${limits.gapWindow}]) == 0`,
    for: limits.configReloadFailedFor,
    severity: 'warning',
    summary: 'The automation exporter could not reload its configuration',
    description:
      'The last configuration reload of {{ $labels.instance }} failed. The previous configuration stays in force, but the next restart will fail.',
    ...exporterItself,
    page: pageOf.front,
  };
}

function toCause(expression: string, cause: string): string {
  return `label_replace(${expression}, "cause", "${cause}", "", "")`;
}
