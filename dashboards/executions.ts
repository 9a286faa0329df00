import { durationsRow } from './executions/durations.ts';
import { endingsRow } from './executions/endings.ts';
import { failingJobsRow } from './executions/failing-jobs.ts';
import { nodesRow } from './executions/nodes.ts';
import { runningRow } from './executions/running.ts';
import { frame } from './pieces/frame.ts';
import { groupVariable, jobVariable, projectVariable, serverVariable } from './pieces/variables.ts';

/** What the service does all day: how many executions there are, how they end, how long they take, and what is stuck. */
export function executions(): object {
  return frame({
    uid: 'automation-executions',
    title: 'Automation service: executions',
    description: 'How do executions end, how long do they take, what is stuck, and which jobs and nodes fail?',
    variables: [serverVariable(), projectVariable(), groupVariable(), jobVariable()],
    rows: [endingsRow(), runningRow(), failingJobsRow(), durationsRow(), nodesRow()],
  });
}
