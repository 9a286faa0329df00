import type { ServerStatus } from '../../../status/status.ts';
import { type Html, html } from '../html.ts';

type HiddenHistory = NonNullable<ServerStatus['executions']>['hidden'][number];

/** Per project, which executions are not shown. */
export function renderUnreadable({ executions, visibleProjects }: ServerStatus): Html | undefined {
  if (visibleProjects === 0) {
    return html`<p>The list of projects is empty: either the server has no projects, or the credentials may not read any.</p>\n`;
  }
  if (executions === undefined) return undefined;
  const { hidden, runningDenied, runningSight } = executions;
  const rows = new Map(hidden.map((history) => [history.project, renderHistory(history)]));
  for (const project of runningDenied) if (!rows.has(project)) rows.set(project, seen);
  if (rows.size === 0) {
    return runningSight === 'denied'
      ? html`<p>The credentials may not read running executions in any project.</p>\n`
      : undefined;
  }
  const mayNotRun = (project: string): boolean => runningSight === 'denied' || runningDenied.includes(project);
  const lines = [...rows].slice(0, mostShown).map(
    ([project, history]) => html`<tr><th scope="row"><bdi>${project}</bdi></th>${history}<td data-is="Running">${
      mayNotRun(project) ? denied : 'readable'
    }</td></tr>
`,
  );
  const more =
    rows.size > mostShown ? html`<p class="note">and ${rows.size - mostShown} more projects</p>\n` : undefined;
  return html`<table>
<thead><tr><th>Project</th><th class="number">Ended lately</th><th class="number">Readable</th><th>Running</th></tr></thead>
<tbody>${lines}</tbody>
</table>
${more}<p>To exclude a project on purpose, list it under <code>servers[].projects.exclude</code>.</p>
`;
}

const mostShown = 20;
const denied = html`<strong class="bad">✗ not allowed to see</strong>`;
const seen = html`<td class="none"></td><td data-is="Readable" class="number">all</td>`;

function renderHistory({ counted, readable }: HiddenHistory): Html {
  if (counted === undefined) return html`<td class="none"></td><td data-is="Readable" class="number">${denied}</td>`;
  return html`<td data-is="Ended lately" class="number">${counted}</td><td data-is="Readable" class="number">${readable}</td>`;
}
