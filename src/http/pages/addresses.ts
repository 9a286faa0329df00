import { type Html, html } from './html.ts';

/** The path of an execution's page below the route prefix. */
export function toExecutionAddress(server: string, id: number): string {
  return `executions/${encode(server)}/${id}`;
}

/** The path of the page of a job that has a path as `{project}/{group}/{name}`. */
export function toJobAddress(server: string, path: string): string {
  return `jobs/${[server, ...path.split('/')].map(encode).join('/')}`;
}

/** The path of a server's timetable. */
export function toScheduleAddress(server: string): string {
  return `schedule/${encode(server)}`;
}

type Run = { readonly project: string | undefined; readonly job: string | undefined };

/** A link to the page of the job that an execution is of; undefined for a command without a job. */
export function renderJobLink(server: string, { project, job }: Run, root: string): Html | undefined {
  if (project === undefined || job === undefined) return undefined;
  return renderPathLink(server, `${project}/${job}`, root);
}

/** A link to the page of a job by its path, which may wrap after each slash. */
export function renderPathLink(server: string, path: string, root: string): Html {
  const parts = path.split('/').map((part, index) => html`${index === 0 ? '' : html`/<wbr>`}${part}`);
  return html`<a href="${root}${toJobAddress(server, path)}"><bdi>${parts}</bdi></a>`;
}

function encode(segment: string): string {
  return encodeURIComponent(segment.toWellFormed());
}
