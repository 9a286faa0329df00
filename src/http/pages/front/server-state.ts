import { toAge, toTime } from '../../../domain/ages.ts';
import type { CollectorStatus, ServerState, ServerStatus, TargetStatus } from '../../../status/status.ts';
import { type Html, html } from '../html.ts';

type StateWords = { readonly mood: 'good' | 'bad' | 'off'; readonly text: string; readonly since: string };

/** The words for the states. The times of states are times of the exporter, which may have started long after the server. */
export const states: Readonly<Record<ServerState, StateWords>> = {
  up: { mood: 'good', text: '✓ up', since: 'Responding' },
  refused: { mood: 'bad', text: '✗ credentials refused', since: 'Refusing' },
  down: { mood: 'bad', text: '✗ not responding', since: 'Not responding' },
  waiting: { mood: 'off', text: '… no answer yet', since: 'Waiting' },
  unwatched: { mood: 'off', text: '… watched by no exporter', since: 'Unwatched' },
  elsewhere: { mood: 'off', text: '→ watched by another exporter', since: 'Watched elsewhere' },
};

export function renderState({ state }: TargetStatus): Html {
  const { mood, text } = states[state];
  return html`<span class="state ${mood}">${text}</span>`;
}

/** Renders the owner of a server, if several exporters share the servers. */
export function renderLease({ lease, watcher }: ServerStatus): Html | undefined {
  if (lease === undefined) return undefined;
  const { isOwned, epoch, expiresInMs } = lease;
  const page = watcher?.is === 'other' ? watcher.page : undefined;
  const other =
    page === undefined ? html`<bdi>${lease.owner}</bdi>` : html`<a href="${page}/"><bdi>${lease.owner}</bdi></a>`;
  const owner = isOwned ? html`this exporter` : other;
  const expiry = expiresInMs > 0 ? `expires in ${Math.round(expiresInMs / 1000)} s unless renewed` : 'expired';
  return html`${owner}, epoch ${epoch}, ${expiry}`;
}

export function renderMode({ executionMode }: TargetStatus): Html | undefined {
  if (executionMode === undefined) return undefined;
  return executionMode === 'passive'
    ? html`<strong class="bad">✗ passive: runs nothing</strong>`
    : html`${executionMode}`;
}

export function renderTime(atMs: number, nowMs: number): Html {
  return html`<time datetime="${new Date(atMs).toISOString()}">${toTime(atMs, nowMs)}</time> (${toAge(atMs, nowMs)})`;
}

/** Reports whether a collector is off and a person need not act. A denied collector can be fixed. */
export function isQuietlyOff({ result, reason }: CollectorStatus): boolean {
  return result === 'off' && reason !== 'denied';
}

/** Reports whether a collector needs the attention of a person. */
export function isInTrouble(collector: CollectorStatus): boolean {
  const { result, message, complaints } = collector;
  if (isQuietlyOff(collector)) return false;
  return (
    result === 'failed' || result === 'off' || complaints.length > 0 || (result === 'success' && message !== undefined)
  );
}

export function toAnchor(server: string): string {
  return `server-${encodeURIComponent(server.toWellFormed())}`;
}

/** Returns the anchor of the policy that permits the denied collectors of a server. */
export function toRightsAnchor(server: string): string {
  return `${toAnchor(server)}-rights`;
}
