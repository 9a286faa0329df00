import { toDuration } from '../../domain/ages.ts';
import { type Html, html } from './html.ts';
import { renderSwitchOn } from './switch-on-traces.ts';

/** What decides which executions have a page. */
export type Tracing = {
  readonly isOn: boolean;
  readonly servers: readonly string[];
  readonly sealTimeoutMs: number;
  readonly maxAgeMs: number;
};

type Missing = {
  readonly server: string;
  readonly id: string;
  readonly isId: boolean;
  readonly tracing: Tracing;
};

/** What is kept, why this one may not be, and what mends it. */
export function renderMissing({ server, id, isId, tracing }: Missing): Html {
  return html`<h1>No execution <bdi>${cut(id)}</bdi> of <bdi>${cut(server)}</bdi> is kept</h1>
${renderReason({ server, isId, tracing })}
<p class="note">The page of an execution is made from its trace. The last 1,000 that ended are kept, fewer where they are very large, in memory: a start of the daemon begins anew.</p>
`;
}

function renderReason({ server, isId, tracing }: Omit<Missing, 'id'>): Html {
  if (!tracing.isOn) return renderOff();
  if (!tracing.servers.includes(server)) {
    return html`<p>No server of that name is watched. These are: ${tracing.servers.join(', ')}.</p>`;
  }
  if (!isId) return html`<p>That is no id of an execution: ids are whole numbers.</p>`;
  return html`<p>It may be one of these:</p>
<ul>
<li>It began a moment ago: what runs is read anew every few seconds.</li>
<li>It is over, but its trace is not made yet: its steps are waited for, at most ${toDuration(tracing.sealTimeoutMs)}, or others come first.</li>
<li>It ended before the daemon started, or more than ${toDuration(tracing.maxAgeMs)} before it was found.</li>
<li>Newer ones took its place, or the configuration was read again and does not allow to show it any longer.</li>
<li>Its project or job is not watched, or the server has no such execution.</li>
</ul>
`;
}

function renderOff(): Html {
  return html`<p>Executions have no pages here, since no traces are made. To switch them on, say where traces go:</p>
${renderSwitchOn()}<p>Executions that end from then on have a page.</p>
`;
}

/** An address may hold whatever someone wrote. */
function cut(text: string): string {
  return text.length > longest ? `${text.slice(0, longest).toWellFormed()}…` : text;
}

const longest = 100;
