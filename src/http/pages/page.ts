import type { Request, Router } from 'express';
import { toTime } from '../../domain/ages.ts';
import { isFailure } from '../../status/running.ts';
import type { RunningStatus } from '../../status/status.ts';
import { createRoutes } from '../server/routes.ts';
import { type Html, html, trust } from './html.ts';
import { type FindSilence, renderSilence } from './silence.ts';
import { style } from './style.ts';

type Page = {
  readonly title: string;
  readonly body: Html;
  readonly notice?: Html | undefined;
  /** The requested path of the page below the route prefix. */
  readonly path: string;
  /** The number of seconds after which browsers reload the page; by default, they never do. */
  readonly refreshSeconds?: number | undefined;
};

/** Renders a whole page around a body: without scripts, for light and dark mode and for phones, with a link to each section. */
export function renderPage({ title, body, notice, path, refreshSeconds }: Page): string {
  const refresh =
    refreshSeconds === undefined ? undefined : html`<meta http-equiv="refresh" content="${refreshSeconds}">`;
  const root = toRoot({ path });
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
${refresh}<link rel="icon" href="data:,">
<title>${title}</title>
<style>${trust(style)}</style>
</head>
<body>
<a class="skip" href="#content">Skip to content</a>
<header><a class="brand" href="${root}">automation-exporter</a>
<nav aria-label="Pages"><ul>${renderSections(root, findSection(path))}</ul></nav></header>
<main id="content">
${notice}${body}
</main>
</body>
</html>
`.text;
}

function renderSections(root: string, here: string | undefined): readonly Html[] {
  return sections.map(({ path, name }) => {
    const current = name === here ? html` aria-current="page"` : undefined;
    return html`<li><a href="${root}${path}"${current}>${name}</a></li>\n`;
  });
}

/** Returns the relative path from the requested page to the front page. A relative path is correct behind any proxy. */
export function toRoot({ path }: Pick<Request, 'path'>): string {
  return '../'.repeat(path.split('/').length - 2) || './';
}

/** The pages that every page links to, in order. */
export const sections = [
  { path: '', name: 'Status' },
  { path: 'executions', name: 'Executions' },
  { path: 'jobs', name: 'Jobs' },
  { path: 'schedule', name: 'Schedule' },
  { path: 'changes', name: 'Changes' },
  { path: 'tonight', name: 'Tonight' },
  { path: 'traces', name: 'Traces' },
  { path: 'runbooks/', name: 'Runbooks' },
  { path: 'dashboards/', name: 'Dashboards' },
  { path: 'reference', name: 'Metrics' },
  { path: 'config', name: 'Configuration' },
] as const;

/** Returns the section that a page belongs to; undefined if there is none. */
function findSection(path: string): string | undefined {
  const [, first = ''] = path.split('/');
  const name = first === 'skipped' || first === 'windows' ? 'tonight' : first;
  return sections.find((section) => section.path.replace('/', '') === name)?.name;
}

type Question<Asked, Wish, Answer> = {
  readonly name: string;
  readonly servers: () => readonly string[];
  readonly silence: FindSilence;
  /** Returns the parameters in the query, or a text about a mistake in it. */
  readonly readWish: (query: Request['query']) => Wish | string;
  readonly answer: (asked: Asked, wish: Wish) => Promise<Answer>;
  readonly titleOf: (asked: Asked) => string;
  readonly render: (answer: Answer, root: string) => Html;
};

/** Serves a question about one server: as a page at `/{name}/{server}`, and as JSON at `/api/{name}?server=`. */
export function serverRoute<Wish extends object, Answer>(question: Question<string, Wish, Answer>): Router {
  const { answer, titleOf } = question;
  return questionRoute(`/${question.name}/:server`, {
    ...question,
    answer: ([server = ''], wish) => answer(server, wish),
    titleOf: ([server = '']) => titleOf(server),
  });
}

/** Serves a question about all servers, or about the server in `?server=`, at `/{name}` and `/api/{name}`. */
export function serversRoute<Wish extends object, Answer>(question: Question<readonly string[], Wish, Answer>): Router {
  return questionRoute(`/${question.name}`, question);
}

function questionRoute<Wish extends object, Answer>(
  page: string,
  { name, servers, silence, readWish, answer, titleOf, render }: Question<readonly string[], Wish, Answer>,
): Router {
  const router = createRoutes();
  const isOfAll = page === `/${name}`;
  router.get([page, `/api/${name}`], async ({ params, query, path }, response, next) => {
    const server = params['server'] ?? query['server'] ?? '';
    const isPage = !path.startsWith('/api/');
    response.set('cache-control', 'no-store');
    const refuse = (status: number, text: string): void => {
      response.status(status).type('text/plain').send(`${text}\n`);
    };
    const asked = isOfAll && server === '' ? servers() : servers().filter((known) => known === server);
    if (asked.length === 0 && !(isOfAll && server === '')) {
      if (isPage) next();
      else refuse(404, `No server is named ${JSON.stringify(server)}. Known: ${servers().join(', ')}`);
      return;
    }
    const wish = readWish(query);
    if (typeof wish === 'string') return refuse(400, wish);
    const found = await answer(asked, wish);
    if (!isPage) return void response.json(found);
    const notice = renderSilence(asked, silence);
    response.send(renderPage({ title: titleOf(asked), notice, body: render(found, toRoot({ path })), path }));
  });
  return router;
}

/** Renders a sign beside the word, because not everybody sees colours. */
export function renderEnding(ending: string): Html {
  if (ending === 'succeeded') return html`<span class="good">✓ succeeded</span>`;
  return isFailure({ ending })
    ? html`<strong class="bad">✗ ${ending}</strong>`
    : html`<span class="off">! ${ending}</span>`;
}

/** Marks a running execution that is overdue, or that the server lists although it was interrupted. */
export function renderLate({ isOverdue, interruptedAtMs }: RunningStatus, nowMs: number): Html | undefined {
  if (interruptedAtMs !== undefined)
    return html` <strong class="bad">✗ interrupted at ${toTime(interruptedAtMs, nowMs)}</strong>`;
  return isOverdue ? html` <strong class="bad">✗ overdue</strong>` : undefined;
}
