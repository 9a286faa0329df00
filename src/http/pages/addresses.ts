import { type Html, html } from './html.ts';

/** Returns the path of the page of an execution below the route prefix. */
export function toExecutionAddress(server: string, id: number): string {
  return `executions/${encode(server)}/${id}`;
}

/**
 * Returns the path of the page of a job, whose own path is `{project}/{group}/{name}`. A path with a segment `.` or `..` becomes
 * one segment, because browsers remove such segments.
 */
export function toJobAddress(server: string, path: string): string {
  const names = /(?:^|\/)\.\.?(?:\/|$)/.test(path) ? [path] : path.split('/');
  return `jobs/${[server, ...names].map(encode).join('/')}`;
}

export function toScheduleAddress(server: string): string {
  return `schedule/${encode(server)}`;
}

type Run = { readonly project: string | undefined; readonly job: string | undefined };

/** Links to the page of the job of an execution. Returns undefined for a command without a job. */
export function renderJobLink(server: string, { project, job }: Run, root: string): Html | undefined {
  if (project === undefined || job === undefined) return undefined;
  return renderPathLink(server, `${project}/${job}`, root);
}

/** Links to the page of a job, with its path as text. The path may wrap after each slash. */
export function renderPathLink(server: string, path: string, root: string): Html {
  const parts = path.split('/').map((part, index) => html`${index === 0 ? '' : html`/<wbr>`}${part}`);
  return html`<a href="${root}${toJobAddress(server, path)}"><bdi>${parts}</bdi></a>`;
}

function encode(segment: string): string {
  return encodeURIComponent(segment.toWellFormed());
}
