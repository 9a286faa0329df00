import type { Router } from 'express';
import { toAge, toWait } from '../../../domain/ages.ts';
import { toJobPath } from '../../../domain/job-path.ts';
import { toCount } from '../../../domain/sizes.ts';
import type { ScheduledJob } from '../../../expected-runs/expected-runs.ts';
import { createRoutes } from '../../server/routes.ts';
import { allowForms } from '../../server/security-headers.ts';
import { type Html, html } from '../html.ts';
import { renderPage, toRoot } from '../page.ts';
import { renderStrip } from './verdict-strip.ts';

export type JobListOptions = {
  readonly jobs: () => readonly ScheduledJob[];
  readonly nowMs: () => number;
};

/** `/jobs`: every watched scheduled job, what was missed first; the choice stands in the address. */
export function jobListRoute({ jobs, nowMs }: JobListOptions): Router {
  const router = createRoutes();
  router.get('/jobs', (request, response) => {
    const query = new URLSearchParams(/\?(.*)$/s.exec(request.originalUrl)?.[1]);
    const wish = { text: (query.get('text') ?? '').trim().slice(0, longest), state: query.get('state') ?? '' };
    const page = Math.max(1, Math.trunc(Number(query.get('page') ?? '1')) || 1);
    const body = renderList(jobs(), { wish, page, root: toRoot(request), nowMs: nowMs() });
    allowForms(response);
    response.set('cache-control', 'no-store').send(renderPage({ title: 'Scheduled jobs', body, path: request.path }));
  });
  return router;
}

type Wish = { readonly text: string; readonly state: string };
type About = { readonly wish: Wish; readonly page: number; readonly root: string; readonly nowMs: number };

const longest = 200;
const onePage = 100;
const states = {
  '': 'any',
  missed: 'missed its last run',
  ran: 'ran',
  off: 'switched off',
  unknown: 'not decided',
} as const;

/** Names the state of a job: the decision about its last time, or that it is off. */
export function toState({ verdicts, isOff }: ScheduledJob): 'missed' | 'ran' | 'off' | 'unknown' {
  if (isOff) return 'off';
  const is = verdicts.at(-1)?.is;
  return is === undefined || is === 'undecided' ? 'unknown' : is;
}

function renderList(all: readonly ScheduledJob[], about: About): Html {
  const { wish, page } = about;
  const text = wish.text.toLowerCase();
  const chosen = all
    .filter((job) => wish.state === '' || toState(job) === wish.state)
    .filter((job) => text === '' || `${job.server}/${toJobPath(job)}`.toLowerCase().includes(text))
    .toSorted(byUrgency);
  const pages = Math.max(1, Math.ceil(chosen.length / onePage));
  const here = Math.min(page, pages);
  const shown = chosen.slice((here - 1) * onePage, here * onePage);
  return html`<h1>Scheduled jobs</h1>
${renderForm(wish)}
<p class="note">${chosen.length === all.length ? toCount(all.length, 'job') : `${chosen.length} of ${toCount(all.length, 'job')}`}, those that missed a run first.</p>
${shown.length === 0 ? html`<p>No scheduled job ${all.length === 0 ? 'is watched yet' : 'matches'}.</p>\n` : renderTable(shown, about)}${renderPages(here, pages, wish)}`;
}

const order = { missed: 0, unknown: 1, ran: 2, off: 3 } as const;

function byUrgency(one: ScheduledJob, other: ScheduledJob): number {
  const path = (job: ScheduledJob): string => `${job.server}/${toJobPath(job)}`;
  return order[toState(one)] - order[toState(other)] || (path(one) < path(other) ? -1 : 1);
}

function renderForm({ text, state }: Wish): Html {
  const options = Object.entries(states).map(
    ([value, word]) => html`<option value="${value}"${value === state ? html` selected` : undefined}>${word}</option>`,
  );
  return html`<form class="filter" method="get" action="jobs" role="search">
<label>State <select name="state">${options}</select></label>
<label>Job <input name="text" type="search" value="${text}"></label>
<button>Show</button>
</form>`;
}

function renderTable(jobs: readonly ScheduledJob[], { root, nowMs }: About): Html {
  return html`<section>
<table>
<thead><tr><th>Job</th><th>Server</th><th>Last expected</th><th>Last times</th><th>Next</th></tr></thead>
<tbody>${jobs.map((job) => renderRow(job, root, nowMs))}</tbody>
</table>
</section>
`;
}

function renderRow(job: ScheduledJob, root: string, nowMs: number): Html {
  const last = job.verdicts.at(-1);
  const next = job.nextMs === undefined ? 'never' : toWait(job.nextMs, nowMs);
  return html`<tr><th scope="row"><a href="${root}${toJobAddress(job)}"><bdi>${toJobPath(job)}</bdi></a></th><td data-is="Server"><bdi>${job.server}</bdi></td><td data-is="Last expected" class="brief">${last === undefined ? '' : toAge(last.expectedMs, nowMs)}</td><td data-is="Last times">${renderStrip(job.verdicts)}</td><td data-is="Next" class="brief">${next}</td></tr>
`;
}

/** The path of a job's page below the route prefix. */
export function toJobAddress({ server, ...job }: Pick<ScheduledJob, 'server' | 'project' | 'group' | 'name'>): string {
  const segments = [server, ...toJobPath(job).split('/')];
  return `jobs/${segments.map((segment) => encodeURIComponent(segment.toWellFormed())).join('/')}`;
}

function renderPages(page: number, pages: number, { text, state }: Wish): Html | undefined {
  if (pages === 1) return undefined;
  const to = (target: number, words: string): Html | undefined => {
    if (target < 1 || target > pages) return undefined;
    const query = new URLSearchParams({ text: text.toWellFormed(), state: state.toWellFormed(), page: String(target) });
    return html`<a href="jobs?${query.toString()}">${words}</a> `;
  };
  return html`<p>${to(page - 1, '← before')}page ${page} of ${pages} ${to(page + 1, 'after →')}</p>\n`;
}
