import type { ServerStatus } from '../../../status/status.ts';
import { listUnreadable } from '../../../status/unreadable.ts';
import { type Html, html } from '../html.ts';
import { toAnchor, toRightsAnchor } from './anchors.ts';
import { renderCollectors } from './collector-table.ts';
import { renderExecutions } from './execution-tables.ts';
import { renderOwnMetrics } from './own-metrics.ts';
import { renderLease, renderMode, renderState, renderTime, states } from './server-state.ts';
import { renderMembers } from './server-table.ts';
import { renderUnreadable } from './unreadable.ts';

type About = {
  readonly root: string;
  readonly nowMs: number;
  /** True if no other server is watched. */
  readonly isOnly: boolean;
  /** True if it is not folded away. */
  readonly isOpen: boolean;
};

/** One server, the members of its cluster, and the policy that it lacks; folded away if it is one of several and well. */
export function renderServer(server: ServerStatus, about: About): Html {
  const title = html`<h2><bdi>${server.name}</bdi> ${renderState(server)}</h2>`;
  const anchor = toAnchor(server.name);
  if (about.isOnly)
    return html`<section id="${anchor}">
${title}
${renderContent(server, about)}</section>
`;
  // The anchor is inside: who follows a link to it finds it unfolded.
  return html`<section><details class="server"${about.isOpen ? html` open` : undefined}><summary>${title}</summary>
<div id="${anchor}">${renderContent(server, about)}</div></details></section>
`;
}

function renderContent(server: ServerStatus, about: About): Html {
  const { nowMs } = about;
  return html`${renderFacts(server, about)}
${renderHidden(server)}${renderDenied(server)}${renderExecutions(server, about.root)}${renderMembers(server.members, nowMs)}${renderCollectors(
  [toShown(server), ...server.members],
  nowMs,
)}${renderOwnMetrics(server)}`;
}

/** A round that was not shown everything has succeeded, and only in part. */
function toShown(server: ServerStatus): ServerStatus {
  const unreadable = listUnreadable(server).join('; ');
  if (unreadable === '') return server;
  const collectors = server.collectors.map((one) =>
    one.name === 'executions' && one.result === 'success' && one.message === undefined
      ? { ...one, message: unreadable }
      : one,
  );
  return { ...server, collectors };
}

function renderFacts(server: ServerStatus, { nowMs, isOnly }: About): Html {
  const { url, state, sinceMs, message, startedAtMs, executionModeSinceMs, release, apiVersion, dialect } = server;
  const toTime = (atMs: number | undefined): Html | undefined =>
    atMs === undefined ? undefined : renderTime(atMs, nowMs);
  const mode = renderMode(server);
  const modeSince = executionModeSinceMs === undefined ? undefined : html`, since ${toTime(executionModeSinceMs)}`;
  const facts: readonly (readonly [string, Html | string | number | undefined])[] = [
    ['Address', url],
    ['Owner', renderLease(server)],
    [states[state].since, sinceMs === undefined ? undefined : html`since ${toTime(sinceMs)}`],
    // Of the only one it stands at the top of the page.
    ['Why', isOnly || state === 'up' ? undefined : message],
    ['Started', toTime(startedAtMs)],
    ['Execution mode', mode === undefined ? undefined : html`${mode}${modeSince}`],
    ['Release', release],
    ['API', [apiVersion, dialect].filter((one) => one !== undefined).join(', ') || undefined],
  ];
  const known = facts.filter(([, value]) => value !== undefined);
  return html`<dl>${known.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>
`;
}

/** Shows the configuration to write for a cluster whose members are not listed. */
function renderHidden({ name, hidesMembers, url }: ServerStatus): Html | undefined {
  if (!hidesMembers) return undefined;
  const lines = `servers:\n  - name: ${JSON.stringify(name)}\n    url: ${JSON.stringify(url)}\n    members:\n      - { name: a, url: https://a.example.org }\n      - { name: b, url: https://b.example.org }\n`;
  return html`<div class="mend"><h3>Several members answer under this address</h3>
<p>Counters would jump between members and are therefore dropped. List the members, each with its own address:</p>
<pre tabindex="0"><code>${lines}</code></pre></div>
`;
}

function renderDenied(server: ServerStatus): Html | undefined {
  const { missingPolicy, needsAdmin } = server;
  if (missingPolicy === undefined && needsAdmin.length === 0) return undefined;
  return html`<div class="mend" id="${toRightsAnchor(server.name)}"><h3>Missing permissions</h3>
${renderUnreadable(server)}${needsAdmin.map(
  ({ collector, right }) =>
    html`<p><b>${collector}</b> needs ${right}, or switch the collector off: <code>collectors.${collector}.enabled: false</code></p>\n`,
)}${renderPolicy(missingPolicy)}</div>
`;
}

function renderPolicy(policy: string | undefined): Html | undefined {
  if (policy === undefined) return undefined;
  return html`<p>Give this access policy to an administrator of the server. Replace <code>automation-exporter</code> with a role of the credentials.</p>
<pre tabindex="0"><code>${policy}</code></pre>`;
}
