import { toAge, toDuration, toTime, toTook } from '../../../domain/ages.ts';
import { toCount } from '../../../domain/format.ts';
import { listUnreadable } from '../../../status/running.ts';
import type {
  CollectorStatus,
  EndedStatus,
  ExecutionsOfServer,
  RunningStatus,
  ServerStatus,
  TargetStatus,
} from '../../../status/status.ts';
import { type Html, html, numberHead, toTable } from '../html.ts';
import { renderEnding, renderLate } from '../page.ts';
import { renderCollectors } from './collector-table.ts';
import { renderLease, renderMode, renderState, renderTime, states, toAnchor, toRightsAnchor } from './server-state.ts';
import { renderMembers } from './server-table.ts';

type About = { readonly root: string; readonly nowMs: number; readonly isOnly: boolean; readonly isOpen: boolean };

/** Renders a server, its members and the missing policy. A server without a problem is folded if there are other servers. */
export function renderServer(server: ServerStatus, about: About): Html {
  const title = html`<h2><bdi>${server.name}</bdi> ${renderState(server)}</h2>`;
  const anchor = toAnchor(server.name);
  if (about.isOnly)
    return html`<section id="${anchor}">
${title}
${renderContent(server, about)}</section>
`;
  // The anchor is inside the section, so that a link to it unfolds the section.
  return html`<section><details class="server"${about.isOpen ? html` open` : undefined}><summary>${title}</summary>
<div id="${anchor}">${renderContent(server, about)}</div></details></section>
`;
}

function renderContent(server: ServerStatus, about: About): Html {
  const { nowMs } = about;
  const { serverNowMs } = server.executions ?? { serverNowMs: nowMs };
  return html`${renderFacts(server, about, serverNowMs)}
${renderHidden(server)}${renderDenied(server)}${renderRights(server, nowMs)}${renderExecutions(server, about.root)}${renderMembers(server.members, serverNowMs)}${renderCollectors(
  [toShown(server), ...server.members],
  nowMs,
)}${renderOwnMetrics(server)}`;
}

/** Shows the collector `executions` as a partial success if executions are hidden. */
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

function renderFacts(server: ServerStatus, { nowMs, isOnly }: About, serverNowMs: number): Html {
  const { url, state, sinceMs, message, startedAtMs, executionModeSinceMs, release, apiVersion, dialect } = server;
  const toTime = (atMs: number | undefined): Html | undefined =>
    atMs === undefined ? undefined : renderTime(atMs, nowMs);
  const mode = renderMode(server);
  const modeSince = executionModeSinceMs === undefined ? undefined : html`, since ${toTime(executionModeSinceMs)}`;
  const facts: readonly (readonly [string, Html | string | number | undefined])[] = [
    ['Address', url],
    ['Owner', renderLease(server)],
    [states[state].since, sinceMs === undefined ? undefined : html`since ${toTime(sinceMs)}`],
    // If there is only one server, the reason is at the top of the page.
    ['Why', isOnly || state === 'up' ? undefined : message],
    ['Started', startedAtMs === undefined ? undefined : renderTime(startedAtMs, serverNowMs)],
    ['Execution mode', mode === undefined ? undefined : html`${mode}${modeSince}`],
    ['Release', release],
    ['API', [apiVersion, dialect].filter((one) => one !== undefined).join(', ') || undefined],
  ];
  const known = facts.filter(([, value]) => value !== undefined);
  return html`<dl>${known.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>
`;
}

