import type { Router } from 'express';
import { toAge, toLength } from '../../../domain/ages.ts';
import { toList } from '../../../domain/format.ts';
import type { Pause } from '../../../domain/pause.ts';
import { isFailure } from '../../../status/running.ts';
import type { EndedExecution } from '../../../status/status.ts';
import { type Html, html, numberHead, toTable } from '../html.ts';
import { type Fields, listRoute, renderProjects, renderSelect, renderServers, type Shown } from '../list.ts';
import { renderEnding } from '../page.ts';
import type { FindSilence } from '../silence.ts';

type ExecutionListOptions = {
  /** Returns the finished executions of all servers that are stored for pages, newest first. */
  readonly ended: () => Promise<readonly EndedExecution[]>;
  readonly servers: () => readonly string[];
  readonly endings: readonly string[];
  readonly silence: FindSilence;
  /** Returns the time by the clock of a server, because its executions have times of this clock. */
  readonly nowMs: (server: string) => number;
  /** Call at the start of a request, and await the result between parts of long work. */
  readonly begin?: () => Pause;
};

/** `/executions`: finished executions, filtered by result, server, project and text in the query. */
export function executionListRoute({ ended, endings, nowMs, ...options }: ExecutionListOptions): Router {
  return listRoute({
    ...options,
    path: 'executions',
    title: 'Last finished executions',
    noun: 'execution',
    fields,
    items: ended,
    toChoice,
    render: (shown) => html`<h1>Last finished executions</h1>
${renderForm(shown, endings)}
<p class="note">${shown.count}, newest first. The last 1,000 per server are kept.</p>
${shown.items.length === 0 ? renderNothing(shown.all) : renderTable(shown, nowMs)}${shown.links}`,
  });
}

const fields = ['result', 'server', 'project', 'text'] as const;

type Filter = Fields<(typeof fields)[number]>;
type Executions = Shown<EndedExecution, keyof Filter>;

/** Filters by result (an ending, or `failures` for all failed endings), server, project and text (an id or a part of a name). */
function toChoice(filter: Filter): (execution: EndedExecution) => boolean {
  const text = filter.text.toLowerCase();
  const [, whole] = /^"(.+)"$/.exec(filter.text) ?? [];
  return ({ server, project, job = 'ad hoc', id, ending }) =>
    isResult(ending, filter.result) &&
    (filter.server === '' || server === filter.server) &&
    (filter.project === '' || project === filter.project) &&
    (text === '' || job === whole || job.toLowerCase().includes(text) || String(id) === text.replace(/^#/, ''));
}

function isResult(ending: string, wanted: string): boolean {
  return wanted === '' || (wanted === 'failures' ? isFailure({ ending }) : ending === wanted);
}

function renderNothing(all: readonly EndedExecution[]): Html {
  return all.length === 0
    ? html`<p>No finished execution is known yet.</p>\n`
    : html`<p>No execution matches. <a href="executions">Show all</a></p>\n`;
}

function renderForm({ all, filter, servers }: Executions, endings: readonly string[]): Html {
  const results = renderSelect('result', ['', 'failures', ...endings], filter.result, { failures: 'all failures' });
  return html`<form class="filter" method="get" action="executions" role="search">
<label>Result ${results}</label>
${renderServers(servers, filter.server)}${renderProjects(all, filter.project)}
<label>Job or id <input name="text" type="search" value="${filter.text}"></label>
<button>Show</button>
</form>`;
}

function renderTable({ items, servers, root }: Executions, nowMs: ExecutionListOptions['nowMs']): Html {
  const isOne = servers.length < 2;
  return html`<section>
${toTable(
  ['Job', isOne ? undefined : 'Server', 'Project', 'Result', 'Ended', numberHead('Took')],
  items.map((execution) => renderRow(execution, { root, nowMs: nowMs(execution.server), isOne })),
)}</section>
`;
}

type At = { readonly root: string; readonly nowMs: number; readonly isOne: boolean };

function renderRow(execution: EndedExecution, { root, nowMs, isOne }: At): Html {
  const {
    server,
    project,
    id,
    job = 'ad hoc',
    ending,
    startedAtMs,
    endedAtMs,
    failedNodes = [],
    failedNodeCount,
  } = execution;
  const nodes = failedNodes.length === 0 ? undefined : html` on <bdi>${toList(failedNodes, failedNodeCount)}</bdi>`;
  const address = `${root}executions/${encodeURIComponent(server.toWellFormed())}/${id}`;
  const lengthMs = endedAtMs - startedAtMs;
  return html`<tr><th scope="row"><a href="${address}"><bdi>${job}</bdi></a> <span class="id">#${id}</span></th>${
    isOne ? undefined : html`<td data-is="Server"><bdi>${server}</bdi></td>`
  }<td data-is="Project"><bdi>${project}</bdi></td><td data-is="Result">${renderEnding(ending)}${nodes}</td><td data-is="Ended" class="brief"><time datetime="${new Date(
    endedAtMs,
  ).toISOString()}">${toAge(endedAtMs, nowMs)}</time></td><td data-is="Took" class="number">${lengthMs < 0 ? '' : toLength(lengthMs)}</td></tr>
`;
}

/** The settings that decide which executions have a page, and whether a page shows their steps. */
export type Tracing = { readonly isOn: boolean; readonly servers: readonly string[] };

type Missing = { readonly server: string; readonly id: string; readonly isId: boolean; readonly tracing: Tracing };

/** Explains which executions have a page, and why an execution may have none. */
export function renderMissing({ server, id, isId, tracing }: Missing): Html {
  return html`<h1>Execution <bdi>${cut(id)}</bdi> of <bdi>${cut(server)}</bdi> not found</h1>
${renderReason({ server, isId, tracing })}
<p class="note">Running executions, the last 1,000 finished ones, and the last 500 unsuccessful ones of jobs have a page, for each server. The steps of the last 1,000 are kept in memory, fewer if they are very large; of other executions, only the causes are known.</p>
`;
}

function renderReason({ server, isId, tracing }: Omit<Missing, 'id'>): Html {
  if (!tracing.servers.includes(server)) {
    return html`<p>No watched server has this name. Watched servers: ${tracing.servers.join(', ')}.</p>`;
  }
  if (!isId) return html`<p>This is not an execution id: ids are whole numbers.</p>`;
  return html`<p>Possible reasons:</p>
<ul>
<li>The execution has just started or ended: executions are read every few seconds, in quiet projects within <code>executions.max_delay</code>.</li>
<li>The execution ended before the exporter began to count executions of this server.</li>
<li>More than 1,000 executions of this server have ended since.</li>
<li>Its project or job is not watched, or the server has no such execution.</li>
</ul>
`;
}

/** Cuts a text of the query, which may be long. */
function cut(text: string): string {
  return text.length > longest ? `${text.slice(0, longest).toWellFormed()}…` : text;
}

const longest = 100;
