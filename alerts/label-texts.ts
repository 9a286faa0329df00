import type { Thresholds } from './thresholds.ts';

/** The name of the server, with the cluster member if the alert is about a member. */
export const serverText = '{{ $labels.server }}{{ with $labels.member }} (member {{ . }}){{ end }}';

/** The full name of the job: project, group and name. */
export const jobText = '{{ $labels.project }}/{{ with $labels.job_group }}{{ . }}/{{ end }}{{ $labels.job_name }}';

/** Lists at most eight values of a label, sorted, from the series of an expression that contains `ofAlert`. */
export function listOf(label: string, expression: string): string {
  const query = `printf \`topk(8, count by (${label}) (${expression}))\` $labels.cluster $labels.server $labels.member | query | sortByLabel \`${label}\``;
  return `{{ range $index, $found := ${query} }}{{ if $index }}, {{ end }}{{ $found.Labels.${label} }}{{ end }}`;
}

/** Lists at most eight of the jobs whose next run is at risk for the reason of the alert; `filter` excludes some of them. */
export function jobsAtRiskText({ gapWindow }: Thresholds, filter = ''): string {
  const selector = 'automation_job_next_run_at_risk{cluster=%q,server=%q,reason=%q}';
  const jobs = `topk(8, max by (project, job_group, job_name) (last_over_time(${selector}[${gapWindow}])${filter}))`;
  const query = `printf \`${jobs}\` $labels.cluster $labels.server $labels.reason | query | sortByLabel \`job_name\``;
  const path =
    '{{ $found.Labels.project }}/{{ with $found.Labels.job_group }}{{ . }}/{{ end }}{{ $found.Labels.job_name }}';
  return `{{ with ${query} }} Next: {{ range $index, $found := . }}{{ if $index }}, {{ end }}${path}{{ end }}.{{ end }}${failingNodesText(gapWindow)}`;
}

/** Lists the nodes for which runs are at risk. */
const failingNodesText = (gapWindow: string): string =>
  `{{ if eq $labels.reason "node_failing" }}{{ with printf \`max by (node) (last_over_time(automation_node_failing_jobs{cluster=%q,server=%q}[${gapWindow}]))\` $labels.cluster $labels.server | query | sortByLabel \`node\` }} Failing nodes: {{ range $index, $found := . }}{{ if $index }}, {{ end }}{{ $found.Labels.node }}{{ end }}.{{ end }}{{ end }}`;

/** Lists the error kinds of requests to a server; empty if there are none. */
export function causeText({ causeWindow }: Thresholds): string {
  const errors = `sum by (kind) (increase(automation_exporter_api_errors_total{${ofAlert}}[${causeWindow}])) > 0`;
  const query = `printf \`${errors}\` $labels.cluster $labels.server $labels.member | query | sortByLabel \`kind\``;
  const kinds = '{{ range $index, $found := . }}{{ if $index }}, {{ end }}{{ $found.Labels.kind }}{{ end }}';
  return `{{ with ${query} }} Kinds of errors: ${kinds}.{{ end }}`;
}

/** The selector of the alert's server and member, for `listOf`; an expression may contain the selector twice. */
export const ofAlert = 'cluster=%[1]q,server=%[2]q,member=%[3]q';

/** Names an execution of the alert's job: the value of the metric is its id. Empty if the metric has no series for the job. */
export function executionText(words: string, metric: string, { baseUrl, gapWindow }: Thresholds): string {
  const labels = ['cluster', 'server', 'project', 'job_group', 'job_name'];
  const selector = `${metric}{${labels.map((label) => `${label}=%q`).join(',')}}`;
  const values = labels.map((label) => `$labels.${label}`).join(' ');
  const found = `printf \`max(last_over_time(${selector}[${gapWindow}]))\` ${values} | query`;
  const id = '{{ printf "%.0f" .Value }}';
  return `{{ range ${found} }} ${words}: #${id} (${baseUrl}/executions/{{ $labels.server }}/${id}).{{ end }}`;
}

/** Returns the configured owner of the alert's job; an empty text gives no label. */
export function ownerText({ gapWindow }: Thresholds): string {
  const selector = 'automation_job_owner_info{cluster=%q,server=%q,project=%q,job_group=%q,job_name=%q}';
  const values = '$labels.cluster $labels.server $labels.project $labels.job_group $labels.job_name';
  const query = `printf \`topk(1, last_over_time(${selector}[${gapWindow}]))\` ${values} | query`;
  return `{{ range ${query} }}{{ .Labels.owner }}{{ end }}`;
}

/** Escapes a label for one segment of a path. */
function inPath(value: string): string {
  return `{{ ${value} | urlquery | reReplaceAll "\\\\+" "%20" }}`;
}

/** The slashes in the group of a job are not escaped. */
const groupPath = inPath('.').replace(' }}', ' | reReplaceAll "%2F" "/" }}');
const jobPath = `${inPath('$labels.server')}/${inPath('$labels.project')}/{{ with $labels.job_group }}${groupPath}/{{ end }}${inPath('$labels.job_name')}`;

const ofServer = '?server={{ $labels.server | urlquery }}';

/** Paths of pages of the exporter. Jobs without their own series have no page. */
export const pageOf = {
  front: '/',
  // The query leads to the exporter that watches the server; browsers do not send the part after #.
  server: `/${ofServer}#server-${inPath('$labels.server')}`,
  rights: `/${ofServer}#server-${inPath('$labels.server')}-rights`,
  traces: '/traces',
  failures:
    '/executions?result=failures&server={{ $labels.server | urlquery }}{{ with $labels.project }}&project={{ . | urlquery }}{{ end }}',
  schedule: `/schedule/${inPath('$labels.server')}`,
  tonight: '/tonight?server={{ $labels.server | urlquery }}',
  switchedOff: '/jobs?state=off&server={{ $labels.server | urlquery }}',
  job: `{{ if match "^(__.*__)?$" $labels.job_name }}/executions?server={{ $labels.server | urlquery }}&project={{ $labels.project | urlquery }}{{ else }}/jobs/${jobPath}{{ end }}`,
} as const;

/** Addresses of dashboards, with the server, project or job of the alert selected. */
export const dashboardOf = {
  server: '/d/automation-server?var-server={{ $labels.server | urlquery }}',
  logStorage: '/d/automation-log-storage?var-server={{ $labels.server | urlquery }}',
  executions: '/d/automation-executions?var-server={{ $labels.server | urlquery }}',
  schedule: '/d/automation-schedule?var-server={{ $labels.server | urlquery }}',
  project:
    '/d/automation-executions?var-server={{ $labels.server | urlquery }}{{ with $labels.project }}&var-project={{ . | urlquery }}{{ end }}',
  job: '/d/automation-job?var-server={{ $labels.server | urlquery }}&var-project={{ $labels.project | urlquery }}&var-group={{ $labels.job_group | urlquery }}&var-job={{ $labels.job_name | urlquery }}',
  exporter: '/d/automation-exporter',
} as const;
