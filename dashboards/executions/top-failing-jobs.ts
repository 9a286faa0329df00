import { joinedTable } from '../pieces/joined-table.ts';
import type { GridPanel } from '../pieces/panel.ts';
import { byJob, jobColumns } from './series.ts';

/** Lists jobs without a success after their last failure, with the execution to look at. */
export function topFailingJobs({
  selector,
  ...place
}: {
  readonly id: number;
  readonly selector: string;
  readonly width: number;
  readonly height: number;
}): GridPanel {
  const failing = `topk(20, max by (${byJob}) (automation_job_consecutive_failures{${selector}}) > 0)`;
  return joinedTable({
    ...place,
    title: 'Top failing jobs',
    description:
      'The twenty jobs with the most failures since the last success, the status of the last execution, and the id of the last failed one.',
    unit: 'short',
    emptyReason: 'Empty while the newest run of every job was a success.',
    labels: { ...jobColumns, status: 'Newest run' },
    values: [
      { heading: 'Failures in a row', expr: failing },
      {
        heading: '',
        expr: `max by (${byJob}, status) (automation_job_last_status{${selector}} == 1) and on (${byJob}) ${failing}`,
      },
      {
        heading: 'Last failed execution',
        // An id is shown as a whole number, never as 8.6 K.
        unit: 'none',
        expr: `max by (${byJob}) (automation_job_last_failed_execution_id{${selector}}) and ${failing}`,
      },
      {
        heading: 'Last success ago',
        unit: 's',
        expr: `clamp_min(time() - max by (${byJob}) (automation_job_last_success_timestamp_seconds{${selector}}), 0) and ${failing}`,
      },
    ],
    sortBy: 'Failures in a row',
  });
}
