/** The selected variables in the form of a selector; executions without a job have an empty job name. */
export const ofJobs = 'server=~"$server",project=~"$project",job_group=~"$group",job_name=~"$job"';

/** The labels that distinguish projects. */
export const byProject = 'server, project';

/** The selector for series without job labels. */
export const ofProjects = 'server=~"$server",project=~"$project"';

/** Statuses that count as good and as bad; cancellations and retried attempts count as neither. */
const good = 'status="succeeded"';
export const bad = 'status=~"failed|timedout|other"';

export const byJob = 'server, project, job_group, job_name';
export const jobLegend = '{{project}}: {{job_group}} {{job_name}}';
export const jobColumns = { server: 'Server', project: 'Project', job_group: 'Group', job_name: 'Job' } as const;

/** The share of good statuses among good and bad statuses; no value if there was neither. */
export function successRatio(by: string, selector: string, window: string): string {
  const ends = (which: string): string =>
    `sum by (${by}) (increase(automation_executions_total{${selector},${which}}[${window}]))`;
  return `${ends(good)} / (${ends('status=~"succeeded|failed|timedout|other"')} > 0)`;
}
