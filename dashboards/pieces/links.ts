import { defaultThresholds } from '../../alerts/thresholds.ts';

/** A link on a value of a panel. */
export interface DataLink {
  readonly title: string;
  readonly url: string;
}

/** The selected data source as a part of the address of another dashboard. */
export const sameDataSource = `&\${datasource:queryparam}`;

const keep = `\${__url_time_range}${sameDataSource}`;

/** Returns where a click on a line or a tile leads: the most specific dashboard that its labels permit. */
export function linksOfSeries(expressions: readonly string[]): DataLink[] {
  const labels = new Set(expressions.flatMap((expr) => [...expr.matchAll(/by \(([^)]*)\)/g)]).flatMap(toLabels));
  const value = (label: string): string => `\${__field.labels.${label}:percentencode}`;
  return toLinks(labels, value);
}

/** The columns of a table that link to details, by heading; `columns` maps labels to headings. */
export function linksOfColumns(
  columns: Readonly<Record<string, string>>,
): Readonly<Record<string, readonly DataLink[]>> {
  const value = (label: string): string => `\${__data.fields["${columns[label] ?? label}"]:percentencode}`;
  const labels = new Set(Object.keys(columns));
  const ofLabel = (label: string): readonly DataLink[] => {
    const within = new Set([...labels].filter((each) => levels.indexOf(each) <= levels.indexOf(label)));
    return toLinks(within, value);
  };
  const links: Record<string, readonly DataLink[]> = {};
  for (const [label, heading] of Object.entries(columns)) {
    if (levels.includes(label)) links[heading] = ofLabel(label);
    if (label === 'alertname') links[heading] = [toRunbook()];
    if (label.endsWith('xecution')) links[heading] = [toExecution(value('server'))];
  }
  return links;
}

/** Labels from the most general to the most specific. */
const levels = ['server', 'project', 'job_group', 'job_name'];

function toLabels([, list = '']: RegExpMatchArray): string[] {
  return list.split(',').map((label) => label.trim());
}

function toLinks(labels: ReadonlySet<string>, value: (label: string) => string): DataLink[] {
  const server = `var-server=${value('server')}`;
  const project = `${server}&var-project=${value('project')}`;
  if (!labels.has('server')) return [];
  if (labels.has('job_name')) {
    const job = `${project}&var-group=${value('job_group')}&var-job=${value('job_name')}`;
    return [{ title: 'This job', url: `/d/automation-job?${job}&${keep}` }];
  }
  if (labels.has('project')) return [{ title: 'This project', url: `/d/automation-executions?${project}&${keep}` }];
  return [{ title: 'This server', url: `/d/automation-server?${server}&${keep}` }];
}

function toExecution(server: string): DataLink {
  return { title: 'This execution', url: `${defaultThresholds.baseUrl}/executions/${server}/\${__value.raw}` };
}

function toRunbook(): DataLink {
  return { title: 'Runbook', url: `${defaultThresholds.baseUrl}/runbooks/\${__value.raw}` };
}
