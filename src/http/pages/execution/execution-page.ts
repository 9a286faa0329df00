import type { Router } from 'express';
import type { Explanation } from '../../../diagnosis/changes/explain.ts';
import { toCauseText, toOften, toSentence } from '../../../diagnosis/lines/sentence.ts';
import { toAge, toDuration, toLength, toMoment, toTime } from '../../../domain/ages.ts';
import type { Cause, CauseKey, FailedRun } from '../../../domain/failure-class.ts';
import { toWhy, toWord } from '../../../status/cause.ts';
import type { Attempt, PastExecution } from '../../../status/past-execution.ts';
import { isFailure, toInterruption, toStartsAtMs } from '../../../status/running.ts';
import type { AboutJob } from '../../../status/shown-job.ts';
import type { EndedExecution, EndedStatus, RunningExecution } from '../../../status/status.ts';
import { createRoutes } from '../../server/routes.ts';
import { toAboutFacts } from '../about-job.ts';
import { renderJobLink } from '../addresses.ts';
import { ofFailure, renderSuspects } from '../changes/suspects.ts';
import { type Html, html } from '../html.ts';
import { renderPage, toRoot } from '../page.ts';
import { type FindSilence, renderSilence } from '../silence.ts';
import { renderReadSteps } from '../traces/traces-page.ts';
import { renderDurations } from './durations-chart.ts';
import { renderMissing, type Tracing } from './execution-list.ts';
import { renderLines } from './log-lines.ts';
import { renderOutsideLinks, toServerAddress } from './outside-links.ts';
import { renderWaterfall, toMood } from './waterfall.ts';

type ExecutionPageOptions = {
  /** Returns the stored page data of an execution. Sends no request. */
  readonly find: (server: string, id: number) => Promise<PastExecution | undefined>;
  readonly running: (server: string, id: number) => RunningExecution | undefined;
  /** Returns the finished executions of a server that are stored for pages, newest first. */
  readonly ended: (server: string) => readonly EndedStatus[];
  /** Returns a failed execution that is no longer stored for pages, but whose cause is stored. */
  readonly older?: (server: string, id: number) => EndedStatus | undefined;
  /** Returns the stored cause of an execution that did not succeed. */
  readonly cause: (server: string, run: CauseKey) => Cause | undefined;
  /** Explains what changed before a failed run of a job. */
  readonly explain?: (server: string, run: EndedStatus) => Explanation | undefined;
  /** Returns the configured owner, note and runbook of a job, by its path including the project. */
  readonly aboutJob?: (path: string) => AboutJob;
  readonly urlOf: (server: string) => string | undefined;
  readonly tracing: () => Tracing;
  /** Returns the URL of traces, in which `{trace_id}` stands for the id; undefined if not configured. */
  readonly traceLink: () => string | undefined;
  readonly silence: FindSilence;
  /** Returns the time by the clock of a server, because its executions have times of this clock. */
  readonly nowMs: (server: string) => number;
};

/** `/executions/{server}/{id}`: the steps of one execution, and the reason of its result. */
export function executionPageRoute(options: ExecutionPageOptions): Router {
  const router = createRoutes();
  router.get('/executions/:server/:id', async (request, response) => {
    const { server, id } = request.params;
    const { status, ...page } = await toPage(options, { server, id, root: toRoot(request) });
    const notice = renderSilence([server], options.silence);
    response
      .status(status)
      .set('cache-control', 'no-store')
      .send(renderPage({ ...page, notice, path: request.path }));
  });
  return router;
}

type Asked = { readonly server: string; readonly id: string; readonly root: string };
type Found = { readonly status: number; readonly title: string; readonly body: Html };

