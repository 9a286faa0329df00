import type { Router } from 'express';
import { toAge, toTime, toWait } from '../../../domain/ages.ts';
import { toJobPath } from '../../../domain/job.ts';
import { finishInPieces, type Pause, sortInPieces } from '../../../domain/pause.ts';
import type { Blocker } from '../../../expected-runs/deciding/blockers.ts';
import { isLate } from '../../../expected-runs/deciding/hours.ts';
import type { ScheduledJob } from '../../../expected-runs/showing/scheduled-job.ts';
import { isFailure } from '../../../status/running.ts';
import type { EndedStatus } from '../../../status/status.ts';
import { renderPathLink, toExecutionAddress } from '../addresses.ts';
import { type Html, html, toTable } from '../html.ts';
import { type Fields, listRoute, renderSelect, renderServers, type Shown } from '../list.ts';
import { renderEnding } from '../page.ts';
import { renderStrip } from '../schedule/last-hours.ts';
import type { FindSilence } from '../silence.ts';
import { toFacts, toSuccess } from './job-page.ts';
import { renderSparkline } from './runs-chart.ts';

type JobListOptions = {
  readonly servers: () => readonly string[];
  readonly jobs: () => Promise<readonly ListedJob[]>;
  /** Returns the finished executions of a server that are stored for pages, newest first. */
  readonly ended: (server: string) => readonly EndedStatus[];
  readonly silence: FindSilence;
  /** Call at the start of a request, and await the result between parts of long work. */
  readonly begin?: () => Pause;
};

/** `/jobs`: all watched scheduled jobs, failures first, filtered by the query. */
export function jobListRoute({ jobs, ended, ...options }: JobListOptions): Router {
  return listRoute({
    ...options,
    path: 'jobs',
    title: 'Scheduled jobs',
    noun: 'job',
    fields,
    items: jobs,
    toChoice: (wish) => (job) => isChosen(job, wish),
    words: ['before', 'after'],
    render: (shown) => html`<h1>Scheduled jobs</h1>
${renderForm(shown)}
<p class="note">${shown.count}. Jobs that missed a run or failed come first. Durations and success are of the last 1,000 executions of each server. ${renderUnscheduled(shown)}</p>
${shown.items.length === 0 ? html`<p>No scheduled job ${shown.all.length === 0 ? 'is watched yet' : 'matches'}.</p>\n` : renderTable(shown, ended)}${shown.links}`,
  });
}

/** Explains where jobs without a schedule are. The front page may name these jobs, but this page does not list them. */
function renderUnscheduled({ filter: { server } }: Jobs): Html {
  const of = server === '' ? '' : `&server=${encodeURIComponent(server.toWellFormed())}`;
  return html`Failures of jobs without a schedule are among the <a href="executions?result=failures${of}">failed executions</a>.`;
}

const fields = ['text', 'state', 'server'] as const;

type Wish = Fields<(typeof fields)[number]>;
type Jobs = Shown<ListedJob, keyof Wish>;

const states = {
  '': 'any',
  missed: 'missed its last start',
  failed: 'failed last',
  late: 'ran late',
  ran: 'ran',
  off: 'switched off',
  unknown: 'undecided',
  flaky: 'flaky',
} as const;

type State = Exclude<keyof typeof states, '' | 'flaky'>;

/** Returns the state of a job: off, or the worse of its last scheduled time and its last run. */
export function toState({ verdicts, blockers, lastRun }: ScheduledJob): State {
  const last = verdicts.at(-1);
  const isBlocked = (...by: readonly Blocker['reason'][]): boolean =>
    blockers.some(({ reason }) => by.includes(reason));
  if (isBlocked('job_disabled')) return 'off';
  if (last?.is === 'missed') return 'missed';
  if (lastRun !== undefined && isFailure(lastRun)) return 'failed';
  if (isBlocked('executions_disabled', 'schedule_disabled')) return 'off';
  if (last === undefined || last.is === 'undecided' || isBlocked('hidden')) return 'unknown';
  if (last.is === 'off') return 'off';
  return isLate(last) ? 'late' : 'ran';
}

/** A job with the values by which lists filter and sort. */
type ListedJob = { readonly job: ScheduledJob; readonly state: State; readonly path: string };

/** Lists jobs in the order of the page, failures first. */
export function listJobs(jobs: Iterable<ScheduledJob>, pause: Pause): Promise<readonly ListedJob[]> {
  const compare = (one: ListedJob, other: ListedJob): number =>
    order[one.state] - order[other.state] || (one.path < other.path ? -1 : 1);
  return finishInPieces(sortInPieces(toListed(jobs), compare), pause);
}

