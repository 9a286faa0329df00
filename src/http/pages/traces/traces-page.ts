import type { Router } from 'express';
import { toAge, toTime } from '../../../domain/ages.ts';
import { toCount, toSize } from '../../../domain/sizes.ts';
import type { DeliveryStatus, Elsewhere, QuarantineStatus, Status, TracesStatus } from '../../../status/status.ts';
import type { Lifecycle } from '../../server/lifecycle.ts';
import { createRoutes } from '../../server/routes.ts';
import { allowForms } from '../../server/security-headers.ts';
import { type Html, html } from '../html.ts';
import { renderPage, toRoot } from '../page.ts';
import { renderElsewhere } from '../silence.ts';
import { renderQuarantine } from './quarantine-table.ts';
import { renderSwitchOn } from './switch-on-traces.ts';

export type TracesPageOptions = {
  readonly status: () => Promise<Pick<Status, 'traces' | 'atMs'>>;
  readonly quarantined: () => { readonly list: () => Promise<readonly QuarantineStatus[]> } | undefined;
  /** Reports whether an execution has a page of its own. */
  readonly hasPage: (server: string, id: number) => boolean;
  readonly lifecycle: Lifecycle;
  /** Returns the servers whose traces another exporter sends, or none. */
  readonly elsewhere: () => readonly Elsewhere[];
};

/** `/traces`: what waits to be delivered, whether that works, and what the collector refuses. */
export function tracesPageRoute({ status, quarantined, hasPage, lifecycle, elsewhere }: TracesPageOptions): Router {
  const router = createRoutes();
  router.get('/traces', async (request, response) => {
    const { traces, atMs } = await status();
    const refused = (await quarantined()?.list()) ?? [];
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
    const { sinceMs, reason: why } = delivery.failing;
    const text = `Traces cannot be delivered (since ${toTime(sinceMs, nowMs)}, ${toAge(sinceMs, nowMs)})`;
    return { mood: 'bad', text, why };
  }
  if (quarantine > 0) return { mood: 'bad', text: `The trace backend rejects ${toCount(quarantine, 'trace')}` };
  if (waiting > 0) return { mood: 'good', text: `${toCount(waiting, 'trace')} on the way` };
  return { mood: 'good', text: 'All traces are delivered' };
}

const signs = { good: '✓', off: '…', bad: '✗' } as const;

function renderHeadline({ mood, text, why }: Headline): Html {
  const reason = why === undefined ? undefined : html`<p>Why: ${why.replace(/[.]?$/, '.')}</p>`;
  return html`<div class="headline ${mood}"><h1><span class="sign" aria-hidden="true">${signs[mood]}</span>${text}</h1>${reason}</div>`;
}

function renderTraces(
  traces: TracesStatus | undefined,
  { root, nowMs }: { readonly root: string; readonly nowMs: number },
): Html | undefined {
  if (traces === undefined) return undefined;
  const at = `${new Date(nowMs).toISOString().slice(0, 19).replace('T', ' ')} UTC`;
  const note = html`<p class="note">As of ${at}; <a href="${root}traces">look again</a>.</p>\n`;
  return traces.delivery === undefined
    ? html`${note}${renderOff(traces)}`
    : html`${note}${renderFacts(traces, traces.delivery, nowMs)}`;
}

function renderFacts(traces: TracesStatus, delivery: DeliveryStatus, nowMs: number): Html {
  const { waiting, waitingBytes, oldestMs, quarantine, quarantinedBytes } = traces;
  const { collector, lastDeliveredMs, pending, bounds, quarantineBounds } = delivery;
  const facts: readonly (readonly [string, Html | string | undefined])[] = [
    ['Collector', collector],
    ['Delivered last', lastDeliveredMs === undefined ? undefined : renderTime(lastDeliveredMs, nowMs)],
    ['Waiting for delivery', toAmount(waiting, waitingBytes)],
    ['Oldest finished', oldestMs === undefined ? undefined : renderTime(oldestMs, nowMs)],
    ['Room for', toAmount(bounds.maxTraces, bounds.maxBytes)],
    ['Waiting for steps', pending === 0 ? undefined : toCount(pending, 'execution')],
    ['Quarantined', toAmount(quarantine, quarantinedBytes)],
    ['Room for these', quarantine === 0 ? undefined : toAmount(quarantineBounds.maxTraces, quarantineBounds.maxBytes)],
  ];
  const known = facts.filter(([, value]) => value !== undefined);
  const isFull = waiting >= bounds.maxTraces || waitingBytes >= bounds.maxBytes;
  const full = html`<p class="note">! The queue is full: executions are counted, and their traces are created after some of these are delivered.</p>\n`;
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
  const rest = html`<p>${toCount(left, 'trace')} from before ${left === 1 ? 'is' : 'are'} kept until then.</p>\n`;
  return html`<p>Each finished execution can become one OpenTelemetry trace. To switch this on, set the endpoint for traces:</p>
${renderSwitchOn()}${left === 0 ? undefined : rest}`;
}
