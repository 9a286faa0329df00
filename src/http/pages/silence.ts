import { toCount } from '../../domain/format.ts';
import type { Elsewhere, Watcher } from '../../status/status.ts';
import { type Silence, toSilenceText, toWatcherText } from '../../status/watcher.ts';
import { type Html, html } from './html.ts';

/** Returns whether a server is silent, or another exporter watches it. */
export type FindSilence = (server: string) => Silence | Elsewhere | undefined;

/** Returns the watcher of a server of another exporter, or the silence of a server of this exporter. */
export function joinSilence(
  watcherOf: (server: string) => Watcher,
  silenceOf: (server: string) => Silence | undefined,
): FindSilence {
  return (server) => {
    const watcher = watcherOf(server);
    return watcher.is === 'us' ? silenceOf(server) : { server, watcher };
  };
}

/** Renders the line about servers that do not respond or are watched elsewhere; undefined if there are none. */
export function renderSilence(servers: readonly string[], find: FindSilence): Html | undefined {
  const found = servers.flatMap((server) => find(server) ?? []);
  const silent = found.filter((one) => 'state' in one);
  const elsewhere = found.filter((one) => 'watcher' in one);
  if (found.length === 0) return undefined;
  return html`${silent.length === 0 ? undefined : renderSilent(silent)}${renderElsewhere(elsewhere)}`;
}

/** Names the exporters that watch the servers missing on a page. Returns undefined if no server is missing. */
export function renderElsewhere(elsewhere: readonly Elsewhere[]): Html | undefined {
  if (elsewhere.length === 0) return undefined;
  const shown = elsewhere.slice(0, maxShown).map((one) => {
    const page = one.watcher.is === 'other' ? one.watcher.page : undefined;
    return html`→ ${toWatcherText(one)}${page === undefined ? '' : html` (<a href="${page}/">open</a>)`}.<br>\n`;
  });
  const rest = elsewhere.length - shown.length;
  return html`<p class="silence">${shown}${rest > 0 ? html`and ${toCount(rest, 'more server')}.<br>\n` : undefined}This page does not include ${elsewhere.length === 1 ? 'it' : 'them'}.</p>\n`;
}

function renderSilent(silent: readonly Silence[]): Html {
  const shown = silent.slice(0, maxShown).map((one) => html`✗ ${toSilenceText(one)}.<br>\n`);
  const rest = silent.length - shown.length;
  return html`<p class="silence bad">${shown}${rest > 0 ? html`and ${toCount(rest, 'more server')}.<br>\n` : undefined}This page shows the last known state.</p>
`;
}

const maxShown = 3;
