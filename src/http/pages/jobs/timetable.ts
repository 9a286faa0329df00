import { toDuration, toTime, toWait } from '../../../domain/ages.ts';
import type { ShownJob } from '../../../status/shown-job.ts';
import { toExecutionAddress } from '../addresses.ts';
import { type Html, html } from '../html.ts';
import { renderVerdict } from './verdict-strip.ts';

/** The timetable of a job: what comes, what is not decided yet, and what became of its last times, the latest first. */
export function renderTimetable({ server, nowMs, schedule }: ShownJob, root: string): Html | undefined {
  if (schedule === undefined) return undefined;
  const { job, openMs, comingMs } = schedule;
  const toRun = (id: number): string => `${root}${toExecutionAddress(server, id)}`;
  const toRow = (atMs: number, what: Html): Html =>
    html`<tr><th scope="row" class="brief">${toTime(atMs, nowMs)}</th><td data-is="What became of it">${what}</td></tr>\n`;
  const endOfDayMs = (Math.floor(nowMs / dayMs) + 1) * dayMs;
  const today = comingMs.filter((atMs) => atMs < endOfDayMs);
  // Of a job that runs more rarely, the next time is of another day.
  const coming = (today.length === 0 ? comingMs.slice(0, 1) : today).slice(0, mostComing);
  const rows = [
    ...coming.toReversed().map((atMs) => toRow(atMs, html`… ${toWait(atMs, nowMs)}`)),
    ...openMs
      .slice(-mostComing)
      .toReversed()
      .map((atMs) => toRow(atMs, html`… not decided yet`)),
    ...job.verdicts.toReversed().map((verdict) => toRow(verdict.expectedMs, renderVerdict(verdict, toRun))),
  ];
  if (rows.length === 0)
    return html`<section>\n<h2>Timetable</h2>\n<p>No time is expected, and none is decided yet.</p>\n</section>\n`;
  const more = today.length - coming.length;
  return html`<section>
<h2>Timetable</h2>
<p class="note">${toEvery(comingMs)}${more > 0 ? `${more} more times today are not shown. ` : ''}The last 20 decided times are kept.</p>
<table>
<thead><tr><th>Expected</th><th>What became of it</th></tr></thead>
<tbody>${rows}</tbody>
</table>
</section>
`;
}

const dayMs = 86_400_000;
const mostComing = 20;

/** Says how often the job is expected, where that is even. */
function toEvery(times: readonly number[]): string {
  const [first, second] = times;
  if (first === undefined || second === undefined) return '';
  const everyMs = second - first;
  const isEven = times.every((time, index) => time === first + index * everyMs);
  return isEven ? `Expected every ${toDuration(everyMs)}. ` : '';
}
