/**
 * Returns the path that patterns of configuration match: `{project}/{group}/{name}`, and `{project}/{name}` for a job
 * without a group, as the service itself writes them in its filters (API reference, "Executions").
 */
export function toJobPath({ project, group, name }: JobNames): string {
  return [project, ...(group === '' ? [] : [group]), name].join('/');
}

/** The names of a job, which its labels and its path are made of. */
export type JobNames = { readonly project: string; readonly group: string; readonly name: string };
