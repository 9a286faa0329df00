import { toAge, toTime } from '../../../domain/ages.ts';
import { toCount, toSize } from '../../../domain/sizes.ts';
import type { QuarantineStatus } from '../../../status/status.ts';
import { type Html, html } from '../html.ts';

type About = {
  readonly root: string;
  readonly hasPage: (server: string, id: number) => boolean;
  /** True if configuration lets requests change anything. */
  readonly mayChange: boolean;
  /** The daemon's address, for the command line. */
  readonly url: string;
  readonly nowMs: number;
};

/** Renders the rejected traces, with the reasons and the commands to retry or drop them. */
export function renderQuarantine(traces: readonly QuarantineStatus[], about: About): Html {
  const rows = traces.slice(0, mostShown).map((trace) => renderRow(trace, about));
  const rest = traces.length - rows.length;
  const more = html`<p class="note">and ${toCount(rest, 'more trace')}</p>\n`;
  const [head, all] = about.mayChange
    ? [html`<th>What to do</th>`, html`${renderChanges('all', 'true', { ...about, of: 'all' })}\n`]
    : [undefined, undefined];
  return html`<section>
<h2>Quarantined</h2>
<p>The trace backend rejects these traces individually. Fix the reason that it reports, then send them again, or drop those that nobody needs.</p>
<table>
<thead><tr><th>Execution</th><th class="number">Spans</th><th class="number">Size</th><th>Since</th>${head}</tr></thead>
<tbody>${rows}</tbody>
</table>
${rest > 0 ? more : undefined}${all}${renderCommands(traces, about)}</section>
`;
}

const mostShown = 50;

function renderRow({ name, server, executionId, spans, size, atMs, reason }: QuarantineStatus, about: About): Html {
  const { root, hasPage, mayChange, nowMs } = about;
  const address = `${root}executions/${encodeURIComponent(server.toWellFormed())}/${executionId}`;
  const shown = html`<bdi>${server}</bdi> <span class="id">#${executionId}</span>`;
  const execution = hasPage(server, Number(executionId)) ? html`<a href="${address}">${shown}</a>` : shown;
  const changes = mayChange
    ? html`<td>${renderChanges('key', name, { ...about, of: `${server} #${executionId}` })}</td>`
    : undefined;
  return html`<tr><th scope="row">${execution}</th><td data-is="Spans" class="number">${spans}</td><td data-is="Size" class="number">${toSize(size)}</td><td data-is="Since" class="brief"><time datetime="${new Date(atMs).toISOString()}">${toTime(atMs, nowMs)}</time> (${toAge(atMs, nowMs)})</td>${changes}</tr>
<tr class="why"><td colspan="${mayChange ? 5 : 4}">${reason}</td></tr>
`;
}

/** Dropping is for good, so it takes two steps. */
function renderChanges(field: 'key' | 'all', value: string, { root, of }: About & { readonly of: string }): Html {
  const path = `${root}-/quarantine/`;
  return html`<form method="post" action="${path}retry"><button name="${field}" value="${value}" aria-label="Send ${of} again">Send ${field === 'all' ? 'all ' : ''}again</button>
<details><summary aria-label="Drop ${of}">Drop${field === 'all' ? ' all' : ''}…</summary><button name="${field}" value="${value}" formaction="${path}drop" aria-label="Drop ${of} for good">Drop for good</button></details></form>`;
}

function renderCommands([first]: readonly QuarantineStatus[], { mayChange, url }: About): Html {
  const one = first === undefined ? '--all' : quote(first.name);
  const lines = [`list`, `retry --all`, `retry ${one}`, `drop ${one}`];
  // Each by itself: a click marks one line.
  const commands = lines.map((line) => html`<code>automation-exporter quarantine ${line} --url=${quote(url)}</code>\n`);
  const off = html`<p class="note">Sending again and dropping require <code>--web.enable-lifecycle</code>, or <code>web: { enable_lifecycle: true }</code> in the configuration, which is reloaded on SIGHUP. This page then has buttons for both.</p>\n`;
  return html`<h3>From the command line</h3>
<pre tabindex="0">${commands}</pre>
${mayChange ? undefined : off}`;
}

/** As a shell takes it for one word. */
function quote(text: string): string {
  return /^[\w./:@%+=~-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
