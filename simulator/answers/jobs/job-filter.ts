import type { Job } from '../../world/job.ts';

/** The job list's filters (API reference, "Jobs"); `-` means jobs at the top level. */
export function toJobFilter(query: URLSearchParams): (job: Job) => boolean {
  const ids = query.get('idlist')?.split(',');
  const groupPath = query.get('groupPath') ?? '*';
  const groupPathExact = query.get('groupPathExact');
  const part = query.get('jobFilter')?.toLowerCase();
  const exact = query.get('jobExactFilter');
  const uuid = query.get('serverNodeUUIDFilter');
  return (job) => {
    const group = job.definition.group ?? '';
    const { name } = job.definition;
    return (
      (ids === undefined || ids.includes(job.id)) &&
      isInGroup(group, groupPath) &&
      (groupPathExact === null || group === (groupPathExact === '-' ? '' : groupPathExact)) &&
      (part === undefined || name.toLowerCase().includes(part)) &&
      (exact === null || name === exact) &&
      (uuid === null || job.owner?.uuid === uuid) &&
      agrees(query.get('scheduledFilter'), job.definition.schedule !== undefined) &&
      agrees(query.get('scheduleEnabledFilter'), job.scheduleEnabled) &&
      agrees(query.get('executionEnabledFilter'), job.enabled)
    );
  };
}

export function isInGroup(group: string, path: string): boolean {
  if (path === '*' || path === '') return true;
  return path === '-' ? group === '' : group === path || group.startsWith(`${path}/`);
}

function agrees(wanted: string | null, actual: boolean): boolean {
  return wanted === null || (wanted === 'true') === actual;
}
