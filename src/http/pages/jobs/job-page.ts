import type { Router } from 'express';
import { toFormerPath } from '../../../diagnosis/changes/deciding/kinds.ts';
import { toCauseText, toSentence } from '../../../diagnosis/lines/sentence.ts';
import { toAge, toDuration, toLength, toScheduled, toTime, toWait } from '../../../domain/ages.ts';
import { toCount } from '../../../domain/format.ts';
import type { ScheduledJob } from '../../../expected-runs/showing/scheduled-job.ts';
import { isFailure } from '../../../status/running.ts';
import type { ScheduleOfJob, ShownJob, ShownShift } from '../../../status/shown-job.ts';
import type { EndedStatus } from '../../../status/status.ts';
import { createRoutes } from '../../server/routes.ts';
import { toAboutFacts } from '../about-job.ts';
import { toExecutionAddress, toJobAddress, toScheduleAddress } from '../addresses.ts';
import { ofDurations, ofFailure, renderSuspects } from '../changes/suspects.ts';
import { type Html, html, numberHead, toTable } from '../html.ts';
import { toQuery } from '../list.ts';
import { renderEnding, renderLate, renderPage, toRoot } from '../page.ts';
import { renderStrip, renderVerdict } from '../schedule/last-hours.ts';
import { type FindSilence, renderSilence } from '../silence.ts';
import { renderRunsChart } from './runs-chart.ts';

type JobPageOptions = {
  /** Returns a job by its path `{project}/{group}/{name}`. */
  readonly find: (server: string, path: string) => ShownJob | undefined;
  /** Returns the current path of a job that was renamed or moved, by its former path. */
  readonly movedTo?: (server: string, path: string) => string | undefined;
  readonly silence: FindSilence;
};

/** `/jobs/{server}/{project}/{group}/{name}`: why a job ran or did not run, its timetable, and its last runs. */
export function jobPageRoute({ find, movedTo, silence }: JobPageOptions): Router {
  const router = createRoutes();
  router.get('/jobs/:server/*path', (request, response, next) => {
    const { server, path } = request.params;
    const moved = movedTo?.(server, path.join('/'));
    if (moved !== undefined) {
      response.set('cache-control', 'no-store').redirect(302, `${toRoot(request)}${toJobAddress(server, moved)}`);
      return;
    }
    const found = find(server, path.join('/'));
    if (found === undefined) {
      next();
      return;
    }
    const title = `${found.path} on ${server}`;
    const isSilent = silence(server) !== undefined;
    const page = {
      title,
      notice: renderSilence([server], silence),
      body: renderJob(found, { title, root: toRoot(request), isSilent }),
    };
    response.set('cache-control', 'no-store').send(renderPage({ ...page, path: request.path }));
  });
  return router;
}

type About = { readonly title: string; readonly root: string; readonly isSilent: boolean };

function renderWhatChanged(
  { server, runs: [last], explanation, shifts: [shift] = [], nowMs }: ShownJob,
  root: string,
): Html {
  const about = { server, root, nowMs };
  return html`${last && renderSuspects(explanation, { ...about, untilMs: last.startedAtMs, words: ofFailure })}${
    shift && renderSuspects(shift.explanation, { ...about, untilMs: shift.sinceMs, words: ofDurations })
  }`;
}

function renderJob(job: ShownJob, { title, root, isSilent }: About): Html {
  const chart = renderRunsChart(job);
  return html`<h1><bdi>${title}</bdi></h1>
${renderLastFailure(job, root)}${renderWhatChanged(job, root)}${job.schedule === undefined ? html`<p>No schedule of this job is watched.</p>\n` : renderWhy(job.schedule, job.nowMs)}${renderFacts(job, root, isSilent)}${
  chart === undefined ? undefined : html`<section>\n<h2>Last runs</h2>\n${chart}${renderRuns(job, root)}</section>\n`
}${renderTimetable(job, root, isSilent)}
<p><a href="${root}jobs">All scheduled jobs</a>, <a href="${root}${toScheduleAddress(job.server)}">schedule of <bdi>${job.server}</bdi></a></p>
`;
}

