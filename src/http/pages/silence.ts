import { toCount } from '../../domain/sizes.ts';
import { type Silence, toSilenceText } from '../../status/silence.ts';
import { type Html, html } from './html.ts';

/** Finds out whether a server is silent, for the pages about it. */
export type FindSilence = (server: string) => Silence | undefined;

/** The red line at the top of every page about servers that do not answer; undefined if all do. */
export function renderSilence(servers: readonly string[], find: FindSilence): Html | undefined {
  const silent = servers.flatMap((server) => find(server) ?? []);
  if (silent.length === 0) return undefined;
  const shown = silent.slice(0, mostShown).map((one) => html`✗ ${toSilenceText(one)}.<br>\n`);
  const rest = silent.length - shown.length;
  return html`<p class="silence bad">${shown}${rest > 0 ? html`and ${toCount(rest, 'more server')}.<br>\n` : undefined}What follows is as of the last answer.</p>
`;
}

const mostShown = 3;
