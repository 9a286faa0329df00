import type { Router } from 'express';
import { toScheduled, toTime, toWait } from '../../../domain/ages.ts';
import { toCount } from '../../../domain/format.ts';
import { toJobPath } from '../../../domain/job.ts';
import type { NextStart, ServerSchedule, TimeOfJob } from '../../../expected-runs/showing/server-schedule.ts';
import { createRoutes } from '../../server/routes.ts';
import { renderPathLink, toExecutionAddress, toScheduleAddress } from '../addresses.ts';
import { type Html, html, numberHead, toTable } from '../html.ts';
import { toFacts } from '../jobs/job-page.ts';
import { renderPage, toRoot } from '../page.ts';
import { type FindSilence, renderSilence } from '../silence.ts';
import { renderAhead } from './hours-ahead.ts';
import { renderHours, renderVerdict } from './last-hours.ts';

type SchedulePageOptions = {
  readonly servers: () => readonly string[];
  /** Returns the timetable of a server; undefined if the server is not watched, or the collector is off. */
  readonly find: (server: string) => Promise<ServerSchedule | undefined>;
  readonly silence: FindSilence;
};

/** `/schedule` and `/schedule/{server}`: expected and actual runs of the last 12 hours, and the next 24. */
export function schedulePageRoute(options: SchedulePageOptions): Router {
  const { servers, silence } = options;
  const router = createRoutes();
  router.get('/schedule', async (request, response) => {
    const names = servers();
    const [only] = names;
    const body =
      only !== undefined && names.length === 1
        ? await renderServer(only, options, toRoot(request))
        : await renderServers(names, options, toRoot(request));
    const notice = renderSilence(names, silence);
    response.set('cache-control', 'no-store').send(renderPage({ title: 'Schedule', notice, body, path: request.path }));
  });
  router.get('/schedule/:server', async (request, response, next) => {
    const { server } = request.params;
    if (!servers().includes(server)) {
      next();
      return;
    }
    const body = await renderServer(server, options, toRoot(request));
    const notice = renderSilence([server], silence);
    response
      .set('cache-control', 'no-store')
      .send(renderPage({ title: `Schedule of ${server}`, notice, body, path: request.path }));
  });
  return router;
}

type Finding = Pick<SchedulePageOptions, 'find' | 'silence'>;

async function renderServers(names: readonly string[], { find, silence }: Finding, root: string): Promise<Html> {
  const rows: Html[] = [];
  for (const name of names)
    rows.push(renderRow(name, { schedule: await find(name), isSilent: silence(name) !== undefined, root }));
  return html`<h1>Schedule</h1>
<section>
${toTable(['Server', numberHead('Jobs'), 'Missed in 12 h', 'Next start', 'More runs than threads'], rows)}</section>
`;
}

type Row = { readonly schedule: ServerSchedule | undefined; readonly isSilent: boolean; readonly root: string };

function renderRow(name: string, { schedule, isSilent, root }: Row): Html {
  const link = html`<th scope="row"><a href="${root}${toScheduleAddress(name)}"><bdi>${name}</bdi></a></th>`;
  if (schedule === undefined) return html`<tr>${link}<td colspan="4">not watched</td></tr>\n`;
  const missed = sumMissed(schedule);
  const { hours = [], threads } = schedule.ahead ?? {};
  const exceeded = hours.find((hour) => hour.exceeded !== undefined)?.exceeded;
  const none = threads === undefined ? 'unknown' : 'not expected';
  const isMissedKnown = !isSilent && schedule.hours.some(({ known }) => known !== undefined);
  const [next] = schedule.next;
  return html`<tr>${link}<td data-is="Jobs" class="number">${schedule.jobCount}</td><td data-is="Missed in 12 h">${
    missed === 0 ? (isMissedKnown ? 'none' : 'none known') : html`<strong class="bad">✗ ${missed}</strong>`
  }</td><td data-is="Next start" class="brief">${renderStart(next, schedule)}</td><td data-is="More runs than threads" class="brief">${
    exceeded === undefined ? none : html`<span class="off">! ${toTime(exceeded.atMs, schedule.nowMs)}</span>`
  }</td></tr>\n`;
}

