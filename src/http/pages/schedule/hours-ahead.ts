import { toTime } from '../../../domain/ages.ts';
import type { JobNames } from '../../../domain/execution.ts';
import { toCount } from '../../../domain/format.ts';
import { toJobPath } from '../../../domain/job.ts';
import type { HourAhead } from '../../../expected-runs/deciding/hours-ahead.ts';
import type { ServerSchedule } from '../../../expected-runs/showing/server-schedule.ts';
import { renderPathLink } from '../addresses.ts';
import { type Bar, renderChart } from '../chart.ts';
import { type Html, html, numberHead, toTable } from '../html.ts';
import { toFacts } from '../jobs/job-page.ts';

/** Draws the next 24 hours: expected concurrent runs, the number of threads, and jobs that start at the same time. */
export function renderAhead({ server, ahead, blockers, untimedCount, nowMs }: ServerSchedule, root: string): Html {
  const title = html`<section>
<h2>Next 24 hours</h2>
`;
  if (ahead === undefined) return html`${title}<p>Not computed yet.</p>\n</section>\n`;
  const { hours, threads } = ahead;
  const most = Math.max(...hours.map((hour) => hour.most));
  const starts = hours.reduce((sum, hour) => sum + hour.starts, 0);
  const limit =
    threads === undefined
      ? 'the number of threads is unknown'
      : `the scheduler has ${toCount(threads, 'thread')} (dashed)`;
  const exceeded = hours.filter((hour) => hour.exceeded !== undefined);
  const facts = `${toCount(starts, 'start')} expected, at most ${toCount(most, 'run')} at once; ${limit}`;
  const chart = renderChart({
    caption: facts,
    label: `Most runs at once by the hour: ${facts}`,
    bars: hours.map((hour) => toBar(hour, nowMs)),
    ends: ['now', toTime(hours.at(-1)?.startMs ?? nowMs, nowMs)],
    top: String(Math.max(most, threads ?? 0)),
    line: threads,
    least: 1,
  });
  const untimed =
    untimedCount === 0 ? '' : `, and starts of ${toCount(untimedCount, 'job')} whose scheduled times are not all known`;
  const none = html`<p class="off">– ${toFacts(blockers)}: while this lasts, no run starts.</p>\n`;
  return html`${title}${blockers.length === 0 ? undefined : none}${chart}${threads === undefined ? undefined : renderExceeded(exceeded, { server, root, nowMs })}${renderAll(hours, nowMs)}<p class="note">Computed at ${toTime(ahead.atMs, nowMs)}, with the usual duration of each job. Not included: manual runs${untimed}.</p>
</section>
`;
}

function toBar({ startMs, starts, most, exceeded }: HourAhead, nowMs: number): Bar {
  const words = `from ${toTime(startMs, nowMs)}: at most ${toCount(most, 'run')} at once, ${toCount(starts, 'start')}`;
  return {
    parts: [{ height: most, mood: exceeded === undefined ? 'plain' : 'bad' }],
    label: exceeded === undefined ? words : `${words}; more runs than threads`,
  };
}

type About = { readonly server: string; readonly root: string; readonly nowMs: number };

function renderExceeded(hours: readonly HourAhead[], about: About): Html {
  if (hours.length === 0) return html`<p>No hour needs more threads than the scheduler has.</p>\n`;
  return html`<h3>${toCount(hours.length, 'hour')} with more runs than threads</h3>
${toTable(
  ['From', numberHead('At once'), 'First at', 'Jobs that collide'],
  hours.flatMap((hour) => renderCollision(hour, about)),
)}`;
}

function renderCollision({ startMs, most, exceeded }: HourAhead, { server, root, nowMs }: About): readonly Html[] {
  if (exceeded === undefined) return [];
  const { atMs, jobs, jobCount } = exceeded;
  const links = jobs.map((job, index) => html`${index === 0 ? '' : ', '}${renderJob(job, server, root)}`);
  const more = jobCount > jobs.length ? ` and ${jobCount - jobs.length} more` : '';
  return [
    html`<tr><th scope="row" class="brief">${toTime(startMs, nowMs)}</th><td data-is="At once" class="number"><strong class="bad">✗ ${most}</strong></td><td data-is="First at" class="brief">${toTime(atMs, nowMs)}</td><td data-is="Jobs that collide">${links}${more}</td></tr>\n`,
  ];
}

/** Renders a job. A command without a job has no page. */
function renderJob(job: JobNames, server: string, root: string): Html {
  if (job.name === '') return html`<bdi>${job.project}</bdi> (ad hoc)`;
  return renderPathLink(server, toJobPath(job), root);
}

function renderAll(hours: readonly HourAhead[], nowMs: number): Html {
  const rows = hours.map(
    ({ startMs, starts, most }) =>
      html`<tr><th scope="row" class="brief">${toTime(startMs, nowMs)}</th><td data-is="Starts" class="number">${starts}</td><td data-is="At once" class="number">${most}</td></tr>\n`,
  );
  return html`<details><summary>All 24 hours as numbers</summary>
<table>
<thead><tr><th>From</th><th class="number">Starts</th><th class="number">At once</th></tr></thead>
<tbody>${rows}</tbody>
</table></details>
`;
}
