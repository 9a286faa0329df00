/**
 * Returns the path that configured patterns match: `{project}/{group}/{name}`, or `{project}/{name}` without a group,
 * as the service writes it in filters (API reference, "Executions").
 */
export function toJobPath({ project, group, name }: JobNames): string {
  return [project, ...(group === '' ? [] : [group]), name].join('/');
}

export type JobNames = { readonly project: string; readonly group: string; readonly name: string };

/** Returns the names in a path. A group may contain slashes; a project and a name may not. */
export function ofJobPath(path: string): JobNames {
  const [project = '', ...rest] = path.split('/');
  return { project, group: rest.slice(0, -1).join('/'), name: rest.at(-1) ?? '' };
}
