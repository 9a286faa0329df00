import { type Html, html } from '../html.ts';

type Outside = {
  readonly traceId: string | undefined;
  /** The address of traces, with `{trace_id}` for the id; undefined if not configured. */
  readonly link: string | undefined;
  /** The address of the execution on its server. */
  readonly permalink: string | undefined;
};

/** The links to the trace of an execution, and to its page on the server. */
export function renderOutsideLinks({ traceId, link, permalink }: Outside): Html | undefined {
  const links = [
    renderLink(
      traceId === undefined ? undefined : link?.replaceAll('{trace_id}', () => traceId),
      'The trace',
      'With its attributes, in the trace viewer',
    ),
    renderLink(permalink, 'The execution on the server', 'With its output'),
  ].filter((one) => one !== undefined);
  return links.length === 0 ? undefined : html`<ul class="links">${links}</ul>\n`;
}

/** Addresses come from the service too, and not every address is safe to follow. */
function renderLink(address: string | undefined, title: string, text: string): Html | undefined {
  if (address === undefined || !/^https?:\/\//i.test(address) || !URL.canParse(address)) return undefined;
  return html`<li><a href="${address}" rel="noreferrer">${title}<span>${text}</span></a></li>`;
}

/** The page of an execution on its server, where the server has not given it. */
export function toServerAddress(url: string | undefined, project: string, id: number): string | undefined {
  if (url === undefined) return undefined;
  return `${url.replace(/\/$/, '')}/project/${encodeURIComponent(project.toWellFormed())}/execution/show/${id}`;
}
