import { incompleteRow } from './log-storage/incomplete.ts';
import { logStorageRow } from './log-storage/stored.ts';
import { frame } from './pieces/frame.ts';
import { serverVariable } from './pieces/variables.ts';

/** Are logs being stored, and which executions have none? */
export function logStorage(): object {
  return frame({
    uid: 'automation-log-storage',
    title: 'Automation service: log storage',
    description: 'Are the logs of executions being stored, how far behind is the storage, and whose logs are missing?',
    variables: [serverVariable()],
    rows: [logStorageRow(), incompleteRow()],
  });
}
