import { defaultThresholds } from '../../alerts/thresholds.ts';
import { byJob, jobColumns, jobLegend, ofJobs } from '../executions/series.ts';
import { topOverRange } from '../pieces/exporters.ts';
import type { QuestionRow } from '../pieces/grid.ts';
import { joinedTable } from '../pieces/joined-table.ts';
import type { GridPanel } from '../pieces/panel.ts';
import { stateTimeline } from '../pieces/state-timeline.ts';
import { numberTile } from '../pieces/tiles.ts';
import { timeSeries } from '../pieces/time-series.ts';

export function jobNowRow(): QuestionRow {
  return { id: 100, question: 'How is the job now?', panels: [...tiles(), ...charts(), lastRuns()] };
}

/** The maximum number of jobs that are shown; if all are selected, these are the first ones. */
const some = 12;
const notYet = 'Empty until the job has ended once since the exporter began.';

function tiles(): GridPanel[] {
  const tile = { width: 4, height: 4, emptyReason: notYet };
  const newest = (name: string): string => `topk(${some}, max by (${byJob}) (${name}{${ofJobs}}))`;
  return [
    numberTile({
      ...tile,
      id: 101,
      title: 'Failures in a row',
      description: 'Failures since the last success. Aborted executions and retried attempts are not counted.',
      unit: 'none',
      notableFrom: 1,
      badFrom: defaultThresholds.jobConsecutiveFailures,
      queries: [{ expr: newest('automation_job_consecutive_failures'), legend: jobLegend }],
    }),
    numberTile({
      ...tile,
      id: 102,
      title: 'Last success ago',
      description: 'Time since the last success ended.',
      unit: 's',
      queries: [
        {
          expr: `topk(${some}, clamp_min(time() - max by (${byJob}) (automation_job_last_success_timestamp_seconds{${ofJobs}}), 0))`,
          legend: jobLegend,
        },
      ],
    }),
    numberTile({
      ...tile,
      id: 103,
      title: 'Last start ago',
      description: 'Time since the start of the last execution that has ended.',
      unit: 's',
      queries: [
        {
          expr: `topk(${some}, clamp_min(time() - max by (${byJob}) (automation_job_last_start_timestamp_seconds{${ofJobs}}), 0))`,
          legend: jobLegend,
        },
      ],
    }),
    numberTile({
      ...tile,
      id: 104,
      title: 'Last duration',
      description: 'Duration of the last execution.',
      unit: 's',
      queries: [{ expr: newest('automation_job_last_duration_seconds'), legend: jobLegend }],
    }),
    numberTile({
      ...tile,
      id: 105,
      title: 'Usual duration',
      description: 'Average duration as the server reports it.',
      unit: 's',
      queries: [{ expr: newest('automation_job_average_duration_seconds'), legend: jobLegend }],
    }),
    numberTile({
      ...tile,
      id: 106,
      title: 'Runs now',
      description: 'Executions of the job that are running.',
      unit: 'none',
      emptyReason: 'Empty while the job does not run.',
      queries: [
        { expr: `topk(${some}, sum by (${byJob}) (automation_executions_running{${ofJobs}}) > 0)`, legend: jobLegend },
      ],
    }),
  ];
}

function charts(): GridPanel[] {
  const failed = `max by (${byJob}) (automation_job_last_status{${ofJobs},status=~"failed|timedout|other"})`;
  const last = `max by (${byJob}) (automation_job_last_duration_seconds{${ofJobs}})`;
  const maxRuns = `sum by (${byJob}) (increase(automation_executions_total{${ofJobs}}[$__range] @ end()))`;
  return [
    stateTimeline({
      id: 110,
      title: 'Status of the last execution over time',
      description: 'Times in which the last execution was a failure: failed, timed out or ended in an unusual way.',
      emptyReason: notYet,
      unit: 'none',
      width: 12,
      height: 8,
      words: { 0: ['Good', 'good'], 1: ['Failed', 'bad'] },
      queries: [{ expr: topOverRange(some, byJob, failed, maxRuns), legend: jobLegend }],
    }),
    timeSeries({
      id: 111,
      title: 'Last duration against the usual one',
      description: 'Duration of the last execution, and the average that the server reports.',
      emptyReason: notYet,
      unit: 's',
      width: 12,
      height: 8,
      queries: [
        { expr: topOverRange(some, byJob, last, maxRuns), legend: `${jobLegend} last` },
        {
          expr: topOverRange(
            some,
            byJob,
            `max by (${byJob}) (automation_job_average_duration_seconds{${ofJobs}})`,
            maxRuns,
          ),
          legend: `${jobLegend} usual`,
        },
      ],
    }),
  ];
}

function lastRuns(): GridPanel {
  const newest = (name: string): string => `topk(${some}, max by (${byJob}) (${name}{${ofJobs}}))`;
  return joinedTable({
    id: 112,
    title: 'Last executions',
    description: 'Ids of the last execution and the last failed execution, with links to their pages.',
    emptyReason: notYet,
    unit: 'none',
    width: 24,
    height: 6,
    labels: jobColumns,
    values: [
      { heading: 'Last execution', expr: newest('automation_job_last_execution_id') },
      { heading: 'Last failed execution', expr: newest('automation_job_last_failed_execution_id') },
      {
        heading: 'Ended ago',
        unit: 's',
        expr: `topk(${some}, clamp_min(time() - max by (${byJob}) (automation_job_last_end_timestamp_seconds{${ofJobs}}), 0))`,
      },
    ],
    sortBy: 'Last execution',
  });
}