function renderLastFailure({ server, lastFailure, nowMs }: ShownJob, root: string): Html | undefined {
  if (lastFailure === undefined) return undefined;
  const address = `${root}${toExecutionAddress(server, lastFailure.id)}`;
  return html`<p>Last failure: <bdi>${toSentence(lastFailure, nowMs)}</bdi> First cause: <bdi>${toCauseText(lastFailure)}</bdi> (<a href="${address}">#${lastFailure.id}</a>).</p>
`;
}

function renderWhy({ why: { sentence, facts } }: ScheduleOfJob, nowMs: number): Html {
  const others = facts.filter(({ fact }) => !sentence.includes(fact));
  const lines = others.map(
    ({ fact, at, source }) =>
      html`<li>${fact} (<time datetime="${at}">${toTime(Date.parse(at), nowMs)}</time>, ${source})</li>\n`,
  );
  return html`<p>${sentence}</p>
${lines.length === 0 ? undefined : html`<ul>${lines}</ul>\n`}`;
}

/** Describes a lasting change of the durations, as the metrics do. */
function toShiftText({ step, sinceMs, beforeMs, afterMs }: ShownShift, nowMs: number): Html {
  const than = afterMs > beforeMs ? 'slower' : 'faster';
  const subject = step === undefined ? undefined : html`step <bdi>${step}</bdi> is `;
  return html`${subject}${than} since ${toTime(sinceMs, nowMs)}: median ${toLength(afterMs)}, before ${toLength(beforeMs)}`;
}

function renderFacts(job: ShownJob, root: string, isSilent: boolean): Html {
  const { server, schedule, running, runs, usualMs, overdueMs, nowMs, seenMs } = job;
  const toRun = (id: number): Html => html`<a href="${root}${toExecutionAddress(server, id)}">#${id}</a>`;
  const links = running.map(
    (execution, index) =>
      html`${index === 0 ? '' : ', '}${toRun(execution.id)} since ${toTime(execution.startedAtMs, nowMs)}${renderLate(execution, nowMs)}`,
  );
  const next = schedule?.job.nextMs;
  const success = toSuccess(runs, nowMs);
  const blockers = schedule?.job.blockers ?? [];
  const renamed = job.changes?.find((change) => toFormerPath(change) !== undefined);
  const facts: readonly (readonly [string, Html | string | undefined])[] = [
    ...toAboutFacts(job.about ?? {}),
    [
      'Earlier name',
      renamed &&
        html`<bdi>${toFormerPath(renamed) ?? ''}</bdi>, until a time between ${toTime(renamed.afterMs, nowMs)} and ${toTime(renamed.beforeMs, nowMs)}`,
    ],
    [
      isSilent && seenMs !== undefined ? `Last seen running ${toTime(seenMs, nowMs)}` : 'Runs now',
      links.length === 0 ? undefined : html`${links}`,
    ],
    ['Next run', next === undefined ? undefined : `${toTime(next, nowMs)} (${toWait(next, nowMs)})`],
    ...(job.shifts ?? []).map((shift) => ['Durations', toShiftText(shift, nowMs)] as const),
    [
      'Results',
      job.isFlaky === true ? html`<span class="off">! flaky: success and failure alternate often</span>` : undefined,
    ],
    ['Obstacles', blockers.length === 0 ? undefined : html`<span class="off">– ${toFacts(blockers)}</span>`],
    ['Succeeded in 24 h', success === undefined ? undefined : `${success} kept runs`],
    [
      'Usually takes',
      usualMs === undefined ? undefined : `${toLength(usualMs)} (75 % of the runs take at most this long)`,
    ],
    ['Overdue after', overdueMs === undefined ? undefined : toLength(overdueMs)],
    ['Last scheduled times', schedule && renderStrip(schedule.job.verdicts)],
  ];
  const known = facts.filter(([, value]) => value !== undefined);
  return html`<dl>${known.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>
`;
}

export function toFacts(blockers: ScheduledJob['blockers']): string {
  return blockers.map(({ fact: { fact } }) => fact).join('; ');
}

