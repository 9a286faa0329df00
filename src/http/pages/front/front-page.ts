import type { Router } from 'express';
import { toAge, toDuration, toMoment, toTime } from '../../../domain/ages.ts';
import { toCount } from '../../../domain/format.ts';
import type { Pause } from '../../../domain/pause.ts';
import { isWell } from '../../../status/problem-kinds.ts';
import { findProblems, type Problem, toHeadline } from '../../../status/problems.ts';
import type { HourOfRuns, ServerStatus, Status, TracesStatus } from '../../../status/status.ts';
import { type PageTurns, unsharedTurns } from '../../server/page-turns.ts';
import { createRoutes } from '../../server/routes.ts';
import { type Bar, renderChart } from '../chart.ts';
import { type Html, html } from '../html.ts';
import { renderPage, toRoot } from '../page.ts';
import { renderProblems } from './problem-list.ts';
import { renderServer } from './server-section.ts';
import { renderServerTable } from './server-table.ts';

type FrontPageOptions = {
  readonly metricsPath: string;
  readonly status: () => Promise<Status>;
  readonly turns?: Pick<PageTurns, 'shareByName'>;
};

/** `/`: the state of each server, and links to everything. Auto-refresh is off by default, because it disturbs reading. */
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
  const isFew = servers.filter((server) => isOf(server, problems)).length <= maxOpen;
  const at = toMoment(nowMs);
  const refresh =
    about.refreshSeconds === undefined
      ? html`<a href="?refresh">refresh every ${shortRefreshSeconds} s</a>`
      : html`refreshed every ${about.refreshSeconds} s, <a href="./">stop refreshing</a>`;
  const sections: Html[] = [];
  for (const server of servers) {
    sections.push(renderServer(server, { ...about, nowMs, isOnly, isOpen: isFew && isOf(server, problems) }));
    await pause();
  }
  return html`${renderProblems(status, problems, about)}
<p class="note">As of ${at}; <a href="./">reload</a> or ${refresh}.</p>
${renderHours(servers, about.root, nowMs)}${isOnly ? undefined : renderServerTable(servers)}${sections}
${renderLinks(status, about)}
${renderExporter(status)}`;
}

/** If more servers than this have a problem, all servers are folded. The list and the table still name those with a problem. */
const maxOpen = 3;

/** Sorts servers by their worst problem. Servers without a problem follow in the configured order. */
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
    ['jobs', 'Scheduled jobs', 'Missed and failed runs, and the next runs'],
    ['schedule', 'Schedule', 'Runs of the last 12 hours, and coming runs'],
    [metricsPath.slice(1), 'Metrics', 'What Prometheus scrapes'],
    ['traces', 'Traces', toTracesText(traces, atMs)],
    ['alerts/rules.yaml', 'Alert rules', 'Ready to load in Prometheus'],
    ['api/status', 'Status as JSON', 'This page for programs'],
  ].map(([path, title, text]) => html`<li><a href="${root}${path}">${title}<span>${text}</span></a></li>\n`);
  return html`<h2>Pages</h2>
<ul class="links">${links}</ul>`;
}

function renderExporter({ version, atMs, startedAtMs, loadedAtMs, failedReload }: Status): Html {
  const failed = failedReload === undefined ? '' : `; a reload failed ${toAge(failedReload.atMs, atMs)}`;
  return html`<p class="note">automation-exporter ${version}, up for ${toDuration(atMs - startedAtMs)}; configuration read ${toAge(loadedAtMs, atMs)}${failed}.</p>`;
}

/** Draws the runs and failures of all servers by hour. Returns undefined if no run has ended yet. */
function renderHours(servers: readonly ServerStatus[], root: string, nowMs: number): Html | undefined {
  const hours = joinHours(servers);
  const known = hours.filter(({ runs }) => runs !== undefined);
  const [first] = known;
  if (first === undefined) return undefined;
  const runs = known.reduce((sum, hour) => sum + (hour.runs ?? 0), 0);
  const failures = known.reduce((sum, hour) => sum + hour.failures, 0);
  const since = known.length === hours.length ? 'in 24 h' : `since ${toTime(first.sinceMs ?? first.startMs, nowMs)}`;
  const most = Math.max(...known.map((hour) => hour.runs ?? 0));
  const failed =
    failures === 0
      ? html`none failed`
      : html`<a href="${root}executions?result=failures">${failures.toLocaleString('en')} failed</a>`;
  return renderChart({
    caption: html`<a href="${root}executions">${toCount(runs, 'execution')}</a> ended ${since}, ${failed}`,
    label: `Executions by the hour ${since}: ${runs} ended, ${failures} of them failed`,
    bars: hours.map((hour) => toBar(hour, nowMs)),
    ends: [toTime(hours[0]?.startMs ?? nowMs, nowMs), 'now'],
    top: `${most} an hour`,
    least: 1,
  });
}

/** Adds up the hours of all servers. Omits an hour that is unknown for every server. */
function joinHours(servers: readonly ServerStatus[]): readonly HourOfRuns[] {
  const all = servers.flatMap(({ executions }) => (executions === undefined ? [] : [executions.hours]));
  const byStart = Map.groupBy(all.flat(), ({ startMs }) => startMs);
  const isKnown = (hour: HourOfRuns): boolean => hour.runs !== undefined;
  return [...byStart]
    .toSorted(([one], [other]) => one - other)
    .slice(-24)
    .map(([startMs, hours]) => ({
      startMs,
      runs: hours.some(isKnown) ? hours.reduce((sum, { runs = 0 }) => sum + runs, 0) : undefined,
      failures: hours.reduce((sum, { failures }) => sum + failures, 0),
      sinceMs: hours.some(isKnown)
        ? Math.min(...hours.filter(isKnown).map((hour) => hour.sinceMs ?? startMs))
        : undefined,
    }));
}

function toBar({ startMs, sinceMs, runs, failures }: HourOfRuns, nowMs: number): Bar {
  const from = toTime(sinceMs ?? startMs, nowMs);
  if (runs === undefined) return { parts: [], label: `from ${from}: unknown` };
  return {
    parts: [
      { height: runs - failures, mood: 'plain' },
      { height: failures, mood: 'bad' },
    ],
    label: `from ${from}: ${runs} ended, ${failures} failed`,
  };
}

/** Describes the delivery of traces in a few words. */
function toTracesText(traces: TracesStatus | undefined, nowMs: number): string {
  if (traces === undefined) return 'The state cannot be read';
  const { delivery, waiting, oldestMs, quarantine } = traces;
  if (delivery === undefined) return 'Off; see how to switch traces on';
  const facts = [
    delivery.failing === undefined ? undefined : '✗ delivery fails',
    quarantine === 0 ? undefined : `✗ ${quarantine.toLocaleString('en')} quarantined`,
    waiting === 0
      ? undefined
      : `${toCount(waiting, 'trace')} to deliver${oldestMs === undefined ? '' : `, the first finished ${toAge(oldestMs, nowMs)}`}`,
  ].filter((fact) => fact !== undefined);
  return facts.length === 0 ? 'All delivered' : facts.join('; ');
}
