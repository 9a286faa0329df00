import type { Alert } from '../alert.ts';
import type { Thresholds } from '../thresholds.ts';

/** Can the numbers be trusted? */
export function exporterAlerts(limits: Thresholds): Alert[] {
  const target = `up{job="${limits.exporterJob}"}`;
  return [
    {
      alert: 'AutomationExporterCollectorFailing',
      // A collector that is off for a known reason is not failing.
      expr: 'automation_exporter_collector_success == 0\nunless on (job, instance, server, collector) automation_exporter_collector_enabled == 0',
      for: limits.collectorFailingFor,
      severity: 'warning',
      summary: 'Collector {{ $labels.collector }} fails on {{ $labels.server }}',
      description:
        'The exporter can not read what {{ $labels.collector }} needs from {{ $labels.server }}. Its series are old or gone, and alerts on them are blind.',
    },
    {
      alert: 'AutomationExporterCollectorDenied',
      expr: 'automation_exporter_collector_enabled{reason="denied"} == 0',
      for: limits.collectorDeniedFor,
      severity: 'warning',
      summary: 'Collector {{ $labels.collector }} is denied by {{ $labels.server }}',
      description:
        '{{ $labels.server }} knows the exporter, but does not authorize it to read what {{ $labels.collector }} needs.',
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
