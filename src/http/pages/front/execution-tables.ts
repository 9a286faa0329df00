import { toAge, toDuration, toTime, toTook } from '../../../domain/ages.ts';
import { toCount } from '../../../domain/format.ts';
import type { EndedStatus, ExecutionsOfServer, RunningStatus, ServerStatus } from '../../../status/status.ts';
import { renderEnding } from '../ending.ts';
import { type Html, html } from '../html.ts';

/** Renders the running executions of a server with their average duration, and the last finished ones. */
export function renderExecutions({ name, executions, state }: ServerStatus, root: string): Html | undefined {
  if (executions === undefined) return undefined;
  const isSilent = state === 'down' || state === 'refused';
  const toAddress = (id: number): string => `${root}executions/${encodeURIComponent(name.toWellFormed())}/${id}`;
  const list = `${root}executions?server=${encodeURIComponent(name.toWellFormed())}`;
  return html`${renderRunning(executions, isSilent, toAddress)}${renderEnded(executions, toAddress, list)}`;
}

type ToAddress = (id: number) => string;

function renderRunning(executions: ExecutionsOfServer, isSilent: boolean, toAddress: ToAddress): Html {
  const { running, runningCount, runningSight, runningDenied, overdueCount, waitingCount } = executions;
  const { serverNowMs, seenMs = serverNowMs } = executions;
  const title = isSilent ? `Last seen running ${toTime(seenMs, serverNowMs)}` : 'Runs now';
  if (runningSight !== 'known') return html`<h3>${title}: ${notKnown[runningSight]}</h3>\n`;
  const rows = running.map((execution) => renderRunningRow(execution, isSilent ? seenMs : serverNowMs, toAddress));
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

function renderRunningRow(execution: RunningStatus, nowMs: number, toAddress: ToAddress): Html {
  const { id, project, startedAtMs, averageMs, isOverdue } = execution;
  const average = averageMs === undefined ? '' : ` (average ${toTook(averageMs)})`;
  const time = `${toDuration(nowMs - startedAtMs)}${average}`;
  return html`<tr>${renderJob(execution, toAddress(id))}<td data-is="Project">${project}</td><td data-is="Since" class="brief">${toTime(
    startedAtMs,
    nowMs,
  )}</td><td data-is="For" class="brief">${time}${isOverdue ? html` <strong class="bad">✗ overdue</strong>` : undefined}</td></tr>
`;
}

function renderEnded(
  { ended, endedCount, serverNowMs }: ExecutionsOfServer,
  toAddress: ToAddress,
  list: string,
): Html | undefined {
  if (ended.length === 0) return undefined;
  return html`<h3>Ended last</h3>
<table>
<thead><tr><th>Job</th><th>Project</th><th>Result</th><th>Ended</th><th class="number">Took</th></tr></thead>
<tbody>${ended.map((execution) => renderEndedRow(execution, serverNowMs, toAddress))}</tbody>
</table>
<p class="note"><a href="${list}">All ${endedCount} that are kept</a>, <a href="${list}&amp;result=failures">failures only</a></p>
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
  // Isolated: a name may change the direction of the text after it.
  return html`<th scope="row"><a href="${address}"><bdi>${job}</bdi></a> <span class="id">#${id}</span></th>`;
}

function renderMore(count: number, what: string): Html | undefined {
  return count > 0 ? html`<p class="note">and ${count} ${what}</p>\n` : undefined;
}