/** Shows the configuration for a cluster whose members are not configured. */
function renderHidden({ name, hidesMembers, url }: ServerStatus): Html | undefined {
  if (!hidesMembers) return undefined;
  const lines = `servers:\n  - name: ${JSON.stringify(name)}\n    url: ${JSON.stringify(url)}\n    members:\n      - { name: a, url: https://a.example.org }\n      - { name: b, url: https://b.example.org }\n`;
  return html`<div class="mend"><h3>Several members answer at this address</h3>
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

/** Lists missing rights that no poll has reported, and unnecessary rights. */
function renderRights({ rights, collectors }: ServerStatus, nowMs: number): Html | undefined {
  const { excess = [], leastPolicy, atMs = nowMs } = rights ?? {};
  const denied = new Set(collectors.flatMap(({ name, result }) => (result === 'off' ? [name] : [])));
  const lacking = rights?.rights.filter(({ collector, may }) => !may && !denied.has(collector)) ?? [];
  if (lacking.length + excess.length === 0) return undefined;
  return html`<div class="hint"><h3>Permissions at ${toTime(atMs, nowMs)}</h3>
${lacking.map(({ collector, missing }) => html`<p><b>${collector}</b> lacks ${missing.join(', ')}</p>\n`)}${
  excess.length === 0
    ? undefined
    : html`<p>The credentials have more rights than the exporter needs: ${excess.join(', ')}. This policy is enough:</p>
<details><summary>Policy</summary><pre tabindex="0"><code>${leastPolicy}</code></pre></details>`
}</div>
`;
}

function renderPolicy(policy: string | undefined): Html | undefined {
  if (policy === undefined) return undefined;
  return html`<p>Give this access policy to an administrator of the server. Replace <code>automation-exporter</code> with a role of the credentials.</p>
<pre tabindex="0"><code>${policy}</code></pre>`;
}

/** The collectors whose values newer releases expose to Prometheus themselves. */
const ownNumbers: readonly string[] = ['app-metrics', 'healthcheck', 'ping', 'threads'];
const absent: readonly (string | undefined)[] = ['not_found', 'meaningless'];

/** Explains where newer releases of the `rundeck` dialect serve metrics that the API lacks. */
function renderOwnMetrics(server: ServerStatus): Html | undefined {
  const { dialect, release, apiVersion } = findFacts(server);
  if (dialect !== 'rundeck' || Number.parseInt(release ?? '', 10) < firstRelease || release === undefined)
    return undefined;
  const targets = server.members.length === 0 ? [server] : server.members;
  const names = new Set(
    [server, ...targets].flatMap(({ collectors }) => collectors.filter(isAbsent).map(({ name }) => name)),
  );
  if (names.size === 0) return undefined;
  const lines = toScrapeConfig(targets, apiVersion);
  return html`<div class="hint"><h3>Metrics that this release serves itself</h3>
<p>Rundeck ${firstRelease} and newer no longer serve ${[...names].join(', ')} over this API unless the legacy metrics are enabled.
They serve JVM and HTTP request metrics at <code>monitoring/prometheus</code>: add it as a scrape target of Prometheus 2.55 or newer.</p>
<pre tabindex="0"><code>${lines}</code></pre></div>
`;
}

const firstRelease = 6;

/** Returns the facts of the first contact. Each member of a cluster has its own facts. */
function findFacts(server: ServerStatus): TargetStatus {
  return [server, ...server.members].find(({ release }) => release !== undefined) ?? server;
}

function isAbsent({ name, result, reason }: CollectorStatus): boolean {
  return result === 'off' && absent.includes(reason) && ownNumbers.includes(name);
}

/** Returns a scrape configuration. The configuration lists only hosts, because the rest of a URL may be private. */
function toScrapeConfig(targets: readonly TargetStatus[], apiVersion = 47): string {
  const urls = targets.map(({ url }) => URL.parse(url)).filter((url) => url !== null);
  const [first] = urls;
  const path = `${first?.pathname.replace(/\/+$/, '') ?? ''}/api/${apiVersion}/monitoring/prometheus`;
  return `scrape_configs:
  - job_name: rundeck
    scheme: ${first?.protocol.replace(':', '') ?? 'https'}
    metrics_path: ${JSON.stringify(path)}
    http_headers:
      X-Rundeck-Auth-Token: { files: [/run/secrets/automation-token] }
    static_configs:
      - targets: [${urls.map(({ host }) => JSON.stringify(host)).join(', ')}]
`;
}

type HiddenHistory = NonNullable<ServerStatus['executions']>['hidden'][number];

function renderUnreadable({ executions, visibleProjects }: ServerStatus): Html | undefined {
  if (visibleProjects === 0)
    return html`<p>The list of projects is empty: either the server has no projects, or the credentials cannot read any.</p>\n`;
  if (executions === undefined) return undefined;
  const { hidden, runningDenied, runningSight } = executions;
  const rows = new Map(hidden.map((history) => [history.project, renderHistory(history)]));
  const unknown = html`<td class="none"></td><td class="none"></td>`;
  for (const project of runningDenied) if (!rows.has(project)) rows.set(project, unknown);
  if (rows.size === 0)
    return runningSight === 'denied'
      ? html`<p>The credentials cannot read running executions in any project.</p>\n`
      : undefined;
  const mayNotRun = (project: string): boolean => runningSight === 'denied' || runningDenied.includes(project);
  const lines = [...rows].slice(0, maxShown).map(
    ([project, history]) => html`<tr><th scope="row"><bdi>${project}</bdi></th>${history}<td data-is="Running">${
      mayNotRun(project) ? denied : 'readable'
    }</td></tr>
`,
  );
  const more = rows.size > maxShown ? html`<p class="note">and ${rows.size - maxShown} more projects</p>\n` : undefined;
  return html`${toTable(['Project', numberHead('Ended lately'), numberHead('Readable'), 'Running'], lines)}${more}<p>To exclude a project on purpose, list it under <code>servers[].projects.exclude</code>.</p>
`;
}

const maxShown = 20;
const denied = html`<strong class="bad">✗ not readable</strong>`;

function renderHistory({ counted, readable }: HiddenHistory): Html {
  if (counted === undefined) return html`<td class="none"></td><td data-is="Readable" class="number">${denied}</td>`;
  return html`<td data-is="Ended lately" class="number">${counted}</td><td data-is="Readable" class="number">${readable}</td>`;
}

/** Renders the running executions of a server with their average durations, and the last finished executions. */
function renderExecutions({ name, executions, state, visibleProjects }: ServerStatus, root: string): Html | undefined {
  if (executions === undefined) return undefined;
  const isSilent = state === 'down' || state === 'refused';
  const toAddress = (id: number): string => `${root}executions/${encodeURIComponent(name.toWellFormed())}/${id}`;
  const list = `${root}executions?server=${encodeURIComponent(name.toWellFormed())}`;
  return html`${visibleProjects === 0 ? html`<h3>Runs now: unknown</h3>\n` : renderRunning(executions, isSilent, toAddress)}${renderEnded(executions, toAddress, list)}`;
}

type ToAddress = (id: number) => string;

function renderRunning(executions: ExecutionsOfServer, isSilent: boolean, toAddress: ToAddress): Html {
  const { running, runningCount, runningSight, runningDenied, overdueCount, interruptedCount, waitingCount } =
    executions;
  const { serverNowMs, seenMs = serverNowMs } = executions;
  const title = isSilent ? `Last seen running ${toTime(seenMs, serverNowMs)}` : 'Runs now';
  if (runningSight !== 'known')
    return html`<h3>${isSilent ? 'Last seen running' : title}: ${notKnown[runningSight]}</h3>\n`;
  const rows = running.map((execution) => renderRunningRow(execution, isSilent ? seenMs : serverNowMs, toAddress));
  const table = toTable(['Job', 'Project', 'Since', 'For'], rows);
  const facts = [
    runningCount === 0 ? 'nothing' : undefined,
    overdueCount === 0 ? undefined : `${overdueCount} overdue`,
    interruptedCount === 0 ? undefined : `${interruptedCount} interrupted`,
    waitingCount === 0 ? undefined : `${waitingCount} more waiting`,
    runningDenied.length === 0 ? undefined : `not readable in ${toCount(runningDenied.length, 'project')}`,
  ].filter((fact) => fact !== undefined);
  return html`<h3>${[title, ...(facts.length === 0 ? [] : [facts.join(', ')])].join(': ')}</h3>
${runningCount === 0 ? undefined : table}${renderMore(runningCount - running.length, 'more that run')}`;
}

const notKnown = { unknown: 'not known yet', denied: 'not readable' } as const;

function renderRunningRow(execution: RunningStatus, nowMs: number, toAddress: ToAddress): Html {
  const { id, project, startedAtMs, averageMs } = execution;
  const average = averageMs === undefined ? '' : ` (average ${toTook(averageMs)})`;
  return html`<tr>${renderJob(execution, toAddress(id))}<td data-is="Project">${project}</td><td data-is="Since" class="brief">${toTime(
    startedAtMs,
    nowMs,
  )}</td><td data-is="For" class="brief">${toDuration(nowMs - startedAtMs)}${average}${renderLate(execution, nowMs)}</td></tr>
`;
}

function renderEnded(
  { ended, endedCount, serverNowMs }: ExecutionsOfServer,
  toAddress: ToAddress,
  list: string,
): Html | undefined {
  if (ended.length === 0) return undefined;
  return html`<h3>Ended last</h3>
${toTable(
  ['Job', 'Project', 'Result', 'Ended', numberHead('Took')],
  ended.map((execution) => renderEndedRow(execution, serverNowMs, toAddress)),
)}<p class="note"><a href="${list}">All ${endedCount.toLocaleString('en')} finished executions</a>, <a href="${list}&amp;result=failures">failures only</a></p>
`;
}

function renderEndedRow(execution: EndedStatus, nowMs: number, toAddress: ToAddress): Html {
  const { id, project, ending, startedAtMs, endedAtMs } = execution;
  const took = endedAtMs < startedAtMs ? undefined : toTook(endedAtMs - startedAtMs);
  return html`<tr>${renderJob(execution, toAddress(id))}<td data-is="Project">${project}</td><td data-is="Result">${renderEnding(
    ending,
  )}</td><td data-is="Ended" class="brief">${toAge(endedAtMs, nowMs)}</td><td data-is="Took" class="number">${took}</td></tr>
`;
}

function renderJob({ id, job = 'ad hoc' }: Pick<RunningStatus, 'id' | 'job'>, address: string): Html {
  // The name is isolated, because it may change the direction of later text.
  return html`<th scope="row"><a href="${address}"><bdi>${job}</bdi></a> <span class="id">#${id}</span></th>`;
}

function renderMore(count: number, what: string): Html | undefined {
  return count > 0 ? html`<p class="note">and ${count} ${what}</p>\n` : undefined;
}
