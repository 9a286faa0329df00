import { toAge, toLength } from '../../../domain/ages.ts';
import { isFailure } from '../../../status/running.ts';
import type { EndedExecution, EndedStatus } from '../../../status/status.ts';
import { renderJobLink } from '../addresses.ts';
import { type Html, html } from '../html.ts';
import { renderReadSteps } from '../traces/switch-on-traces.ts';
import { renderDurations } from './durations-chart.ts';
import type { Tracing } from './missing-execution.ts';

type About = {
  readonly others: readonly EndedStatus[];
  readonly tracing: Tracing;
  readonly root: string;
  readonly nowMs: number;
};

/** A finished execution whose steps are not known here: how it ended, and how long it took. */
export function renderEnded(execution: EndedExecution, { others, tracing, root, nowMs }: About): Html {
  const { server, project, id, job, ending, startedAtMs, endedAtMs } = execution;
  const lengthMs = endedAtMs - startedAtMs;
  const facts: readonly (readonly [string, Html | string | undefined])[] = [
    ['Server', server],
    ['Project', project],
    ['Job', renderJobLink(server, execution, root)],
    ['Started', toUtc(startedAtMs)],
    ['Ended', `${toUtc(endedAtMs)} (${toAge(endedAtMs, nowMs)})`],
    ['Took', lengthMs < 0 ? undefined : toLength(lengthMs)],
  ];
  const known = facts.filter(([, value]) => value !== undefined);
  const [mood, sign] = ending === 'succeeded' ? ['good', '✓'] : isFailure(execution) ? ['bad', '✗'] : ['off', '!'];
  return html`<div class="headline ${mood}"><h1><span class="sign" aria-hidden="true">${sign}</span><span><bdi>${job ?? 'ad hoc'}</bdi> <span class="id">#${id}</span>: ${ending}</span></h1></div>
<dl>${known.map(([name, value]) => html`<div><dt>${name}</dt><dd><bdi>${value}</bdi></dd></div>`)}</dl>
${renderWithoutSteps(tracing)}${renderDurations(execution, others, root)}`;
}

function renderWithoutSteps({ isOn }: Tracing): Html {
  if (isOn) {
    return html`<p class="note">Its steps are not known here: they are still being read, it ended before the exporter started, or newer executions replaced it.</p>\n`;
  }
  return html`<p class="note">Its steps are not known here because <code>traces.enabled</code> is <code>off</code>. To read the steps of executions that end from now on:</p>
${renderReadSteps()}`;
}

function toUtc(atMs: number): string {
  return `${new Date(atMs).toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}
