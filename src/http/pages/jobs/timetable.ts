import { toDuration, toTime, toWait } from '../../../domain/ages.ts';
import type { ShownJob } from '../../../status/shown-job.ts';
import { toExecutionAddress } from '../addresses.ts';
import { type Html, html } from '../html.ts';
import { renderVerdict } from './verdict-strip.ts';

/** The timetable of a job: what became of its last times, the latest first, then what comes, folded away. */
export function renderTimetable(
  { server, nowMs, schedule }: ShownJob,
  root: string,
  isSilent: boolean,
): Html | undefined {
  if (schedule === undefined) return undefined;
  const { job, openMs, comingMs } = schedule;
  const toRun = (id: number): string => `${root}${toExecutionAddress(server, id)}`;
  const toRow = (atMs: number, what: Html): Html =>
    html`<tr><th scope="row" class="brief">${toTime(atMs, nowMs)}</th><td data-is="Outcome">${what}</td></tr>\n`;
  const open = html`… ${isSilent ? 'checked once the server answers' : 'still being checked'}`;
  const past = [
    ...openMs
      .slice(-mostListed)
      .toReversed()
      .map((atMs) => toRow(atMs, open)),
    ...job.verdicts.toReversed().map((verdict) => toRow(verdict.expectedMs, renderVerdict(verdict, toRun))),
  ];
  const coming = comingMs.slice(0, mostListed).map((atMs) => toRow(atMs, html`${toWait(atMs, nowMs)}`));
  const folded = html`<details><summary>Next times</summary>\n${renderTable(coming)}</details>\n`;
  return html`<section>
<h2>Timetable</h2>
<p class="note">${toEvery(comingMs)}The last 20 decided times are kept.</p>
${past.length === 0 ? html`<p>No scheduled time has passed since the exporter started.</p>\n` : renderTable(past)}${coming.length === 0 ? undefined : folded}</section>
`;
}

function renderTable(rows: readonly Html[]): Html {
  return html`<table>
<thead><tr><th>Expected</th><th>Outcome</th></tr></thead>
<tbody>${rows}</tbody>
</table>
`;
}

const mostListed = 20;

/** Says how often the job is expected, where that is even. */
function toEvery(times: readonly number[]): string {
  const [first, second] = times;
  if (first === undefined || second === undefined) return '';
  const everyMs = second - first;
  const isEven = times.every((time, index) => time === first + index * everyMs);
  return isEven ? `Expected every ${toDuration(everyMs)}. ` : '';
}
