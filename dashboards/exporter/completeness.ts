import { defaultThresholds } from '../../alerts/thresholds.ts';
import type { QuestionRow } from '../pieces/grid.ts';
import { numberTile } from '../pieces/tiles.ts';
import { timeSeries } from '../pieces/time-series.ts';

export function completenessRow(): QuestionRow {
  return {
    id: 600,
    question: 'Has the exporter seen every execution?',
    panels: [
      numberTile({
        id: 601,
        title: 'Lag',
        description: 'Lag of the project that is furthest behind. Idle projects are read every 15 minutes.',
        unit: 's',
        width: 8,
        height: 4,
        notableFrom: defaultThresholds.executionLagSeconds / 2,
        badFrom: defaultThresholds.executionLagSeconds,
        queries: [{ expr: `max by (server) (${lag})`, legend: '{{server}}' }],
      }),
      numberTile({
        id: 602,
        title: 'Counted in the last hour',
        description: 'Finished executions that the exporter counted, in all projects.',
        unit: 'short',
        width: 8,
        height: 4,
        queries: [{ expr: toIncrease('executions_observed_total'), legend: '{{server}}' }],
      }),
      numberTile({
        id: 603,
        title: 'Found late in the last hour',
        description: 'Counted executions that the regular reads missed and a later recount found.',
        unit: 'short',
        width: 8,
        height: 4,
        notableFrom: 1,
        queries: [{ expr: toIncrease('executions_late_total'), legend: '{{server}}' }],
      }),
      timeSeries({
        id: 604,
        title: 'Lag over time',
        description:
          'A falling lag means that the exporter catches up. Above the dashed line, alerts on finished executions are silent.',
        unit: 's',
        width: 8,
        height: 8,
        limit: defaultThresholds.executionLagSeconds,
        queries: [{ expr: `max by (server) (${lag})`, legend: '{{server}}' }],
      }),
      timeSeries({
        id: 605,
        title: 'Not counted, or not in full, in one hour',
        description: 'Imported executions, executions without a duration, and executions without their own series.',
        unit: 'short',
        width: 8,
        height: 8,
        queries: [
          { expr: toIncrease('executions_imported_total'), legend: '{{server}} imported' },
          {
            expr: toIncrease('executions_unmeasured_total', 'server, reason'),
            legend: '{{server}} without duration: {{reason}}',
          },
          {
            expr: 'round(sum by (server, reason) (increase(automation_exporter_series_dropped_total{server=~"$server",collector="executions"}[1h])))',
            legend: '{{server}} without own series: {{reason}}',
          },
        ],
      }),
      timeSeries({
        id: 606,
        title: 'Skipped and hidden',
        description:
          'Executions that were skipped in one hour because they ended before the catch-up limit, and executions that the server counts but does not show to the credentials.',
        unit: 'short',
        width: 8,
        height: 8,
        emptyReason: 'Empty until something is skipped or hidden.',
        queries: [
          { expr: toIncrease('executions_skipped_total', 'server, reason'), legend: '{{server}} skipped: {{reason}}' },
          {
            expr: 'topk(15, max by (server, project) (automation_exporter_executions_hidden{server=~"$server"}) > 0)',
            legend: '{{server}} hidden: {{project}}',
          },
        ],
      }),
      timeSeries({
        id: 607,
        title: 'Read only in part',
        description:
          'Traces that are incomplete or were left out, words and values that the exporter does not know, and texts that were cut, in one hour.',
        unit: 'short',
        width: 24,
        height: 8,
        emptyReason: 'Empty until something is read only in part.',
        queries: [
          {
            expr: toIncrease('traces_degraded_total', 'server, reason'),
            legend: '{{server}} trace incomplete: {{reason}}',
          },
          { expr: toIncrease('traces_skipped_total', 'server, reason'), legend: '{{server}} no trace: {{reason}}' },
          { expr: toIncrease('unknown_values_total', 'server, field'), legend: '{{server}} unknown: {{field}}' },
          { expr: toIncrease('texts_cut_total'), legend: '{{server}} texts cut' },
        ],
      }),
    ],
  };
}

const lag = 'automation_exporter_execution_lag_seconds{server=~"$server"}';

function toIncrease(name: string, by = 'server'): string {
  return `round(sum by (${by}) (increase(automation_exporter_${name}{server=~"$server"}[1h])))`;
}
