import type { Router } from 'express';
import { findProblems, type Problem, toHeadline } from '../../../status/problems.ts';
import type { Status } from '../../../status/status.ts';
import { createRoutes } from '../../server/routes.ts';
import { type Html, html } from '../html.ts';
import { renderPage, toRoot } from '../page.ts';
import { renderServer, toAnchor, toRightsAnchor } from './server-section.ts';
import { toTracesText } from './traces-text.ts';

type FrontPageOptions = {
  readonly metricsPath: string;
  readonly status: () => Promise<Status>;
  /** Reports whether an execution has a page of its own. */
  readonly hasPage: (server: string, id: number) => boolean;
};

/**
 * `/`: how each server is doing, and where everything is. It reloads itself only for who asks for that: it would take away
 * what is being read, marked and copied.
 */
export function frontPageRoute({ metricsPath, status, hasPage }: FrontPageOptions): Router {
  const router = createRoutes();
  router.get('/', async (request, response) => {
    const current = await status();
    const problems = findProblems(current);
    const refreshSeconds = 'refresh' in request.query ? shortRefreshSeconds : undefined;
    const root = toRoot(request);
    response.set('cache-control', 'no-store').send(
      renderPage({
        title: problems.length === 0 ? 'No problem seen' : `${count(problems.length, 'problem')}: ${problems[0]?.text}`,
        body: renderStatus(current, problems, { root, metricsPath, hasPage, refreshSeconds }),
        root,
        refreshSeconds,
      }),
    );
  });
  return router;
}

const shortRefreshSeconds = 30;

type About = Pick<FrontPageOptions, 'metricsPath' | 'hasPage'> & {
  readonly root: string;
  readonly refreshSeconds: number | undefined;
};

function renderStatus(status: Status, problems: readonly Problem[], about: About): Html {
  const { version, atMs, servers } = status;
  const mood = problems.length === 0 ? 'good' : 'bad';
  const at = `${new Date(atMs).toISOString().slice(0, 19).replace('T', ' ')} UTC`;
  const refresh =
    about.refreshSeconds === undefined
      ? html`<a href="?refresh">refresh every ${shortRefreshSeconds} s</a>`
      : html`refreshed every ${about.refreshSeconds} s, <a href="./">stop that</a>`;
  return html`<div class="headline ${mood}"><h1><span class="sign" aria-hidden="true">${mood === 'good' ? '✓' : '✗'}</span>${toHeadline(status, problems)}</h1>
${renderMend(problems[0])}${renderOthers(problems.slice(1), about)}</div>
<p class="note">As of ${at}; <a href="./">look again</a> or ${refresh}.</p>
${servers.map((server) => renderServer(server, { ...about, nowMs: atMs }))}
${renderLinks(status, about)}
<p class="note">Version ${version}. This page covers servers and collectors. For failing jobs, see the dashboards and alerts.</p>`;
}

/** The problems that a policy fixes, which stands further down. */
const kindsOfRights: readonly Problem['kind'][] = ['unreadable', 'denied'];

function renderMend(worst: Problem | undefined): Html | undefined {
  if (worst?.server === undefined || !kindsOfRights.includes(worst.kind)) return undefined;
  return html`<p><a href="#${toRightsAnchor(worst.server)}">Show missing permissions</a></p>\n`;
}

/** So many that a person reads them; the rest is further down. */
const mostShown = 12;

function renderOthers(problems: readonly Problem[], { root }: About): Html | undefined {
  if (problems.length === 0) return undefined;
  const items = problems.slice(0, mostShown).map(({ kind, server, text }) => {
    const place = kindsOfRights.includes(kind) ? toRightsAnchor : toAnchor;
    return html`<li><a href="${server === undefined ? `${root}traces` : `#${place(server)}`}">${text}</a></li>\n`;
  });
  const rest = problems.length - items.length;
  const more = rest > 0 ? html`<li>and ${count(rest, 'more problem')}, below</li>` : undefined;
  return html`<p>${count(problems.length, 'more problem')}:</p><ul>${items}${more}</ul>`;
}

function renderLinks({ traces, atMs }: Status, { root, metricsPath }: About): Html {
  const links = [
    [metricsPath.slice(1), 'Metrics', 'What Prometheus scrapes'],
    ['traces', 'Traces', toTracesText(traces, atMs)],
    ['dashboards/', 'Dashboards', 'Ready to import in Grafana'],
    ['alerts/rules.yaml', 'Alert rules', 'Ready to load in Prometheus'],
    ['runbooks/', 'Runbooks', 'What to do when an alert fires'],
    ['config', 'Configuration', 'The configuration in force, secrets masked'],
    ['api/status', 'Status as JSON', 'This page for programs'],
  ].map(([path, title, text]) => html`<li><a href="${root}${path}">${title}<span>${text}</span></a></li>\n`);
  return html`<h2>Where to go</h2>
<ul class="links">${links}</ul>`;
}

function count(number: number, thing: string): string {
  return `${number} ${thing}${number === 1 ? '' : 's'}`;
}