function* toListed(jobs: Iterable<ScheduledJob>): Generator<ListedJob> {
  for (const job of jobs) yield { job, state: toState(job), path: `${job.server}/${toJobPath(job)}` };
}

function isChosen({ job, state, path }: ListedJob, wish: Wish): boolean {
  return (
    (wish.server === '' || job.server === wish.server) &&
    (wish.state === '' || (wish.state === 'flaky' ? job.isFlaky === true : state === wish.state)) &&
    (wish.text === '' || path.toLowerCase().includes(wish.text.toLowerCase()))
  );
}

const order: Readonly<Record<State, number>> = { missed: 0, failed: 1, late: 2, unknown: 3, ran: 4, off: 5 };

function renderForm({ filter: { text, state, server }, servers }: Jobs): Html {
  return html`<form class="filter" method="get" action="jobs" role="search">
<label>State ${renderSelect('state', Object.keys(states), state, states)}</label>
${renderServers(servers, server)}<label>Job <input name="text" type="search" value="${text}"></label>
<button>Show</button>
</form>`;
}

function renderTable({ items, servers, root }: Jobs, ended: JobListOptions['ended']): Html {
  const jobs = items.map(({ job }) => job);
  const isOne = servers.length < 2;
  const runs = toRunsByJob(jobs, ended);
  const rows = jobs.map((job) => renderRow(job, runs.get(toKey(job.server, job.id)) ?? [], { root, isOne }));
  return html`<section>
${toTable(['Job', isOne ? undefined : 'Server', 'Last run', 'Last scheduled times', html`<th class="spare">Durations</th>`, '24 h', 'Next'], rows)}</section>
`;
}

function toRunsByJob(
  jobs: readonly ScheduledJob[],
  ended: JobListOptions['ended'],
): ReadonlyMap<string, readonly EndedStatus[]> {
  const byJob = new Map<string, EndedStatus[]>(jobs.map((job) => [toKey(job.server, job.id), []]));
  const ids = new Map(jobs.map((job) => [toKey(job.server, toJobPath(job)), job.id]));
  for (const server of new Set(jobs.map((job) => job.server))) {
    for (const run of ended(server)) {
      const jobId = run.jobId ?? ids.get(toKey(server, `${run.project}/${run.job}`)) ?? '';
      byJob.get(toKey(server, jobId))?.push(run);
    }
  }
  return byJob;
}

function toKey(server: string, job: string): string {
  return JSON.stringify([server, job]);
}

type At = { readonly root: string; readonly isOne: boolean };

function renderRow(job: ScheduledJob, runs: readonly EndedStatus[], { root, isOne }: At): Html {
  const { server, lastRun, verdicts, nowMs } = job;
  const last =
    lastRun &&
    html`${renderEnding(lastRun.ending)} <a href="${root}${toExecutionAddress(server, lastRun.id)}">${toAge(lastRun.endedAtMs, nowMs)}</a>${job.isFlaky === true ? html` <span class="off">! flaky</span>` : undefined}`;
  return html`<tr><th scope="row" class="job">${renderPathLink(server, toJobPath(job), root)}</th>${isOne ? undefined : html`<td data-is="Server" class="server"><bdi>${server}</bdi></td>`}${toCell('Last run', last, 'brief')}${toCell('Last scheduled times', renderStrip(verdicts))}${toCell('Durations', renderSparkline(runs), 'spare')}${toCell('24 h', toSuccess(runs, nowMs), 'brief')}<td data-is="Next"${job.blockers.length > 0 ? undefined : html` class="brief"`}>${toNext(job)}</td></tr>
`;
}

function toNext({ nextMs, quietUntilMs, blockers, nowMs }: ScheduledJob): Html | string {
  if (blockers.length > 0) return html`<span class="off obstacle">– ${toFacts(blockers)}</span>`;
  if (nextMs !== undefined) return toWait(nextMs, nowMs);
  return quietUntilMs === undefined ? 'unknown' : `not before ${toTime(quietUntilMs, nowMs)}`;
}

function toCell(name: string, value: Html | string | undefined, style = ''): Html {
  return value === undefined
    ? html`<td class="none ${style}"></td>`
    : html`<td data-is="${name}" class="${style}">${value}</td>`;
}
