import type { Router } from 'express';
import { toAge, toDuration } from '../../../domain/ages.ts';
import type { Pause } from '../../../domain/pause.ts';
import { isWell } from '../../../status/problem-kinds.ts';
import { findProblems, type Problem, toHeadline } from '../../../status/problems.ts';
import type { ServerStatus, Status } from '../../../status/status.ts';
import { type PageTurns, unsharedTurns } from '../../server/page-turns.ts';
import { createRoutes } from '../../server/routes.ts';
import { type Html, html } from '../html.ts';
import { renderPage, toRoot } from '../page.ts';
import { renderHours } from './hours-chart.ts';
import { renderProblems } from './problem-list.ts';
import { renderServer } from './server-section.ts';
import { renderServerTable } from './server-table.ts';
import { toTracesText } from './traces-text.ts';

type FrontPageOptions = {
  readonly metricsPath: string;
  readonly status: () => Promise<Status>;
  readonly turns?: Pick<PageTurns, 'shareByName'>;
};

/**
 * `/`: how each server is doing, and where everything is. It reloads itself only for who asks for that: it would take away
 * what is being read, marked and copied.
 */
export function frontPageRoute({ metricsPath, status, turns = unsharedTurns }: FrontPageOptions): Router {
  const router = createRoutes();
  const toPage = turns.shareByName(async (wish, pause) => {
    const current = await status();
    const problems = findProblems(current);
    const refreshSeconds = wish === 'refresh' ? shortRefreshSeconds : undefined;
    const headline = toHeadline(current, problems);
    return renderPage({
      title: problems.length > 1 && !isWell(problems) ? `${problems.length} problems: ${headline}` : headline,
      body: await renderStatus(current, problems, { root: toRoot({ path }), metricsPath, refreshSeconds }, pause),
      path,
      refreshSeconds,
    });
  });
  router.get(path, async (request, response) => {
    response.set('cache-control', 'no-store').send(await toPage('refresh' in request.query ? 'refresh' : ''));
  });
  return router;
}

const path = '/';
const shortRefreshSeconds = 30;

type About = Pick<FrontPageOptions, 'metricsPath'> & {
  readonly root: string;
  readonly refreshSeconds: number | undefined;
};

async function renderStatus(status: Status, problems: readonly Problem[], about: About, pause: Pause): Promise<Html> {
  const { atMs: nowMs } = status;
  const servers = toWorstFirst(status.servers, problems);
  const isOnly = servers.length === 1;
  const isFew = servers.filter((server) => isOf(server, problems)).length <= mostOpen;
  const at = `${new Date(nowMs).toISOString().slice(0, 19).replace('T', ' ')} UTC`;
  const refresh =
    about.refreshSeconds === undefined
      ? html`<a href="?refresh">refresh every ${shortRefreshSeconds} s</a>`
      : html`refreshed every ${about.refreshSeconds} s, <a href="./">stop that</a>`;
  const sections: Html[] = [];
  for (const server of servers) {
    sections.push(renderServer(server, { ...about, nowMs, isOnly, isOpen: isFew && isOf(server, problems) }));
    await pause();
  }
  return html`${renderProblems(status, problems, about)}
<p class="note">As of ${at}; <a href="./">look again</a> or ${refresh}.</p>
${renderHours(servers, about.root, nowMs)}${isOnly ? undefined : renderServerTable(servers)}${sections}
${renderLinks(status, about)}
${renderExporter(status)}`;
}

/** Where more servers have a problem, the list and the table name them, and all are folded away. */
const mostOpen = 3;

/** The servers in the order of their problems, then those without one as configured. */
function toWorstFirst(servers: readonly ServerStatus[], problems: readonly Problem[]): readonly ServerStatus[] {
  const places = new Map(problems.toReversed().map(({ server }, index) => [server, problems.length - index]));
  const toPlace = ({ name }: ServerStatus): number => places.get(name) ?? problems.length + 1;
  return servers.toSorted((one, other) => toPlace(one) - toPlace(other));
}

function isOf({ name }: ServerStatus, problems: readonly Problem[]): boolean {
  return problems.some(({ server }) => server === name);
}

function renderLinks({ traces, atMs }: Status, { root, metricsPath }: About): Html {
  const links = [
    ['jobs', 'Scheduled jobs', 'What missed a run or failed, and what runs next'],
    ['schedule', 'Schedule', 'What ran in the last 12 hours, and what comes'],
    [metricsPath.slice(1), 'Metrics', 'What Prometheus scrapes'],
    ['traces', 'Traces', toTracesText(traces, atMs)],
    ['alerts/rules.yaml', 'Alert rules', 'Ready to load in Prometheus'],
    ['api/status', 'Status as JSON', 'This page for programs'],
  ].map(([path, title, text]) => html`<li><a href="${root}${path}">${title}<span>${text}</span></a></li>\n`);
  return html`<h2>Where to go</h2>
<ul class="links">${links}</ul>`;
}

function renderExporter({ version, atMs, startedAtMs, loadedAtMs, failedReload }: Status): Html {
  const failed = failedReload === undefined ? '' : `; a reload failed ${toAge(failedReload.atMs, atMs)}`;
  return html`<p class="note">automation-exporter ${version}, up for ${toDuration(atMs - startedAtMs)}; configuration read ${toAge(loadedAtMs, atMs)}${failed}.</p>`;
}
