import type { QuestionRow } from '../pieces/grid.ts';
import { numberTile } from '../pieces/tiles.ts';
import { timeSeries } from '../pieces/time-series.ts';

export function tracesRow(): QuestionRow {
  return {
    id: 700,
    question: 'Do traces get to the collector?',
    panels: [
      numberTile({
        id: 701,
        title: 'Traces waiting',
        description: 'Finished traces of all servers that are waiting for delivery.',
        unit: 'short',
        width: 6,
        height: 4,
        emptyReason: noTraces,
        queries: [{ expr: 'sum by (instance) (automation_exporter_spool_traces)', legend: '{{instance}}' }],
      }),
      numberTile({
        id: 702,
        title: 'Waiting since',
        description: 'Time since the oldest waiting trace was finished.',
        unit: 's',
        width: 6,
        height: 4,
        notableFrom: 300,
        badFrom: 900,
        emptyReason: 'Empty while nothing waits.',
        queries: [
          {
            expr: 'max by (instance) (clamp_min(time() - automation_exporter_spool_oldest_timestamp_seconds, 0))',
            legend: '{{instance}}',
          },
        ],
      }),
      numberTile({
        id: 703,
        title: 'Traces quarantined',
        description:
          'Traces that the trace backend rejects individually; the page /traces of the exporter shows the reasons.',
        unit: 'short',
        width: 6,
        height: 4,
        badFrom: 1,
        emptyReason: noTraces,
        queries: [{ expr: 'sum by (instance) (automation_exporter_traces_quarantined)', legend: '{{instance}}' }],
      }),
      numberTile({
        id: 704,
        title: 'Executions without a trace yet',
        description: 'Finished executions whose steps have not been read yet.',
        unit: 'short',
        width: 6,
        height: 4,
        emptyReason: noTraces,
        queries: [
          { expr: 'sum by (server) (automation_exporter_traces_pending{server=~"$server"})', legend: '{{server}}' },
        ],
      }),
      timeSeries({
        id: 705,
        title: 'Spans delivered and rejected',
        description:
          'Spans that the trace backend accepted and rejected: partial_success (the rest was accepted), refused or unanswered (the trace is quarantined), dropped.',
        unit: 'cps',
        width: 24,
        height: 8,
        emptyReason: noTraces,
        queries: [
          {
            expr: 'sum by (instance) (rate(automation_exporter_spans_exported_total[$__rate_interval]))',
            legend: '{{instance}}: delivered',
          },
          {
            expr: 'sum by (instance, reason) (rate(automation_exporter_spans_rejected_total[$__rate_interval])) > 0',
            legend: '{{instance}}: {{reason}}',
          },
        ],
      }),
    ],
  };
}

const noTraces = 'Empty unless traces are sent.';
