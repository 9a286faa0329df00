import { jobHistoryRow } from './job/history.ts';
import { jobNowRow } from './job/now.ts';
import { jobScheduleRow } from './job/on-schedule.ts';
import { frame } from './pieces/frame.ts';
import { groupVariable, jobVariable, projectVariable, serverVariable } from './pieces/variables.ts';

/** One job: does it succeed, how long does it take, and what happened last? */
export function job(): object {
  return frame({
    uid: 'automation-job',
    title: 'Automation service: job',
    description: 'Does this job succeed, how long does it take compared with its usual time, and what happened last?',
    variables: [serverVariable(), projectVariable(), groupVariable(), jobVariable()],
    rows: [jobNowRow(), jobScheduleRow(), jobHistoryRow()],
  });
}