async function toPage(options: ExecutionPageOptions, { server, id, root }: Asked): Promise<Found> {
  const { find, running, ended, cause, explain, urlOf, tracing, traceLink, silence } = options;
  const nowMs = options.nowMs(server);
  if (!isId(id)) return toMissing({ server, id, isId: false, tracing: tracing() });
  const execution = await find(server, Number(id));
  const others = ended(server);
  const unfinished = running(server, Number(id));
  const known = others.find((one) => one.id === Number(id));
  const over = known ?? (unfinished ? undefined : options.older?.(server, Number(id)));
  const ofJob = toOfJob(options, over ?? unfinished);
  const suspects =
    over &&
    renderSuspects(explain?.(server, over), { server, untilMs: over.startedAtMs, words: ofFailure, root, nowMs });
  if (execution !== undefined) {
    const title = `${toWord(execution.spans[0].result ?? 'ended')}: #${execution.id} ${execution.job}`;
    const failure = cause(server, { id: execution.id, startedAtMs: execution.spans[0].startMs })?.failure;
    return {
      status: 200,
      title,
      body: renderExecution(execution, {
        link: traceLink(),
        url: urlOf(server),
        nowMs,
        root,
        others,
        failure,
        suspects,
        ofJob,
      }),
    };
  }
  if (unfinished !== undefined) {
    const isSilent = unfinished.isUnread === true || silence(server) !== undefined;
    const title = `${toStanding(unfinished, isSilent)}: #${unfinished.id} ${unfinished.job ?? 'ad hoc'}`;
    return { status: 200, title, body: renderRunning(unfinished, { isSilent, root, url: urlOf(server), ofJob }) };
  }
  if (over !== undefined) {
    const title = `${over.ending}: #${over.id} ${over.job ?? 'ad hoc'}`;
    const about = { others, suspects, ofJob, tracing: tracing(), link: traceLink(), url: urlOf(server), root, nowMs };
    const body = renderEnded({ ...over, server }, cause(server, over), about);
    return { status: 200, title, body };
  }
  return toMissing({ server, id, isId: true, tracing: tracing() });
}

type Names = Pick<EndedStatus, 'project' | 'job'> | undefined;

function toOfJob({ aboutJob }: ExecutionPageOptions, names: Names): OfJob {
  const about = names?.job === undefined ? undefined : aboutJob?.(`${names.project}/${names.job}`);
  return toAboutFacts(about ?? {});
}

type OfJob = ReturnType<typeof toAboutFacts>;

function toMissing(missing: Parameters<typeof renderMissing>[0]): Found {
  return { status: 404, title: 'Execution not found', body: renderMissing(missing) };
}

function isId(text: string): boolean {
  return /^\d{1,16}$/.test(text) && Number.isSafeInteger(Number(text));
}

type About = {
  readonly link: string | undefined;
  readonly url: string | undefined;
  readonly nowMs: number;
  readonly root: string;
  readonly others: readonly EndedStatus[];
  readonly failure: FailedRun | undefined;
  readonly suspects: Html | undefined;
  readonly ofJob: OfJob;
};

const moods = { failed: 'bad', stopped: 'off', success: 'good', plain: 'off' } as const;
const signs = { failed: '✗', stopped: '!', success: '✓', plain: '…' } as const;

function renderExecution(execution: PastExecution, about: About): Html {
  const { link, url, nowMs, root, others, failure, suspects, ofJob } = about;
  const { server, project, id, job, traceId, permalink, attempts, facts, notes, spans } = execution;
  const [{ result, startMs, endMs }] = spans;
  const mood = toMood(spans[0]);
  const own = renderJobLink(server, others.find((one) => one.id === id) ?? { project, job: undefined }, root);
  const shown = [
    renderFact('Server', server),
    project === undefined ? undefined : renderFact('Project', project),
    own === undefined ? undefined : renderFact('Job', own),
    ...ofJob.map(([name, value]) => (value === undefined ? undefined : renderFact(name, value))),
    renderFact('Started', renderTime(startMs)),
    renderFact('Ended', html`${renderTime(endMs)} (${toAge(endMs, nowMs)})`),
    renderFact('Took', toLength(endMs - startMs)),
    ...toFailureFacts(failure).map(([name, value]) => renderFact(name, value)),
    ...attempts.map((attempt) => renderAttempt(attempt, server, root)),
    ...facts.map(({ name, value }) => renderFact(name, value)),
    traceId === undefined ? undefined : renderFact('Trace id', html`<code class="copy">${traceId}</code>`),
  ].filter((fact) => fact !== undefined);
  const derived = project === undefined ? undefined : toServerAddress(url, project, id);
  const links = renderOutsideLinks({ traceId, link, permalink: permalink ?? derived });
  return html`<div class="headline ${moods[mood]}"><h1><span class="sign" aria-hidden="true">${signs[mood]}</span><span><bdi>${job}</bdi> <span class="id">#${id}</span>: ${toWord(result ?? 'ended')}</span></h1>
${renderSentence(failure, nowMs)}${mood === 'success' ? undefined : html`<p><bdi>${toWhy(execution)}</bdi></p>`}</div>
<dl>${shown}</dl>
${notes.map((note) => html`<p class="note">! ${note}</p>\n`)}${links}${renderLines(execution)}${suspects}${renderWaterfall(execution)}${renderDurations(execution, others, root)}`;
}

