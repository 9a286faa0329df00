import { counter } from '../../metrics/family.ts';

export const changeFamilies = {
  changes: counter(
    'automation_changes_total',
    'Changes that the exporter saw: of jobs, keys, nodes and projects, of runs against the last success, and of the server, where `project` is empty [comparison of answers].',
    'project',
    'kind',
  ),
};
