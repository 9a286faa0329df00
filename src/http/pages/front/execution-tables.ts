import { toAge, toDuration, toTime, toTook } from '../../../domain/ages.ts';
import { toCount } from '../../../domain/sizes.ts';
import type { EndedStatus, ExecutionsOfServer, RunningStatus, ServerStatus } from '../../../status/status.ts';
import { type Html, html } from '../html.ts';

/** The path of the front page, and the executions that have a page. */
export type Pages = { readonly root: string; readonly hasPage: (server: string, id: number) => boolean };

/** Renders the running executions of a server next to their usual duration, and those that ended last. */
export function renderExecutions({ name, executions, state }: ServerStatus, pages: Pages): Html | undefined {
  if (executions === undefined) return undefined;
  const isOld = state !== 'up';
  return html`${renderRunning(executions, isOld)}${renderEnded(executions, (id) => toAddress(pages, name, id))}`;
}

function renderRunning(executions: ExecutionsOfServer, isOld: boolean): Html {
  const { running, runningCount, runningSight, runningDenied, overdueCount, waitingCount, serverNowMs } = executions;
  const title = isOld ? 'Ran when it last answered' : 'Runs now';
  if (runningSight !== 'known') return html`<h3>${title}: ${notKnown[runningSight]}</h3>\n`;
  const rows = running.map((execution) => renderRunningRow(execution, serverNowMs));
  const table = html`<table>
<thead><tr><th>Job</th><th>Project</th><th>Since</th><th>For</th></tr></thead>
<tbody>${rows}</tbody>
</table>
`;
  const facts = [
    runningCount === 0 ? 'nothing' : undefined,
    overdueCount === 0 ? undefined : `${overdueCount} overdue`,
    waitingCount === 0 ? undefined : `${waitingCount} more waiting`,
    runningDenied.length === 0 ? undefined : `not allowed to see ${toCount(runningDenied.length, 'project')}`,
  ].filter((fact) => fact !== undefined);
  const about = facts.length === 0 ? undefined : html`: ${facts.join(', ')}`;
  return html`<h3>${title}${about}</h3>
${runningCount === 0 ? undefined : table}${renderMore(runningCount - running.length, 'more that run')}`;
}

const notKnown = { unknown: 'not known yet', denied: 'not allowed to see' } as const;

function renderRunningRow(execution: RunningStatus, nowMs: number): Html {
  const { project, startedAtMs, averageMs, isOverdue } = execution;
  const usually = averageMs === undefined ? '' : ` of usually ${toTook(averageMs)}`;
  const time = `${toDuration(nowMs - startedAtMs)}${usually}`;
  return html`<tr>${renderJob(execution)}<td data-is="Project">${project}</td><td data-is="Since" class="brief">${toTime(
    startedAtMs,
    nowMs,
  )}</td><td data-is="For" class="brief">${time}${isOverdue ? html` <strong class="bad">✗ overdue</strong>` : undefined}</td></tr>
`;
}

type Find = (id: number) => string | undefined;

/** Only what can be shown is worth a link. */
function toAddress({ root, hasPage }: Pages, server: string, id: number): string | undefined {
  return hasPage(server, id) ? `${root}executions/${encodeURIComponent(server.toWellFormed())}/${id}` : undefined;
}

function renderEnded({ ended, endedCount, serverNowMs }: ExecutionsOfServer, find: Find): Html | undefined {
  if (ended.length === 0) return undefined;
  return html`<h3>Ended last</h3>
<table>
<thead><tr><th>Job</th><th>Project</th><th>Result</th><th>Ended</th><th class="number">Took</th></tr></thead>
<tbody>${ended.map((execution) => renderEndedRow(execution, { nowMs: serverNowMs, find }))}</tbody>
</table>
${renderMore(endedCount - ended.length, 'more that ended before')}`;
}

function renderEndedRow(
  execution: EndedStatus,
  { nowMs, find }: { readonly nowMs: number; readonly find: Find },
): Html {
  const { id, project, ending, startedAtMs, endedAtMs } = execution;
  const took = endedAtMs < startedAtMs ? undefined : toTook(endedAtMs - startedAtMs);
  return html`<tr>${renderJob(execution, find(id))}<td data-is="Project">${project}</td><td data-is="Result">${renderEnding(
    ending,
  )}</td><td data-is="Ended" class="brief">${toAge(endedAtMs, nowMs)}</td><td data-is="Took" class="number">${took}</td></tr>
`;
}

function renderJob({ id, job = 'ad hoc' }: Pick<RunningStatus, 'id' | 'job'>, address?: string): Html {
  const name = address === undefined ? job : html`<a href="${address}">${job}</a>`;
  // Isolated: a name may turn the direction of what follows it.
  return html`<th scope="row"><bdi>${name}</bdi> <span class="id">#${id}</span></th>`;
}

const bad: readonly string[] = ['failed', 'timedout', 'other'];

function renderEnding(ending: string): Html {
  if (ending === 'succeeded') return html`<span class="good">✓ succeeded</span>`;
  return bad.includes(ending) ? html`<span class="bad">✗ ${ending}</span>` : html`<span class="off">! ${ending}</span>`;
}

function renderMore(count: number, what: string): Html | undefined {
  return count > 0 ? html`<p class="note">and ${count} ${what}</p>\n` : undefined;
}
