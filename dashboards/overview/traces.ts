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
        title: 'Traces that wait',
        description: 'Finished traces that are still to be delivered, of all servers.',
        unit: 'short',
        width: 6,
        height: 4,
        emptyReason: noTraces,
        queries: [{ expr: 'sum by (instance) (automation_exporter_spool_traces)', legend: '{{instance}}' }],
      }),
      numberTile({
        id: 702,
        title: 'Waiting since',
        description: 'For how long the first in line has been finished.',
        unit: 's',
        width: 6,
        height: 4,
        notableFrom: 300,
        badFrom: 900,
        emptyReason: 'Empty while nothing waits.',
        queries: [
          {
            expr: 'max by (instance) (time() - automation_exporter_spool_oldest_timestamp_seconds)',
            legend: '{{instance}}',
          },
        ],
      }),
      numberTile({
        id: 703,
        title: 'Traces quarantined',
        description:
          'Traces that the collector refuses for themselves alone; the page /traces of the exporter says why.',
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
        description: 'Finished executions whose steps are still to be read.',
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
          'Spans that the collector took, and those that it did not: partial_success (taken without them), refused or unanswered (their trace is quarantined), dropped (given up).',
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
