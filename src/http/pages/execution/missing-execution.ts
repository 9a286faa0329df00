import { type Html, html } from '../html.ts';

/** The settings that decide which executions have a page, and whether it shows their steps. */
export type Tracing = {
  readonly isOn: boolean;
  readonly servers: readonly string[];
};

type Missing = {
  readonly server: string;
  readonly id: string;
  readonly isId: boolean;
  readonly tracing: Tracing;
};

/** Explains which executions have a page, and why this one may not. */
export function renderMissing({ server, id, isId, tracing }: Missing): Html {
  return html`<h1>Execution <bdi>${cut(id)}</bdi> of <bdi>${cut(server)}</bdi> not found</h1>
${renderReason({ server, isId, tracing })}
<p class="note">Running executions and the last 1,000 that ended of each server have a page. The steps of the last 1,000 are kept in memory, fewer if they are very large. Over a restart, the causes of the last 500 of each server that did not succeed are kept.</p>
`;
}

function renderReason({ server, isId, tracing }: Omit<Missing, 'id'>): Html {
  if (!tracing.servers.includes(server)) {
    return html`<p>No watched server has this name. Watched servers: ${tracing.servers.join(', ')}.</p>`;
  }
  if (!isId) return html`<p>This is not an execution id: ids are whole numbers.</p>`;
  return html`<p>Possible reasons:</p>
<ul>
<li>It has just started or ended: executions are read every few seconds, those of quiet projects within <code>executions.max_delay</code>.</li>
<li>It ended before the exporter began to count this server.</li>
<li>More than 1,000 executions of this server have ended since.</li>
<li>Its project or job is not watched, or the server has no such execution.</li>
</ul>
`;
}

/** An address may hold whatever someone wrote. */
function cut(text: string): string {
  return text.length > longest ? `${text.slice(0, longest).toWellFormed()}…` : text;
}

const longest = 100;
