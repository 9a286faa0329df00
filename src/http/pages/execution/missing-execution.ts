import { toDuration } from '../../../domain/ages.ts';
import { type Html, html } from '../html.ts';
import { renderSwitchOn } from '../traces/switch-on-traces.ts';

/** The settings that decide which executions have a page. */
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

/** Explains which executions are kept, why this one may not be, and how to keep it. */
export function renderMissing({ server, id, isId, tracing }: Missing): Html {
  return html`<h1>Execution <bdi>${cut(id)}</bdi> of <bdi>${cut(server)}</bdi> not found</h1>
${renderReason({ server, isId, tracing })}
<p class="note">Execution pages are created from traces. The last 1,000 are kept in memory, fewer if they are very large, and are lost on restart.</p>
`;
}

function renderReason({ server, isId, tracing }: Omit<Missing, 'id'>): Html {
  if (!tracing.isOn) return renderOff();
  if (!tracing.servers.includes(server)) {
    return html`<p>No watched server has this name. Watched servers: ${tracing.servers.join(', ')}.</p>`;
  }
  if (!isId) return html`<p>This is not an execution id: ids are whole numbers.</p>`;
  return html`<p>Possible reasons:</p>
<ul>
<li>It has just started: running executions are read every few seconds.</li>
<li>It has ended, but its trace is not finished: the exporter waits up to ${toDuration(tracing.sealTimeoutMs)} for its steps, or other executions come first.</li>
<li>It ended before the daemon started, or more than ${toDuration(tracing.maxAgeMs)} before it was found.</li>
<li>Newer executions replaced it, or the reloaded configuration no longer allows showing it.</li>
<li>Its project or job is not watched, or the server has no such execution.</li>
</ul>
`;
}

function renderOff(): Html {
  return html`<p>Execution pages require traces, which are off. To switch them on, set the endpoint for traces:</p>
${renderSwitchOn()}<p>Executions that end after that have a page.</p>
`;
}

/** An address may hold whatever someone wrote. */
function cut(text: string): string {
  return text.length > longest ? `${text.slice(0, longest).toWellFormed()}…` : text;
}

const longest = 100;