function renderSentence(failure: FailedRun | undefined, nowMs: number): Html | undefined {
  return failure === undefined ? undefined : html`<p><strong><bdi>${toSentence(failure, nowMs)}</bdi></strong></p>\n`;
}

function toFailureFacts(failure: FailedRun | undefined): readonly (readonly [string, string])[] {
  if (failure === undefined) return [];
  const { seen, endedAtMs } = failure;
  return [
    ['First cause', toCauseText(failure)],
    ...(seen === undefined ? [] : [['Same failure', toOften(seen, endedAtMs)] as const]),
  ];
}

function renderFact(name: string, value: Html | string | number): Html {
  return html`<div><dt>${name}</dt><dd><bdi>${value}</bdi></dd></div>`;
}

const relations = { 'retry of': 'Retry of', 'retried by': 'Retried by' } as const;

/** Links another attempt, if it has a page. */
function renderAttempt({ relation, id, hasPage }: Attempt, server: string, root: string): Html {
  const address = `${root}executions/${encodeURIComponent(server.toWellFormed())}/${id}`;
  const shown = hasPage ? html`<a href="${address}">#${id}</a>` : html`#${id}, which has no page here`;
  return renderFact(relations[relation], shown);
}

function renderTime(atMs: number): Html {
  return html`<time datetime="${new Date(atMs).toISOString()}">${toMoment(atMs)}</time>`;
}

type Finished = {
  readonly others: readonly EndedStatus[];
  readonly suspects: Html | undefined;
  readonly ofJob: OfJob;
  readonly tracing: Tracing;
  /** The URL of traces, in which `{trace_id}` stands for the id; undefined if not configured. */
  readonly link: string | undefined;
  readonly url: string | undefined;
  readonly root: string;
  readonly nowMs: number;
};

/** Renders a finished execution without known steps: its result, duration and stored cause. */
function renderEnded(execution: EndedExecution, cause: Cause | undefined, about: Finished): Html {
  const { others, suspects, ofJob, tracing, link, url, root, nowMs } = about;
  const { server, project, id, job, ending, startedAtMs, endedAtMs } = execution;
  const lengthMs = endedAtMs - startedAtMs;
  const facts: readonly (readonly [string, Html | string | undefined])[] = [
    ['Server', server],
    ['Project', project],
    ['Job', renderJobLink(server, execution, root)],
    ...ofJob,
    ['Started', toMoment(startedAtMs)],
    ['Ended', `${toMoment(endedAtMs)} (${toAge(endedAtMs, nowMs)})`],
    ['Took', lengthMs < 0 ? undefined : toLength(lengthMs)],
    ...toFailureFacts(cause?.failure),
    ...(cause?.facts ?? []).map(({ name, value }) => [name, String(value)] as const),
    ['Trace id', cause?.traceId === undefined ? undefined : html`<code class="copy">${cause.traceId}</code>`],
  ];
  const known = facts.filter(([, value]) => value !== undefined);
  const [mood, sign] = ending === 'succeeded' ? ['good', '✓'] : isFailure(execution) ? ['bad', '✗'] : ['off', '!'];
  return html`<div class="headline ${mood}"><h1><span class="sign" aria-hidden="true">${sign}</span><span><bdi>${job ?? 'ad hoc'}</bdi> <span class="id">#${id}</span>: ${ending}</span></h1>${cause === undefined ? undefined : html`\n${renderSentence(cause.failure, nowMs)}<p><bdi>${cause.why}</bdi></p>`}</div>
<dl>${known.map(([name, value]) => html`<div><dt>${name}</dt><dd><bdi>${value}</bdi></dd></div>`)}</dl>
${renderOutsideLinks({ traceId: cause?.traceId, link, permalink: cause?.permalink ?? toServerAddress(url, project, id) })}${suspects}${renderWithoutSteps(tracing, cause)}${renderDurations(execution, others, root)}`;
}

