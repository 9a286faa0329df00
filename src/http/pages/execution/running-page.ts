import { toDuration, toLength, toTime } from '../../../domain/ages.ts';
import type { RunningExecution } from '../../../status/status.ts';
import { renderJobLink } from '../addresses.ts';
import { type Html, html } from '../html.ts';
import { renderOutsideLinks, toServerAddress } from './outside-links.ts';

type About = {
  readonly isSilent: boolean;
  readonly root: string;
  /** The address of the server. */
  readonly url: string | undefined;
};

/** An execution that still runs, or waits to run: its steps are read once it has ended. */
export function renderRunning(execution: RunningExecution, { isSilent, root, url }: About): Html {
  const { server, project, id, job = 'ad hoc', startedAtMs, averageMs, isOverdue, isWaiting } = execution;
  const { serverNowMs, seenMs } = execution;
  const forMs = (isSilent ? seenMs : serverNowMs) - startedAtMs;
  const facts: readonly (readonly [string, Html | string | undefined])[] = [
    ['Server', server],
    ['Project', project],
    ['Job', renderJobLink(server, execution, root)],
    ['Started', isWaiting ? undefined : toUtc(startedAtMs)],
    [isSilent ? 'Running for, when last seen' : 'Running for', isWaiting ? undefined : toDuration(forMs)],
    ['Average of the job', averageMs === undefined ? undefined : toLength(averageMs)],
    ['Overdue', isOverdue ? '✗ yes' : undefined],
  ];
  const known = facts.filter(([, value]) => value !== undefined);
  return html`<div class="headline off"><h1><span class="sign" aria-hidden="true">…</span><bdi>${job}</bdi> <span class="id">#${id}</span>: ${toStanding(
    execution,
    isSilent,
  )}</h1></div>
<p class="note">As reported by the server at ${toUtc(seenMs)}. Its steps are shown here after it has ended and its trace is finished.</p>
<dl>${known.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>
${renderOutsideLinks({ traceId: undefined, link: undefined, permalink: toServerAddress(url, project, id) })}`;
}

/** Says what an execution does that has not ended: of a silent server nobody knows it any longer. */
export function toStanding({ isWaiting, seenMs, serverNowMs }: RunningExecution, isSilent: boolean): string {
  if (isSilent) return `last seen ${isWaiting ? 'waiting' : 'running'} ${toTime(seenMs, serverNowMs)}`;
  return isWaiting ? 'waits to run' : 'still runs';
}

function toUtc(atMs: number): string {
  return `${new Date(atMs).toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}
