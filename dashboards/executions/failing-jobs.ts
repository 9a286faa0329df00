import { defaultThresholds } from '../../alerts/thresholds.ts';
import { topOverRange } from '../pieces/exporters.ts';
import type { QuestionRow } from '../pieces/grid.ts';
import { joinedTable } from '../pieces/joined-table.ts';
import { timeSeries } from '../pieces/time-series.ts';
import { bad, byJob, jobColumns, jobLegend, ofJobs } from './series.ts';
import { topFailingJobs } from './top-failing-jobs.ts';

export function failingJobsRow(): QuestionRow {
  return {
    id: 300,
    question: 'Which jobs fail?',
    panels: [
      topFailingJobs({ id: 301, selector: ofJobs, width: 24, height: 9 }),
      timeSeries({
        id: 302,
        title: 'Consecutive failures',
        description:
          'The ten jobs with the most failures in a row in the selected time. The dashed line is the limit of the alert.',
        unit: 'short',
        width: 12,
        height: 8,
        limit: defaultThresholds.jobConsecutiveFailures,
        queries: [
          {
            expr: topOverRange(
              10,
              byJob,
              `max by (${byJob}) (${failures})`,
              `max by (${byJob}) (max_over_time(${failures}[$__range] @ end()))`,
            ),
            legend: jobLegend,
          },
        ],
      }),
      timeSeries({
        id: 305,
        title: 'Failures by class',
        description:
          'Failed executions per hour by what failed first: the command itself (work), a node that is not reached (target), a right (access), ….',
        unit: 'short',
        width: 12,
        height: 8,
        emptyReason: 'Empty until an execution has failed since the exporter started.',
        queries: [
          {
            expr: `round(sum by (class) (increase(automation_execution_failures_total{${ofJobs}}[1h])))`,
            legend: '{{class}}',
          },
        ],
      }),
      joinedTable({
        id: 303,
        title: 'Most failures in the selected time',
        description:
          'Executions that failed, timed out or ended in an unusual way: the ten jobs with the most failures.',
        unit: 'short',
        width: 24,
        height: 8,
        emptyReason: 'Empty while no job has failed in the selected time.',
        labels: jobColumns,
        values: [
          {
            heading: 'Failures',
            expr: `topk(10, round(sum by (${byJob}) (increase(automation_executions_total{${ofJobs},${bad}}[$__range])))) > 0`,
          },
        ],
        sortBy: 'Failures',
      }),
      joinedTable({
        id: 304,
        title: 'Longest without a success',
        description: 'The twenty jobs with the oldest last success, and their configured success_age.',
        unit: 's',
        width: 24,
        height: 8,
        emptyReason:
          'Empty until the first execution has ended since the exporter started; the limits are empty unless configured.',
        labels: jobColumns,
        values: [
          { heading: 'Last success ago', expr: `topk(20, ${sinceSuccess})` },
          {
            heading: 'Allowed',
            expr: `max by (${byJob}) (automation_job_success_age_limit_seconds{${ofJobs}}) and topk(20, ${sinceSuccess})`,
          },
        ],
        sortBy: 'Last success ago',
      }),
    ],
  };
}

const failures = `automation_job_consecutive_failures{${ofJobs}}`;
const sinceSuccess = `clamp_min(time() - max by (${byJob}) (automation_job_last_success_timestamp_seconds{${ofJobs}}), 0)`;
