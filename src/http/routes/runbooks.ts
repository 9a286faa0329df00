import type { Router } from 'express';
import { kindsOfProblems, type Place } from '../../status/problem-kinds.ts';
import { type Html, html, trust } from '../pages/html.ts';
import { renderPage, toRoot } from '../pages/page.ts';
import { type Content, linkTo } from '../server/content.ts';
import { toLinkUrl, type Urls } from '../server/hosts.ts';
import { createRoutes } from '../server/routes.ts';

/** Serves a page for each alert, so that runbook links work without internet access. */
export function runbookRoutes(
  { runbooks, rules }: Pick<Content, 'runbooks' | 'rules'>,
  urls: Urls,
  siteChanges: (alert: string) => Promise<readonly string[]> = async () => [],
): Router {
  const router = createRoutes();
  router.get(['/runbooks', '/runbooks/'], (request, response) => {
    const root = toRoot(request);
    const entries = [...runbooks].map(([name, markdown]) => ({ name, severity: findSeverity(rules, name), markdown }));
    const body = html`<h1>Runbooks</h1>
${severities.map((severity) => renderList(severity, { root, entries: entries.filter((one) => one.severity === severity) }))}`;
    response.send(renderPage({ title: 'Runbooks', body, path: request.path }));
  });
  router.get('/runbooks/:name', async (request, response, next) => {
    const { name } = request.params;
    const markdown = runbooks.get(name);
    if (markdown === undefined) {
      next();
      return;
    }
    // The module is imported on the first request, so that it does not delay the start.
    const { marked } = await import('marked');
    const changes = renderChanges(await siteChanges(name));
    const body = html`${trust(await marked.parse(toLinks(linkTo(toLinkUrl(request, urls), markdown))))}${changes}${renderPlace(name, toRoot(request))}`;
    response.send(renderPage({ title: name, body, path: request.path }));
  });
  return router;
}

/** Turns references to other runbooks and to paths of this exporter into links. */
function toLinks(markdown: string): string {
  return markdown.replaceAll(/(\]\(\w+)\.md\)/g, '$1)').replaceAll(/`\/(\w*)`/g, '[`/$1`](../$1)');
}

/** Names the configured changes of an alert, because the text above describes the default limits. */
function renderChanges(changes: readonly string[]): Html | undefined {
  if (changes.length === 0) return undefined;
  return html`<p class="note">The configuration of this exporter changes this alert:</p>
<ul>${changes.map((change) => html`<li><code>${change}</code></li>`)}</ul>
`;
}

/** Links to the page that shows the current cause of an alert, for all servers. */
function renderPlace(alert: string, root: string): Html | undefined {
  const kind = Object.values(kindsOfProblems).find(({ alerts }) => (alerts as readonly string[]).includes(alert));
  if (alert === 'AutomationExporterDown') return undefined;
  const [path, words] = places[kind?.page ?? 'server'];
  return html`<p class="note">This exporter shows the problem on <a href="${root}${path}">${words}</a>.</p>\n`;
}

const front = ['', 'the front page'] as const;
const places: Readonly<Record<Place, readonly [string, string]>> = {
  server: front,
  rights: front,
  config: front,
  traces: ['traces', 'the page of traces'],
  schedule: ['schedule', 'the schedule'],
  tonight: ['tonight', 'the page of coming runs'],
  failures: ['executions?result=failures', 'the list of failed executions'],
  jobs: ['jobs', 'the list of jobs'],
  'failed jobs': ['jobs?state=failed', 'the list of jobs'],
  'off jobs': ['jobs?state=off', 'the list of jobs'],
};

type Entry = { readonly name: string; readonly severity: string; readonly markdown: string };

const severities = ['critical', 'warning', 'info'] as const;

function findSeverity(rules: string, alert: string): string {
  const [, rule = ''] = new RegExp(`- alert: ${alert}\\n(.*?)(?:- alert: |$)`, 's').exec(rules) ?? [];
  return /^ *severity: (\w+)$/m.exec(rule)?.[1] ?? 'info';
}

function renderList(severity: string, { root, entries }: { root: string; entries: readonly Entry[] }): Html {
  if (entries.length === 0) return html``;
  const links = entries.map(
    ({ name, markdown }) =>
      html`<li><a href="${root}runbooks/${name}">${name}<span>${toFirstSentence(markdown)}</span></a></li>\n`,
  );
  return html`<h2 class="${severity === 'critical' ? 'bad' : ''}">${severity.replace(/^./, (first) => first.toUpperCase())}</h2>
<ul class="links wide">${links}</ul>
`;
}

/** Returns the first sentence about the meaning of an alert, without Markdown. */
function toFirstSentence(markdown: string): string {
  const [, meaning = ''] = /^## Meaning\s+(.*)$/m.exec(markdown) ?? [];
  const [, sentence = meaning] = /^((?:`[^`]*`|[^`])*?[.:])(?:\s|$)/.exec(meaning) ?? [];
  return sentence.replaceAll('`', '').replace(/:$/, '.');
}