/** Describes how many of the stored runs of the last day succeeded. Returns undefined if no run ended. */
export function toSuccess(runs: readonly EndedStatus[], nowMs: number): string | undefined {
  const ofDay = runs.filter(({ endedAtMs }) => endedAtMs > nowMs - 86_400_000);
  if (ofDay.length === 0) return undefined;
  return `${ofDay.filter(({ ending }) => ending === 'succeeded').length} of ${ofDay.length}`;
}

/** Renders the last failures; if no run has failed, the last runs. */
function renderRuns({ server, path, runs, nowMs }: ShownJob, root: string): Html {
  const failures = runs.filter(isFailure);
  const shown = (failures.length === 0 ? runs : failures).slice(0, maxListed);
  const [newest] = runs;
  const list = `${root}executions${toQuery({ server, project: newest?.project ?? '', text: `"${newest?.job ?? path}"` })}`;
  const rows = shown.map(
    (run) =>
      html`<tr><th scope="row"><a href="${root}${toExecutionAddress(server, run.id)}">#${run.id}</a></th><td data-is="Result">${renderEnding(run.ending)}</td><td data-is="Started" class="brief">${toTime(run.startedAtMs, nowMs)}</td><td data-is="Ended" class="brief">${toAge(run.endedAtMs, nowMs)}</td><td data-is="Took" class="number">${run.endedAtMs < run.startedAtMs ? '' : toLength(run.endedAtMs - run.startedAtMs)}</td></tr>\n`,
  );
  return html`<h3>${failures.length === 0 ? 'Newest' : 'Last failures'}</h3>
${toTable(['Run', 'Result', 'Started', 'Ended', numberHead('Took')], rows)}<p class="note"><a href="${list}">${toCount(runs.length, 'run')} kept</a></p>
`;
}

const maxListed = 10;

/** Renders the timetable of a job: decided times, latest first, then future times, folded. */
function renderTimetable({ server, nowMs, schedule }: ShownJob, root: string, isSilent: boolean): Html | undefined {
  if (schedule === undefined) return undefined;
  const { job, openMs, comingMs } = schedule;
  const toRun = (id: number): string => `${root}${toExecutionAddress(server, id)}`;
  const toRow = (at: number | string, what: Html): Html =>
    html`<tr><th scope="row" class="brief">${typeof at === 'string' ? at : toScheduled(at, nowMs)}</th><td data-is="Outcome">${what}</td></tr>\n`;
  const open = isSilent ? 'checked once the server shows them' : 'still being checked';
  const more = openMs.length - maxTimes;
  const past = [
    ...openMs
      .slice(-maxTimes)
      .toReversed()
      .map((atMs) => toRow(atMs, html`… ${open}`)),
    ...(more > 0 ? [toRow('earlier', html`… ${more.toLocaleString('en')} more ${open}`)] : []),
    ...job.verdicts.toReversed().map((verdict) => toRow(verdict.expectedMs, renderVerdict(verdict, toRun))),
  ];
  const coming = comingMs.slice(0, maxTimes).map((atMs) => toRow(atMs, html`${toWait(atMs, nowMs)}`));
  const folded = html`<details><summary>Next times</summary>\n${renderTable(coming)}</details>\n`;
  return html`<section>
<h2>Timetable</h2>
<p class="note">${toEvery(comingMs)}The last 20 checked starts are kept.</p>
${past.length === 0 ? html`<p>No scheduled time has passed since the schedule was first read.</p>\n` : renderTable(past)}${coming.length === 0 ? undefined : folded}</section>
`;
}

function renderTable(rows: readonly Html[]): Html {
  return toTable(['Expected', 'Outcome'], rows);
}

const maxTimes = 20;

/** Describes how often the job is expected, if the interval is regular. */
function toEvery(times: readonly number[]): string {
  const [first, second] = times;
  if (first === undefined || second === undefined) return '';
  const everyMs = second - first;
  const isEven = times.every((time, index) => time === first + index * everyMs);
  return isEven ? `Expected every ${toDuration(everyMs)}. ` : '';
}
