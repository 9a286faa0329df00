import type { Thresholds } from './thresholds.ts';

/** The server of an alert as people call it, with the member where the alert is about one of a cluster. */
export const serverText = '{{ $labels.server }}{{ with $labels.member }} (member {{ . }}){{ end }}';

/** The job of an alert as people call it: project, group and name. */
export const jobText = '{{ $labels.project }}/{{ with $labels.job_group }}{{ . }}/{{ end }}{{ $labels.job_name }}';

/** The values of one label, sorted, of the series that an expression finds, up to eight; `ofAlert` is its selector. */
export function listOf(label: string, expression: string): string {
  const query = `printf \`topk(8, count by (${label}) (${expression}))\` $labels.server $labels.member | query | sortByLabel \`${label}\``;
  return `{{ range $index, $found := ${query} }}{{ if $index }}, {{ end }}{{ $found.Labels.${label} }}{{ end }}`;
}

/** The jobs whose next run is at risk for the reason of the alert, up to eight; nothing where only later ones are. */
export function jobsAtRiskText(filter = ''): string {
  const selector = 'automation_job_next_run_at_risk{server=%q,reason=%q}';
  const jobs = `topk(8, max by (project, job_group, job_name) (${selector}${filter}))`;
  const query = `printf \`${jobs}\` $labels.server $labels.reason | query | sortByLabel \`job_name\``;
  const path =
    '{{ $found.Labels.project }}/{{ with $found.Labels.job_group }}{{ . }}/{{ end }}{{ $found.Labels.job_name }}';
  return `{{ with ${query} }} Next: {{ range $index, $found := . }}{{ if $index }}, {{ end }}${path}{{ end }}.{{ end }}`;
}

/** The kinds of errors that requests to a server end with; nothing where there is none. */
export function causeText({ causeWindow }: Thresholds): string {
  const errors = `sum by (kind) (increase(automation_exporter_api_errors_total{${ofAlert}}[${causeWindow}])) > 0`;
  const query = `printf \`${errors}\` $labels.server $labels.member | query | sortByLabel \`kind\``;
  const kinds = '{{ range $index, $found := . }}{{ if $index }}, {{ end }}{{ $found.Labels.kind }}{{ end }}';
  return `{{ with ${query} }} Errors of its requests: ${kinds}.{{ end }}`;
}

/** Selects what an alert is about, in `listOf`. */
export const ofAlert = 'server=%q,member=%q';

/** The execution whose id a metric gives for the job of the alert, with its page; nothing where there is none. */
export function executionText(words: string, metric: string, { baseUrl, gapWindow }: Thresholds): string {
  const labels = ['server', 'project', 'job_group', 'job_name'];
  const selector = `${metric}{${labels.map((label) => `${label}=%q`).join(',')}}`;
  const values = labels.map((label) => `$labels.${label}`).join(' ');
  const found = `printf \`max(last_over_time(${selector}[${gapWindow}]))\` ${values} | query`;
  const id = '{{ printf "%.0f" .Value }}';
  return `{{ range ${found} }} ${words}: #${id} (${baseUrl}/executions/{{ $labels.server }}/${id}).{{ end }}`;
}

/** The configured owner of the job of an alert; empty, which is no label, where there is none. */
export function ownerText({ gapWindow }: Thresholds): string {
  const selector = 'automation_job_owner_info{server=%q,project=%q,job_group=%q,job_name=%q}';
  const values = '$labels.server $labels.project $labels.job_group $labels.job_name';
  const query = `printf \`topk(1, last_over_time(${selector}[${gapWindow}]))\` ${values} | query`;
  return `{{ range ${query} }}{{ .Labels.owner }}{{ end }}`;
}

/** Escapes a label for one segment of a path. */
function inPath(value: string): string {
  return `{{ ${value} | urlquery | reReplaceAll "\\\\+" "%20" }}`;
}

/** The group of a job holds slashes, which stay. */
const groupPath = inPath('.').replace(' }}', ' | reReplaceAll "%2F" "/" }}');
const jobPath = `${inPath('$labels.server')}/${inPath('$labels.project')}/{{ with $labels.job_group }}${groupPath}/{{ end }}${inPath('$labels.job_name')}`;

const ofServer = '?server={{ $labels.server | urlquery }}';

/** Pages of the exporter that say more, below its address. Jobs without series of their own have no page. */
export const pageOf = {
  front: '/',
  // The query leads to the exporter that watches the server: browsers do not send what follows the #.
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

/** Addresses of dashboards, with what the alert is about picked. */
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
