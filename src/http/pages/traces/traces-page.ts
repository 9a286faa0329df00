import type { Router } from 'express';
import { toAge, toMoment, toTime } from '../../../domain/ages.ts';
import { toCount, toSize } from '../../../domain/format.ts';
import type { DeliveryStatus, Elsewhere, QuarantineStatus, Status, TracesStatus } from '../../../status/status.ts';
import type { Lifecycle } from '../../server/lifecycle.ts';
import { createRoutes } from '../../server/routes.ts';
import { allowForms } from '../../server/security-headers.ts';
import { type Html, html, numberHead, toTable } from '../html.ts';
import { renderPage, toRoot } from '../page.ts';
import { renderElsewhere } from '../silence.ts';

type TracesPageOptions = {
  readonly status: () => Promise<Pick<Status, 'traces' | 'atMs'>>;
  readonly quarantined: () => { readonly list: () => Promise<readonly QuarantineStatus[]> } | undefined;
  readonly hasPage: (server: string, id: number) => boolean;
  readonly lifecycle: Lifecycle;
  /** Returns the servers whose traces another exporter sends. */
  readonly elsewhere: () => readonly Elsewhere[];
};

/** `/traces`: traces that wait for delivery, whether delivery works, and rejected traces. */
export function tracesPageRoute({ status, quarantined, hasPage, lifecycle, elsewhere }: TracesPageOptions): Router {
  const router = createRoutes();
  router.get('/traces', async (request, response) => {
    const { traces, atMs } = await status();
    // The list is empty if the state cannot be read.
    const refused = (traces && (await quarantined()?.list())) ?? [];
    const root = toRoot(request);
    const mayChange = lifecycle.isEnabled();
    if (mayChange) allowForms(response);
    const headline = toHeadline(traces, atMs);
    const about = { root, hasPage, mayChange, url: lifecycle.externalUrl(), nowMs: atMs };
    const body = html`${renderHeadline(headline)}
${renderTraces(traces, about)}${refused.length === 0 ? undefined : renderQuarantine(refused, about)}`;
    response
      .set('cache-control', 'no-store')
      .send(renderPage({ title: headline.text, notice: renderElsewhere(elsewhere()), body, path: request.path }));
  });
  return router;
}

type Headline = { readonly mood: 'good' | 'off' | 'bad'; readonly text: string; readonly why?: string };

function toHeadline(traces: TracesStatus | undefined, nowMs: number): Headline {
  if (traces === undefined) return { mood: 'bad', text: 'The state cannot be read' };
  const { delivery, quarantine, waiting } = traces;
  if (delivery === undefined) return { mood: 'off', text: 'Traces are off' };
  if (delivery.failing !== undefined) {
    const { sinceMs, reason: why, what = 'Traces' } = delivery.failing;
    const text = `${what} cannot be delivered (since ${toTime(sinceMs, nowMs)}, ${toAge(sinceMs, nowMs)})`;
    return { mood: 'bad', text, why };
  }
  if (quarantine > 0) return { mood: 'bad', text: `The trace backend rejects ${toCount(quarantine, 'trace')}` };
  if (waiting > 0) return { mood: 'good', text: `${toCount(waiting, 'trace')} in progress` };
  return { mood: 'good', text: 'All traces are delivered' };
}

const signs = { good: '✓', off: '…', bad: '✗' } as const;

function renderHeadline({ mood, text, why }: Headline): Html {
  const reason = why === undefined ? undefined : html`<p>Why: ${why.replace(/[.]?$/, '.')}</p>`;
  return html`<div class="headline ${mood}"><h1><span class="sign" aria-hidden="true">${signs[mood]}</span>${text}</h1>${reason}</div>`;
}

function renderTraces(
  traces: TracesStatus | undefined,
  { root, nowMs }: { root: string; nowMs: number },
): Html | undefined {
  if (traces === undefined) return undefined;
  const at = toMoment(nowMs);
  const note = html`<p class="note">As of ${at}; <a href="${root}traces">reload</a>.</p>\n`;
  return traces.delivery === undefined
    ? html`${note}${renderOff(traces)}`
    : html`${note}${renderFacts(traces, traces.delivery, nowMs)}`;
}

function renderFacts(traces: TracesStatus, delivery: DeliveryStatus, nowMs: number): Html {
  const { waiting, waitingBytes, oldestMs, quarantine, quarantinedBytes } = traces;
  const { collector, lastDeliveredMs, pending, bounds, quarantineBounds } = delivery;
  const facts: readonly (readonly [string, Html | string | undefined])[] = [
    ['Trace backend', collector],
    ['Delivered last', lastDeliveredMs === undefined ? undefined : renderTime(lastDeliveredMs, nowMs)],
    ['Waiting for delivery', toAmount(waiting, waitingBytes)],
    ['Oldest finished', oldestMs === undefined ? undefined : renderTime(oldestMs, nowMs)],
    ['Room for', toAmount(bounds.maxTraces, bounds.maxBytes)],
    ['Waiting for steps', pending === 0 ? undefined : toCount(pending, 'execution')],
    ['Quarantined', toAmount(quarantine, quarantinedBytes)],
    [
      'Room in the quarantine',
      quarantine === 0 ? undefined : toAmount(quarantineBounds.maxTraces, quarantineBounds.maxBytes),
    ],
  ];
  const known = facts.filter(([, value]) => value !== undefined);
  const isFull = waiting >= bounds.maxTraces || waitingBytes >= bounds.maxBytes;
  const full = html`<p class="note">! The queue is full: executions are still counted, and new traces are created after waiting ones are delivered.</p>\n`;
  return html`<dl>${known.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>
${isFull ? full : undefined}`;
}

