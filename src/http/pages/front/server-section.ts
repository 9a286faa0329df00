import { toAge, toTime } from '../../../domain/ages.ts';
import type { ServerState, ServerStatus, TargetStatus } from '../../../status/status.ts';
import { listUnreadable } from '../../../status/unreadable.ts';
import { type Html, html } from '../html.ts';
import { renderCollectors } from './collector-table.ts';
import { type Pages, renderExecutions } from './execution-tables.ts';
import { renderOwnMetrics } from './own-metrics.ts';
import { renderUnreadable } from './unreadable.ts';

type About = Pages & { readonly nowMs: number };

/** One server, the members of its cluster, and the policy that it lacks. */
export function renderServer(server: ServerStatus, about: About): Html {
  const { nowMs } = about;
  return html`<section id="${toAnchor(server.name)}">
<h2>${server.name} ${renderState(server)}</h2>
${renderFacts(server, nowMs)}
${renderHidden(server)}${renderExecutions(server, about)}${renderCollectors(toShown(server), nowMs)}
${renderDenied(server)}${renderOwnMetrics(server)}
${server.members.map(
  (member) => html`<div class="member">
<h3>Member ${member.name} ${renderState(member)}</h3>
${renderFacts(member, nowMs)}${renderCollectors(member, nowMs)}
</div>
`,
)}</section>
`;
}

/** A name as the target of a link, whatever it holds. */
export function toAnchor(server: string): string {
  return `server-${encodeURIComponent(server.toWellFormed())}`;
}

/** Returns the anchor of the policy that allows a server's denied collectors. */
export function toRightsAnchor(server: string): string {
  return `${toAnchor(server)}-rights`;
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

type StateWords = { readonly mood: string; readonly text: string; readonly since: string };

/** These times are the exporter's, which may have started long after the server. */
const states: Readonly<Record<ServerState, StateWords>> = {
  up: { mood: 'good', text: '✓ up', since: 'Seen up' },
  refused: { mood: 'bad', text: '✗ credentials refused', since: 'Seen refusing' },
  down: { mood: 'bad', text: '✗ no usable answer', since: 'Seen down' },
  waiting: { mood: 'off', text: '… not asked yet', since: 'Waiting' },
};

function renderState({ state }: TargetStatus): Html {
  const { mood, text } = states[state];
  return html`<span class="state ${mood}">${text}</span>`;
}

function renderFacts(target: TargetStatus, nowMs: number): Html {
  const { url, state, sinceMs, message, executionMode, executionModeSinceMs, release, apiVersion, dialect } = target;
  const since = sinceMs === undefined ? undefined : html`since ${renderTime(sinceMs, nowMs)}`;
  const modeSince =
    executionModeSinceMs === undefined ? undefined : html`, since ${renderTime(executionModeSinceMs, nowMs)}`;
  const passive = executionMode === 'passive';
  const mode = html`<span class="${passive ? 'bad' : ''}">${passive ? '✗ passive: runs nothing' : executionMode}</span>${modeSince}`;
  const facts: readonly (readonly [string, Html | string | number | undefined])[] = [
    ['Address', url],
    [states[state].since, since],
    ['Why', state === 'up' ? undefined : message],
    ['Execution mode', executionMode === undefined ? undefined : mode],
    ['Release', release],
    ['API', apiVersion === undefined ? dialect : `${apiVersion}${dialect === undefined ? '' : `, ${dialect}`}`],
  ];
  const known = facts.filter(([, value]) => value !== undefined);
  return html`<dl>${known.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>
`;
}

function renderTime(atMs: number, nowMs: number): Html {
  return html`<time datetime="${new Date(atMs).toISOString()}">${toTime(atMs, nowMs)}</time> (${toAge(atMs, nowMs)})`;
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
