import type { Router } from 'express';
import { changeKinds, toShownMs } from '../../../diagnosis/changes/deciding/change.ts';
import { toAge, toTime } from '../../../domain/ages.ts';
import { toCount } from '../../../domain/format.ts';
import type { Pause } from '../../../domain/pause.ts';
import { createRoutes } from '../../server/routes.ts';
import { allowForms } from '../../server/security-headers.ts';
import { renderPathLink } from '../addresses.ts';
import { renderPages } from '../execution/execution-filter.ts';
import { type Html, html } from '../html.ts';
import { renderPage, toRoot } from '../page.ts';
import { type FindSilence, renderSilence } from '../silence.ts';
import { type ChangeFilter, type ChangeOfServer, chooseChanges, readChangeFilter } from './change-filter.ts';

export type ChangesPageOptions = {
  /** Returns the changes of all servers, newest first. */
  readonly changes: () => Promise<readonly ChangeOfServer[]>;
  readonly servers: () => readonly string[];
  /** Returns how many changes of a server were dropped because there were too many. */
  readonly dropped: (server: string) => number;
  readonly silence: FindSilence;
  readonly nowMs: () => number;
  /** Call at the start of a request; pause during long work. */
  readonly begin: () => Pause;
};

/** `/changes`: what changed, filtered by the query. */
export function changesPageRoute(options: ChangesPageOptions): Router {
  const { changes, servers, dropped, silence, nowMs, begin } = options;
  const router = createRoutes();
  router.get('/changes', async (request, response) => {
    const query = new URLSearchParams(/\?(.*)$/s.exec(request.originalUrl)?.[1]);
    const filter = readChangeFilter(query);
    const all = await changes();
    const chosen = await chooseChanges(all, filter, begin());
    const page = Math.max(1, Math.floor(Number(query.get('page') ?? '1')) || 1);
    const about = { all, chosen, filter, page, servers: servers(), dropped, root: toRoot(request), nowMs: nowMs() };
    const notice = renderSilence(filter.server === '' ? servers() : [filter.server], silence);
    allowForms(response);
    response
      .set('cache-control', 'no-store')
      .send(renderPage({ title: 'Changes', notice, body: renderChanges(about), path: request.path }));
  });
  return router;
}

type About = {
  readonly all: readonly ChangeOfServer[];
  readonly chosen: readonly ChangeOfServer[];
  readonly filter: ChangeFilter;
  readonly page: number;
  readonly servers: readonly string[];
  readonly dropped: (server: string) => number;
  readonly root: string;
  readonly nowMs: number;
};

const onePage = 100;

function renderChanges(about: About): Html {
  const { all, chosen } = about;
  const pages = Math.max(1, Math.ceil(chosen.length / onePage));
  const page = Math.min(about.page, pages);
  const shown = chosen.slice((page - 1) * onePage, page * onePage);
  const count =
    chosen.length === all.length
      ? toCount(all.length, 'change')
      : `${chosen.length} of ${toCount(all.length, 'change')}`;
  return html`<h1>Changes</h1>
${renderForm(about)}
<p class="note">${count}, newest first. The changes of 30 days are kept, at most 20,000 of each server.${renderDropped(about)}</p>
${shown.length === 0 ? renderNothing(all) : renderTable(shown, about)}${renderPages('changes', about.filter, { page, pages })}`;
}

function renderDropped({ servers, dropped }: About): string {
  const count = servers.reduce((sum, server) => sum + dropped(server), 0);
  return count === 0 ? '' : ` ${toCount(count, 'change')} beyond that ${count === 1 ? 'was' : 'were'} dropped.`;
}

function renderNothing(all: readonly ChangeOfServer[]): Html {
  return all.length === 0
    ? html`<p>No change was seen since this exporter compares what it reads.</p>\n`
    : html`<p>No change matches. <a href="changes">Show all</a></p>\n`;
}

function renderForm({ all, filter, servers, nowMs }: About): Html {
  const kinds = renderSelect('kind', ['', ...changeKinds], filter.kind);
  const server = html`<label>Server ${renderSelect('server', ['', ...servers], filter.server)}</label>\n`;
  const projects = [...new Set(all.map(({ project }) => project))].filter(Boolean).toSorted().slice(0, maxSuggested);
  return html`<form class="filter" method="get" action="changes" role="search">
<label>Kind ${kinds}</label>
${servers.length > 1 ? server : undefined}<label>Project <input name="project" value="${filter.project}" list="projects"></label>
<datalist id="projects">${projects.map((project) => html`<option value="${project}"></option>`)}</datalist>
<label>Text <input name="text" type="search" value="${filter.text}"></label>
<label>Since (UTC) <input name="since" value="${filter.since}" size="17" placeholder="${toMinute(nowMs - 86_400_000)}"></label>
<label>Until (UTC) <input name="until" value="${filter.until}" size="17" placeholder="${toMinute(nowMs)}"></label>
<button>Show</button>
</form>`;
}

function toMinute(atMs: number): string {
  return new Date(atMs).toISOString().slice(0, 16);
}

function renderSelect(name: string, values: readonly string[], chosen: string): Html {
  const options = values.map(
    (value) =>
      html`<option value="${value}"${value === chosen ? html` selected` : undefined}>${value === '' ? 'any' : value}</option>`,
  );
  return html`<select name="${name}">${options}</select>`;
}

const maxSuggested = 200;

function renderTable(changes: readonly ChangeOfServer[], about: About): Html {
  const isOne = about.servers.length < 2;
  return html`<section>
<table>
<thead><tr><th>What</th><th>Kind</th>${isOne ? undefined : html`<th>Server</th>`}<th>Project</th><th>Change</th><th>When</th></tr></thead>
<tbody>${changes.map((change) => renderRow(change, about, isOne))}</tbody>
</table>
</section>
`;
}

const ofJobs = ['definition', 'job', 'switch', 'owner', 'run'];

function renderRow(change: ChangeOfServer, { root, nowMs }: About, isOne: boolean): Html {
  const { server, kind, project, subject, what, by } = change;
  const name = subject === '' ? server : subject;
  const shown = ofJobs.includes(kind) ? renderPathLink(server, subject, root) : html`<bdi>${name}</bdi>`;
  return html`<tr><th scope="row">${shown}</th><td data-is="Kind">${kind}</td>${
    isOne ? undefined : html`<td data-is="Server"><bdi>${server}</bdi></td>`
  }<td data-is="Project" class="${project === '' ? 'none' : ''}"><bdi>${project}</bdi></td><td><bdi>${what}</bdi>${
    by === undefined ? undefined : html` by <bdi>${by}</bdi>`
  }</td><td data-is="When" class="brief">${renderWhen(change, nowMs)}</td></tr>
`;
}

/** Renders the server's own time of a change, otherwise the span in which the change happened. */
export function renderWhen(change: Pick<ChangeOfServer, 'atMs' | 'afterMs' | 'beforeMs'>, nowMs: number): Html {
  const { atMs, afterMs, beforeMs } = change;
  const shownMs = toShownMs(change);
  const span = atMs === undefined && beforeMs - afterMs >= 1000 ? html`, after ${toTime(afterMs, nowMs)}` : undefined;
  return html`<time datetime="${new Date(shownMs).toISOString()}">${toTime(shownMs, nowMs)}</time> (${toAge(shownMs, nowMs)}${span})`;
}
