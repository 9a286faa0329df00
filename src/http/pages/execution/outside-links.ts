import { type Html, html } from '../html.ts';

type Outside = {
  readonly traceId: string | undefined;
  /** The URL of traces, in which `{trace_id}` stands for the id; undefined if not configured. */
  readonly link: string | undefined;
  readonly permalink: string | undefined;
};

export function renderOutsideLinks({ traceId, link, permalink }: Outside): Html | undefined {
  const links = [
    renderLink(
      traceId === undefined ? undefined : link?.replaceAll('{trace_id}', () => traceId),
      'The trace',
      'With all attributes, in the trace viewer',
    ),
    renderLink(permalink, 'The execution on the server', 'With the log output'),
  ].filter((one) => one !== undefined);
  return links.length === 0 ? undefined : html`<ul class="links">${links}</ul>\n`;
}

/** Renders a link, unless it is unsafe: the URL may come from the server. */
function renderLink(address: string | undefined, title: string, text: string): Html | undefined {
  if (address === undefined || !/^https?:\/\//i.test(address) || !URL.canParse(address)) return undefined;
  return html`<li><a href="${address}" rel="noreferrer">${title}<span>${text}</span></a></li>`;
}

/** Returns the URL of an execution on its server, for executions whose URL the server did not report. */
export function toServerAddress(url: string | undefined, project: string, id: number): string | undefined {
  if (url === undefined) return undefined;
  return `${url.replace(/\/$/, '')}/project/${encodeURIComponent(project.toWellFormed())}/execution/show/${id}`;
}
