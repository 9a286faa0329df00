import { toDuration, toLength } from '../../../domain/ages.ts';
import type { RunningExecution } from '../../../status/status.ts';
import { renderJobLink } from '../addresses.ts';
import { type Html, html } from '../html.ts';

/** An execution that still runs, or waits to run: its steps are read once it has ended. */
export function renderRunning(execution: RunningExecution, root: string): Html {
  const { server, project, id, job = 'ad hoc', startedAtMs, averageMs, isOverdue, isWaiting, serverNowMs } = execution;
  const forMs = serverNowMs - startedAtMs;
  const facts: readonly (readonly [string, Html | string | undefined])[] = [
    ['Server', server],
    ['Project', project],
    ['Job', renderJobLink(server, execution, root)],
    ['Started', isWaiting ? undefined : toUtc(startedAtMs)],
    ['Running for', isWaiting ? undefined : toDuration(forMs)],
    ['Usually takes', averageMs === undefined ? undefined : toLength(averageMs)],
    ['Overdue', isOverdue ? '✗ yes' : undefined],
  ];
  const known = facts.filter(([, value]) => value !== undefined);
  return html`<div class="headline off"><h1><span class="sign" aria-hidden="true">…</span><bdi>${job}</bdi> <span class="id">#${id}</span>: ${
    isWaiting ? 'waits to run' : 'still runs'
  }</h1></div>
<p class="note">As reported by the server at ${toUtc(serverNowMs)}. Its steps are shown here after it has ended and its trace is finished.</p>
<dl>${known.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>
`;
}

function toUtc(atMs: number): string {
  return `${new Date(atMs).toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}
