import { type Html, html } from '../html.ts';

type Outside = {
  readonly traceId: string | undefined;
  /** The address of traces, with `{trace_id}` for the id; undefined if not configured. */
  readonly link: string | undefined;
  /** The address of the execution on its server. */
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

/** An address may come from the server, so it may be unsafe to follow. */
function renderLink(address: string | undefined, title: string, text: string): Html | undefined {
  if (address === undefined || !/^https?:\/\//i.test(address) || !URL.canParse(address)) return undefined;
  return html`<li><a href="${address}" rel="noreferrer">${title}<span>${text}</span></a></li>`;
}

/** Returns the page of an execution on its server, for executions without a link from the server. */
export function toServerAddress(url: string | undefined, project: string, id: number): string | undefined {
  if (url === undefined) return undefined;
  return `${url.replace(/\/$/, '')}/project/${encodeURIComponent(project.toWellFormed())}/execution/show/${id}`;
}
