import { type Html, html } from './html.ts';
import type { ExecutionsOfServer, HiddenProject, ServerStatus } from './status.ts';

type Unreadable = Pick<ExecutionsOfServer, 'runningSight' | 'runningDenied' | 'hidden'>;

/** Sentences about the executions of a server that its credentials may not read. */
export function listUnreadable({ executions, visibleProjects, state }: ServerStatus): readonly string[] {
  if (state !== 'up') return [];
  if (visibleProjects === 0) return ['nothing is visible to these credentials: the project list is empty'];
  return executions === undefined ? [] : [...listSentences(executions)];
}

function* listSentences({ runningSight, runningDenied, hidden }: Unreadable): Generator<string> {
  const counted = hidden.filter(({ counted: total }) => total !== undefined);
  yield* listCounts(counted.filter(({ readable }) => readable === 0));
  yield* listCounts(counted.filter(({ readable }) => readable > 0));
  const denied = hidden.filter(({ counted: total }) => total === undefined);
  if (denied.length > 0) yield `history of ${toNames(denied.map(({ project }) => project))}: not allowed to see`;
  if (runningSight === 'denied') yield 'running executions: not allowed to see';
  else if (runningDenied.length > 0) yield `running executions of ${toNames(runningDenied)}: not allowed to see`;
}

function* listCounts(projects: readonly HiddenProject[]): Generator<string> {
  if (projects.length === 0) return;
  let [all, shown] = [0, 0];
  for (const { counted = 0, readable } of projects) {
    all += counted;
    shown += readable;
  }
  yield `history of ${toNames(projects.map(({ project }) => project))}: ${all} counted, ${shown} readable`;
}

/** The first few of them, in full. */
function toNames(names: readonly string[]): string {
  const shown = names.slice(0, names.length > 4 ? 3 : 4).join(', ');
  return names.length > 4 ? `${shown} and ${names.length - 3} more` : shown;
}

/** Per project, which executions are not shown. */
export function renderUnreadable({ executions, visibleProjects }: ServerStatus): Html | undefined {
  if (visibleProjects === 0) {
    return html`<p>The list of projects is empty: either the server has none, or these credentials may read none.</p>\n`;
  }
  if (executions === undefined) return undefined;
  const { hidden, runningDenied, runningSight } = executions;
  const rows = new Map(hidden.map((history) => [history.project, renderHistory(history)]));
  for (const project of runningDenied) if (!rows.has(project)) rows.set(project, seen);
  if (rows.size === 0) {
    return runningSight === 'denied' ? html`<p>Running executions may not be read in any project.</p>\n` : undefined;
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
${more}<p>To leave a project out on purpose, list it under <code>servers[].projects.exclude</code>.</p>
`;
}

const mostShown = 20;
const denied = html`<strong class="bad">✗ not allowed to see</strong>`;
const seen = html`<td class="none"></td><td data-is="Readable" class="number">all</td>`;

function renderHistory({ counted, readable }: HiddenProject): Html {
  if (counted === undefined) return html`<td class="none"></td><td data-is="Readable" class="number">${denied}</td>`;
  return html`<td data-is="Ended lately" class="number">${counted}</td><td data-is="Readable" class="number">${readable}</td>`;
}