/** Describes when the next job starts, or what prevents all jobs from starting. */
function renderStart(next: NextStart | undefined, { blockers, untimedCount, nowMs }: ServerSchedule): Html | string {
  if (blockers.length > 0) return renderObstacles(blockers);
  if (next !== undefined) return toWait(next.atMs, nowMs);
  return untimedCount === 0 ? 'none' : 'unknown';
}

function renderObstacles(blockers: NextStart['blockers']): Html {
  return html`<span class="off">– ${toFacts(blockers)}</span>`;
}

function sumMissed({ hours }: ServerSchedule): number {
  return hours.flatMap(({ known }) => Object.values(known?.missed ?? {})).reduce((sum, count) => sum + count, 0);
}

async function renderServer(server: string, { find, silence }: Finding, root: string): Promise<Html> {
  const schedule = await find(server);
  const title = html`<h1>Schedule of <bdi>${server}</bdi></h1>`;
  if (schedule === undefined) {
    return html`${title}
<p>The schedules of the server are not watched: switch on the collectors <code>schedule</code> and <code>executions</code>.</p>
`;
  }
  const { jobCount, offCount, nowMs, blockers } = schedule;
  if (jobCount === 0) {
    return html`${title}
<p>No scheduled job is watched yet. The <a href="${root}">status page</a> shows what the collector <code>schedule</code> reports.</p>
`;
  }
  const off = offCount === 0 ? '' : `, ${offCount} of them off`;
  return html`${title}
<p class="note"><a href="${root}jobs?server=${encodeURIComponent(server.toWellFormed())}">${toCount(jobCount, 'scheduled job')}</a>${off}. By the server's clock it is ${toTime(nowMs, nowMs)}.</p>
${renderBlocked(blockers, nowMs)}${renderHours(schedule, silence(server) !== undefined)}${renderNotable(schedule, root)}${renderAhead(schedule, root)}${renderNext(schedule, root)}`;
}

function renderBlocked(blockers: ServerSchedule['blockers'], nowMs: number): readonly Html[] {
  return blockers.map(
    ({ fact: { fact, atMs }, fix }) =>
      html`<p class="silence off">– No schedule starts a job: ${fact} (seen ${toTime(atMs, nowMs)}). Fix: ${fix}.</p>\n`,
  );
}

function renderNotable({ server, notable, notableCount, nowMs }: ServerSchedule, root: string): Html | undefined {
  if (notable.length === 0) return undefined;
  const more =
    notableCount > notable.length
      ? html`<p class="note">These are the newest ${notable.length} of ${notableCount}.</p>\n`
      : undefined;
  return html`<section>
<h2>Late, missed, off or undecided</h2>
<p class="note">Newest first. The last 20 scheduled times of each job are kept.</p>
${toTable(
  ['Job', 'Expected', 'Outcome'],
  notable.map((time) => renderTime(time, { server, root, nowMs })),
)}${more}</section>
`;
}

type About = { readonly server: string; readonly root: string; readonly nowMs: number };

function renderTime({ job, verdict }: TimeOfJob, { server, root, nowMs }: About): Html {
  const toRun = (id: number): string => `${root}${toExecutionAddress(server, id)}`;
  return html`<tr>${renderJob(job, server, root)}<td data-is="Expected" class="brief">${toScheduled(verdict.expectedMs, nowMs)}</td><td data-is="Outcome">${renderVerdict(verdict, toRun)}</td></tr>
`;
}

function renderJob(job: NextStart['job'], server: string, root: string): Html {
  return html`<th scope="row">${renderPathLink(server, toJobPath(job), root)}</th>`;
}

function renderNext({ server, next, nowMs }: ServerSchedule, root: string): Html | undefined {
  if (next.length === 0) return undefined;
  const rows = next.map(
    ({ job, atMs, blockers }) =>
      html`<tr>${renderJob(job, server, root)}<td data-is="Expected" class="brief">${toScheduled(atMs, nowMs)}</td><td data-is="Starts">${blockers.length === 0 ? toWait(atMs, nowMs) : renderObstacles(blockers)}</td></tr>\n`,
  );
  return html`<section>
<h2>Next starts</h2>
<p class="note">The next start of each job, at most 50.</p>
${toTable(['Job', 'Expected', 'Starts'], rows)}</section>
`;
}
