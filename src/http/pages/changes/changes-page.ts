import type { Router } from 'express';
import { changeKinds, toShownMs } from '../../../diagnosis/changes/deciding/change.ts';
import { toAge, toTime } from '../../../domain/ages.ts';
import { toCount } from '../../../domain/format.ts';
import type { Pause } from '../../../domain/pause.ts';
import { renderPathLink } from '../addresses.ts';
import { type Html, html, toTable } from '../html.ts';
import { listRoute, renderProjects, renderSelect, renderServers, type Shown } from '../list.ts';
import type { FindSilence } from '../silence.ts';
import {
  type ChangeFilter,
  type ChangeOfServer,
  changeFields,
  findWrongTime,
  toChangeChoice,
} from './change-filter.ts';

type ChangesPageOptions = {
  /** Returns the changes of all servers, newest first. */
  readonly changes: () => Promise<readonly ChangeOfServer[]>;
  readonly servers: () => readonly string[];
  /** Returns how many changes of a server were dropped because there were too many. */
  readonly dropped: (server: string) => number;
  readonly silence: FindSilence;
  /** Returns the time by the clock of a server or, without a server, of the exporter. */
  readonly nowMs: (server: string) => number;
  /** Call at the start of a request; await its result between parts of long work. */
  readonly begin: () => Pause;
};

/** `/changes`: what changed, filtered by the query. */
export function changesPageRoute({ changes, dropped, nowMs, ...options }: ChangesPageOptions): Router {
  return listRoute({
    ...options,
    path: 'changes',
    title: 'Changes',
    noun: 'change',
    fields: changeFields,
    items: changes,
    toChoice: toChangeChoice,
    render: (shown) => html`<h1>Changes</h1>
${renderForm(shown, nowMs(shown.filter.server))}
<p class="note">${shown.count}, newest first. The changes of the last 30 days are kept, at most 20,000 per server.${renderDropped(shown.servers, dropped)}</p>
${shown.items.length === 0 ? renderNothing(shown) : renderTable(shown, nowMs)}${shown.links}`,
  });
}

type Changes = Shown<ChangeOfServer, keyof ChangeFilter>;

function renderDropped(servers: readonly string[], dropped: ChangesPageOptions['dropped']): string {
  const count = servers.reduce((sum, server) => sum + dropped(server), 0);
  return count === 0 ? '' : ` ${toCount(count, 'change')} beyond that ${count === 1 ? 'was' : 'were'} dropped.`;
}

function renderNothing({ all, filter }: Changes): Html {
  const wrong = findWrongTime(filter);
  if (wrong !== undefined) return html`<p>${wrong}. <a href="changes">Show all</a></p>\n`;
  return all.length === 0
    ? html`<p>No change has been seen since this exporter first read the servers.</p>\n`
    : html`<p>No change matches. <a href="changes">Show all</a></p>\n`;
}

function renderForm({ all, filter, servers }: Changes, nowMs: number): Html {
  return html`<form class="filter" method="get" action="changes" role="search">
<label>Kind ${renderSelect('kind', ['', ...changeKinds], filter.kind)}</label>
${renderServers(servers, filter.server)}${renderProjects(all, filter.project)}
<label>Text <input name="text" type="search" value="${filter.text}"></label>
<label>Since (UTC) <input name="since" value="${filter.since}" size="17" placeholder="${toMinute(nowMs - 86_400_000)}"></label>
<label>Until (UTC) <input name="until" value="${filter.until}" size="17" placeholder="${toMinute(nowMs)}"></label>
<button>Show</button>
</form>`;
}

function toMinute(atMs: number): string {
  return new Date(atMs).toISOString().slice(0, 16);
}

function renderTable({ items, servers, root }: Changes, nowMs: ChangesPageOptions['nowMs']): Html {
  const isOne = servers.length < 2;
  return html`<section>
${toTable(
  ['What', 'Kind', isOne ? undefined : 'Server', 'Project', 'Change', 'When'],
  items.map((change) => renderRow(change, { root, nowMs: nowMs(change.server), isOne })),
)}</section>
`;
}

const ofJobs = ['definition', 'job', 'switch', 'owner', 'run'];

type At = { readonly root: string; readonly nowMs: number; readonly isOne: boolean };

function renderRow(change: ChangeOfServer, { root, nowMs, isOne }: At): Html {
  const { server, kind, project, subject, what, by } = change;
  const name = subject === '' ? server : subject;
  const shown = ofJobs.includes(kind) ? renderPathLink(server, subject, root) : html`<bdi>${name}</bdi>`;
  return html`<tr><th scope="row">${shown}</th><td data-is="Kind" class="brief">${kind}</td>${
    isOne ? undefined : html`<td data-is="Server" class="server"><bdi>${server}</bdi></td>`
  }<td data-is="Project" class="${project === '' ? 'none' : ''}"><bdi>${project}</bdi></td><td class="change"><bdi>${what}</bdi>${
    by === undefined ? undefined : html` by <bdi>${by}</bdi>`
  }</td><td data-is="When" class="brief">${renderWhen(change, nowMs)}</td></tr>
`;
}

/** Renders the server's own time of a change, or else the span in which the change happened. */
export function renderWhen(change: Pick<ChangeOfServer, 'atMs' | 'afterMs' | 'beforeMs'>, nowMs: number): Html {
  const { atMs, afterMs, beforeMs } = change;
  const shownMs = toShownMs(change);
  const span = atMs === undefined && beforeMs - afterMs >= 1000 ? html`, after ${toTime(afterMs, nowMs)}` : undefined;
  return html`<time datetime="${new Date(shownMs).toISOString()}">${toTime(shownMs, nowMs)}</time> (${toAge(shownMs, nowMs)}${span})`;
}
