import { toAge, toLength } from '../../../domain/ages.ts';
import { isFailure } from '../../../status/running.ts';
import type { EndedExecution, EndedStatus } from '../../../status/status.ts';
import type { Cause } from '../../../tracing/enrich/causes.ts';
import { renderJobLink } from '../addresses.ts';
import { type Html, html } from '../html.ts';
import { renderReadSteps } from '../traces/switch-on-traces.ts';
import { renderDurations } from './durations-chart.ts';
import type { Tracing } from './missing-execution.ts';
import { renderOutsideLinks, toServerAddress } from './outside-links.ts';

type About = {
  readonly others: readonly EndedStatus[];
  readonly tracing: Tracing;
  /** The address of traces, with `{trace_id}` for the id; undefined if not configured. */
  readonly link: string | undefined;
  /** The address of the server. */
  readonly url: string | undefined;
  readonly root: string;
  readonly nowMs: number;
};

/** A finished execution whose steps are not known here: how it ended, how long it took, and what is kept of its cause. */
export function renderEnded(execution: EndedExecution, cause: Cause | undefined, about: About): Html {
  const { others, tracing, link, url, root, nowMs } = about;
  const { server, project, id, job, ending, startedAtMs, endedAtMs } = execution;
  const lengthMs = endedAtMs - startedAtMs;
  const facts: readonly (readonly [string, Html | string | undefined])[] = [
    ['Server', server],
    ['Project', project],
    ['Job', renderJobLink(server, execution, root)],
    ['Started', toUtc(startedAtMs)],
    ['Ended', `${toUtc(endedAtMs)} (${toAge(endedAtMs, nowMs)})`],
    ['Took', lengthMs < 0 ? undefined : toLength(lengthMs)],
    ...(cause?.facts ?? []).map(({ name, value }) => [name, String(value)] as const),
    ['Trace id', cause?.traceId === undefined ? undefined : html`<code class="copy">${cause.traceId}</code>`],
  ];
  const known = facts.filter(([, value]) => value !== undefined);
  const [mood, sign] = ending === 'succeeded' ? ['good', '✓'] : isFailure(execution) ? ['bad', '✗'] : ['off', '!'];
  return html`<div class="headline ${mood}"><h1><span class="sign" aria-hidden="true">${sign}</span><span><bdi>${job ?? 'ad hoc'}</bdi> <span class="id">#${id}</span>: ${ending}</span></h1>${cause === undefined ? undefined : html`\n<p><bdi>${cause.why}</bdi></p>`}</div>
<dl>${known.map(([name, value]) => html`<div><dt>${name}</dt><dd><bdi>${value}</bdi></dd></div>`)}</dl>
${renderOutsideLinks({ traceId: cause?.traceId, link, permalink: cause?.permalink ?? toServerAddress(url, project, id) })}${renderWithoutSteps(tracing, cause)}${renderDurations(execution, others, root)}`;
}

function renderWithoutSteps({ isOn }: Tracing, cause: Cause | undefined): Html {
  if (cause !== undefined)
    return html`<p class="note">Only this summary is kept: the exporter was restarted since, or newer executions took the place of its steps.</p>\n`;
  if (isOn) {
    return html`<p class="note">Its steps are not known here: they are still being read, it ended before the exporter started, or newer executions replaced it.</p>\n`;
  }
  return html`<p class="note">Its steps are not known here because <code>traces.enabled</code> is <code>off</code>. To read the steps of executions that end from now on:</p>
${renderReadSteps()}`;
}

function toUtc(atMs: number): string {
  return `${new Date(atMs).toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}
