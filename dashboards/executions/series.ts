/** What the reader picked, as a selector; executions without a job have an empty job name. */
export const ofJobs = 'server=~"$server",project=~"$project",job_group=~"$group",job_name=~"$job"';

/** What projects are told apart by. */
export const byProject = 'server, project';

/** The same for series that know no job. */
export const ofProjects = 'server=~"$server",project=~"$project"';

/** Ends that count as good and as bad; cancellations and attempts that are tried again count as neither. */
export const good = 'status="succeeded"';
export const bad = 'status=~"failed|timedout|other"';

export const byJob = 'server, project, job_group, job_name';
export const jobLegend = '{{project}}: {{job_group}} {{job_name}}';
export const jobColumns = { server: 'Server', project: 'Project', job_group: 'Group', job_name: 'Job' } as const;

/** The share of good ends among the good and the bad; nothing where there was none of both. */
export function successRatio(by: string, selector: string, window: string): string {
  const ends = (which: string): string =>
    `sum by (${by}) (increase(automation_executions_total{${selector},${which}}[${window}]))`;
  return `${ends(good)} / (${ends('status=~"succeeded|failed|timedout|other"')} > 0)`;
}
