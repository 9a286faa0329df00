import type { Router } from 'express';
import { toAge, toLength } from '../../../domain/ages.ts';
import { toCount, toList } from '../../../domain/format.ts';
import { filterInPieces, noPause, type Pause } from '../../../domain/pause.ts';
import type { EndedExecution } from '../../../status/status.ts';
import { createRoutes } from '../../server/routes.ts';
import { allowForms } from '../../server/security-headers.ts';
import { type Html, html } from '../html.ts';
import { renderEnding, renderPage, toRoot } from '../page.ts';
import { type FindSilence, renderSilence } from '../silence.ts';
import { type Filter, readFilter, renderPages, toChoice } from './execution-filter.ts';

export type ExecutionListOptions = {
  /** Returns the finished executions of all servers that are kept for pages, newest first. */
  readonly ended: () => Promise<readonly EndedExecution[]>;
  readonly servers: () => readonly string[];
  /** The values of a result, as in executions. */
  readonly endings: readonly string[];
  readonly silence: FindSilence;
  readonly nowMs: () => number;
  /** Call at the start of a request; pause during long work. */
  readonly begin?: () => Pause;
};

/** `/executions`: finished executions, filtered by result, server, project and text in the query. */
export function executionListRoute(options: ExecutionListOptions): Router {
  const { ended, servers, endings, silence, nowMs, begin = () => noPause } = options;
  const router = createRoutes();
  router.get('/executions', async (request, response) => {
    const all = await ended();
    const filter = readFilter(new URLSearchParams(/\?(.*)$/s.exec(request.originalUrl)?.[1]));
    const chosen = await filterInPieces(all, toChoice(filter), begin());
    const body = renderList(all, {
      chosen,
      filter,
      servers: servers(),
      endings,
      root: toRoot(request),
      nowMs: nowMs(),
    });
    const shown = filter.server === '' ? servers() : [filter.server];
    const notice = renderSilence(shown, silence);
    allowForms(response);
    response
      .set('cache-control', 'no-store')
      .send(renderPage({ title: 'Last finished executions', notice, body, path: request.path }));
  });
  return router;
}

type About = {
  /** All matching executions, not only those of this page. */
  readonly chosen: readonly EndedExecution[];
  readonly filter: Filter;
  readonly servers: readonly string[];
  readonly endings: readonly string[];
  readonly root: string;
  readonly nowMs: number;
};

const onePage = 100;

function renderList(all: readonly EndedExecution[], about: About): Html {
  const { chosen } = about;
  const pages = Math.max(1, Math.ceil(chosen.length / onePage));
  const page = Math.min(about.filter.page, pages);
  const shown = chosen.slice((page - 1) * onePage, page * onePage);
  const count =
    chosen.length === all.length
      ? toCount(all.length, 'execution')
      : `${chosen.length} of ${toCount(all.length, 'execution')}`;
  return html`<h1>Last finished executions</h1>
${renderForm(all, about)}
<p class="note">${count}, newest first. The last 1,000 of each server are kept.</p>
${shown.length === 0 ? renderNothing(all) : renderTable(shown, about)}${renderPages('executions', about.filter, { page, pages })}`;
}

function renderNothing(all: readonly EndedExecution[]): Html {
  return all.length === 0
    ? html`<p>No execution that ended is known yet.</p>\n`
    : html`<p>No execution matches. <a href="executions">Show all</a></p>\n`;
}

function renderForm(all: readonly EndedExecution[], { filter, servers, endings }: About): Html {
  const results = ['', 'failures', ...endings].map(
    (result) =>
      html`<option value="${result}"${result === filter.result ? html` selected` : undefined}>${resultWords[result] ?? result}</option>`,
  );
  const options = ['', ...servers].map(
    (server) =>
      html`<option value="${server}"${server === filter.server ? html` selected` : undefined}>${server === '' ? 'any' : server}</option>`,
  );
  const projects = [...new Set(all.map(({ project }) => project))].toSorted().slice(0, maxSuggested);
  const server = html`<label>Server <select name="server">${options}</select></label>\n`;
  return html`<form class="filter" method="get" action="executions" role="search">
<label>Result <select name="result">${results}</select></label>
${servers.length > 1 ? server : undefined}<label>Project <input name="project" value="${filter.project}" list="projects"></label>
<datalist id="projects">${projects.map((project) => html`<option value="${project}"></option>`)}</datalist>
<label>Job or id <input name="text" type="search" value="${filter.text}"></label>
<button>Show</button>
</form>`;
}

const resultWords: Readonly<Record<string, string>> = { '': 'any', failures: 'all failures' };
const maxSuggested = 200;

function renderTable(executions: readonly EndedExecution[], about: About): Html {
  const isOne = about.servers.length < 2;
  return html`<section>
<table>
<thead><tr><th>Job</th>${isOne ? undefined : html`<th>Server</th>`}<th>Project</th><th>Result</th><th>Ended</th><th class="number">Took</th></tr></thead>
<tbody>${executions.map((execution) => renderRow(execution, about, isOne))}</tbody>
</table>
</section>
`;
}

function renderRow(execution: EndedExecution, { root, nowMs }: About, isOne: boolean): Html {
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

/** The settings that decide which executions have a page, and whether it shows their steps. */
export type Tracing = { readonly isOn: boolean; readonly servers: readonly string[] };

type Missing = { readonly server: string; readonly id: string; readonly isId: boolean; readonly tracing: Tracing };

/** Explains which executions have a page, and why this one may not. */
export function renderMissing({ server, id, isId, tracing }: Missing): Html {
  return html`<h1>Execution <bdi>${cut(id)}</bdi> of <bdi>${cut(server)}</bdi> not found</h1>
${renderReason({ server, isId, tracing })}
<p class="note">Running executions and the last 1,000 finished ones of each server have a page. The steps of the last 1,000 are kept in memory, fewer if they are very large. After a restart, the causes of the last 500 unsuccessful executions of each server are still known.</p>
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

/** Cuts a text from the query, which may be long. */
function cut(text: string): string {
  return text.length > longest ? `${text.slice(0, longest).toWellFormed()}…` : text;
}

const longest = 100;