function renderWithoutSteps({ isOn }: Tracing, cause: Cause | undefined): Html {
  if (cause !== undefined)
    return html`<p class="note">Only this summary is kept, because the exporter was restarted, or newer executions replaced the steps in memory.</p>\n`;
  if (isOn) {
    return html`<p class="note">The steps are unknown: they are still being read, the execution ended before the exporter started, or newer executions replaced the steps in memory.</p>\n`;
  }
  return html`<p class="note">The steps are unknown, because <code>traces.enabled</code> is <code>off</code>. To read the steps of future executions:</p>
${renderReadSteps()}`;
}

type Running = {
  readonly isSilent: boolean;
  readonly root: string;
  readonly url: string | undefined;
  readonly ofJob: OfJob;
};

/** Renders an execution in progress or waiting. Steps of an execution are read after its end. */
function renderRunning(execution: RunningExecution, { isSilent, root, url, ofJob }: Running): Html {
  const { server, project, id, job = 'ad hoc', startedAtMs, averageMs, isOverdue, isWaiting } = execution;
  const { serverNowMs, seenMs, interruptedAtMs } = execution;
  const startsAtMs = toStartsAtMs(execution);
  const forMs = (isSilent ? seenMs : serverNowMs) - startedAtMs;
  const facts: readonly (readonly [string, Html | string | undefined])[] = [
    ['Server', server],
    ['Project', project],
    ['Job', renderJobLink(server, execution, root)],
    ...ofJob,
    ['Started', isWaiting ? undefined : toMoment(startedAtMs)],
    ['Runs at', startsAtMs === undefined ? undefined : toMoment(startsAtMs)],
    [isSilent ? 'Duration when last seen' : 'Running for', isWaiting ? undefined : toDuration(forMs)],
    ['Average of the job', averageMs === undefined ? undefined : toLength(averageMs)],
    ['Overdue', isOverdue ? '✗ yes' : undefined],
  ];
  const known = facts.filter(([, value]) => value !== undefined);
  return html`<div class="headline off"><h1><span class="sign" aria-hidden="true">…</span><span><bdi>${job}</bdi> <span class="id">#${id}</span>: ${toStanding(
    execution,
    isSilent,
  )}</span></h1></div>
<p class="note">${interruptedAtMs === undefined ? undefined : `${toInterruption(interruptedAtMs, serverNowMs)} `}As reported by the server at ${toMoment(seenMs)}. The steps appear here after the execution has ended and its trace is finished.</p>
<dl>${known.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>
${renderOutsideLinks({ traceId: undefined, link: undefined, permalink: toServerAddress(url, project, id) })}`;
}

/** Describes an unfinished execution. If the server is silent, describes its last known state. */
function toStanding({ isWaiting, seenMs, serverNowMs, interruptedAtMs }: RunningExecution, isSilent: boolean): string {
  if (interruptedAtMs !== undefined) return 'interrupted, but still listed as running';
  if (isSilent) return `last seen ${isWaiting ? 'waiting' : 'running'} ${toTime(seenMs, serverNowMs)}`;
  return isWaiting ? 'waits to run' : 'still runs';
}