function toAmount(traces: number, bytes: number): string {
  return traces === 0 ? 'nothing' : `${toCount(traces, 'trace')}, ${toSize(bytes)}`;
}

function renderTime(atMs: number, nowMs: number): Html {
  return html`<time datetime="${new Date(atMs).toISOString()}">${toTime(atMs, nowMs)}</time> (${toAge(atMs, nowMs)})`;
}

function renderOff({ waiting, quarantine }: TracesStatus): Html {
  const left = waiting + quarantine;
  const rest = html`<p>${toCount(left, 'trace')} from an earlier run ${left === 1 ? 'is' : 'are'} kept until traces are on again.</p>\n`;
  return html`<p>Each finished execution can become one OpenTelemetry trace. To switch this on, set the endpoint for traces:</p>
${renderSwitchOn()}${left === 0 ? undefined : rest}`;
}

type About = {
  readonly root: string;
  readonly hasPage: (server: string, id: number) => boolean;
  /** True if the configuration permits requests that change something. */
  readonly mayChange: boolean;
  /** The exporter's URL, for the command line. */
  readonly url: string;
  readonly nowMs: number;
};

/** Renders rejected traces with the reasons, and the commands to retry or drop them. */
function renderQuarantine(traces: readonly QuarantineStatus[], about: About): Html {
  const rows = traces.slice(0, maxShown).map((trace) => renderRow(trace, about));
  const rest = traces.length - rows.length;
  const more = html`<p class="note">and ${toCount(rest, 'more trace')}</p>\n`;
  const [head, all] = about.mayChange
    ? [html`<th>What to do</th>`, html`${renderChanges('all', 'true', { ...about, of: 'all' })}\n`]
    : [undefined, undefined];
  return html`<section>
<h2>Quarantined</h2>
<p>The trace backend rejects these traces individually. Fix the reason that it reports, then send them again, or drop those that nobody needs.</p>
${toTable(['Execution', numberHead('Spans'), numberHead('Size'), 'Since', head], rows)}${rest > 0 ? more : undefined}${all}${renderCommands(traces, about)}</section>
`;
}

const maxShown = 50;

function renderRow({ name, server, executionId, spans, size, atMs, reason }: QuarantineStatus, about: About): Html {
  const { root, hasPage, mayChange, nowMs } = about;
  const address = `${root}executions/${encodeURIComponent(server.toWellFormed())}/${executionId}`;
  const shown = html`<bdi>${server}</bdi> <span class="id">#${executionId}</span>`;
  const execution = hasPage(server, Number(executionId)) ? html`<a href="${address}">${shown}</a>` : shown;
  const changes = mayChange
    ? html`<td>${renderChanges('key', name, { ...about, of: `${server} #${executionId}` })}</td>`
    : undefined;
  return html`<tr><th scope="row">${execution}</th><td data-is="Spans" class="number">${spans}</td><td data-is="Size" class="number">${toSize(size)}</td><td data-is="Since" class="brief"><time datetime="${new Date(atMs).toISOString()}">${toTime(atMs, nowMs)}</time> (${toAge(atMs, nowMs)})</td>${changes}</tr>
<tr class="why"><td colspan="${mayChange ? 5 : 4}">${reason}</td></tr>
`;
}

/** Renders the buttons. Dropping is permanent, so it needs two clicks. */
function renderChanges(field: 'key' | 'all', value: string, { root, of }: About & { readonly of: string }): Html {
  const path = `${root}-/quarantine/`;
  return html`<form method="post" action="${path}retry"><button name="${field}" value="${value}" aria-label="Send ${of} again">Send ${field === 'all' ? 'all ' : ''}again</button>
<details><summary aria-label="Drop ${of}">Drop${field === 'all' ? ' all' : ''}…</summary><button name="${field}" value="${value}" formaction="${path}drop" aria-label="Drop ${of} for good">Drop for good</button></details></form>`;
}

function renderCommands([first]: readonly QuarantineStatus[], { mayChange, url }: About): Html {
  const one = first === undefined ? '--all' : quote(first.name);
  const lines = [`list`, `retry --all`, `retry ${one}`, `drop ${one}`];
  // The commands are in separate elements, so that a click selects only one line.
  const commands = lines.map((line) => html`<code>automation-exporter quarantine ${line} --url=${quote(url)}</code>\n`);
  const off = html`<p class="note">Sending again and dropping require <code>--web.enable-lifecycle</code>, or <code>web: { enable_lifecycle: true }</code> in the configuration, which is reloaded on SIGHUP. This page then has buttons for both.</p>\n`;
  return html`<h3>From the command line</h3>
<pre tabindex="0">${commands}</pre>
${mayChange ? undefined : off}`;
}

function quote(text: string): string {
  return /^[\w./:@%+=~-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

function renderSwitchOn(): Html {
  return html`<pre tabindex="0"><code>OTEL_EXPORTER_OTLP_ENDPOINT=http://collector.example.org:4318</code></pre>
<p>or write into the configuration, to send them to <code>http://localhost:4318</code>:</p>
<pre tabindex="0"><code>traces:
  enabled: on
</code></pre>
`;
}

export function renderReadSteps(): Html {
  return html`<pre tabindex="0"><code>traces:
  enabled: pages
</code></pre>
`;
}
