import { toLength, toTime } from '../../../domain/ages.ts';
import { isFailure, isRunOf } from '../../../status/running.ts';
import type { EndedStatus } from '../../../status/status.ts';
import { type Bar, renderChart } from '../chart.ts';
import { type Html, html } from '../html.ts';
import { toQuery } from '../list.ts';

type Run = {
  readonly server: string;
  readonly id: number;
  readonly project: string | undefined;
  readonly job: string | undefined;
};

/** Draws the durations of the last runs of a job, and highlights the given run. Returns undefined if there is no other run. */
export function renderDurations(
  { server, id, project, job }: Run,
  others: readonly EndedStatus[],
  root: string,
): Html | undefined {
  if (job === undefined) return undefined;
  const ofJob = { id: others.find((one) => one.id === id)?.jobId, path: `${project}/${job}` };
  const same = others.filter((one) => isRunOf(one, ofJob) && one.endedAtMs >= one.startedAtMs);
  const at = same.findIndex((one) => one.id === id);
  // The newest runs, or the runs around an older run.
  const from = Math.max(0, Math.min(at - maxShown / 2, same.length - maxShown));
  const shown = same.slice(from, from + maxShown).toReversed();
  const [first] = shown;
  const last = shown.at(-1);
  if (first === undefined || last === undefined || shown.length < 2) return undefined;
  const medianMs = toMedian(shown.filter(({ ending }) => ending === 'succeeded').map(toMs));
  const maxMs = Math.max(...shown.map(toMs));
  const median = medianMs === undefined ? '' : `, median of successful runs ${toLength(medianMs)} (dashed)`;
  const list = `${root}executions${toQuery({ server, project: project ?? '', text: job })}`;
  return html`<section>
<h2>Compared with other runs</h2>
${renderChart({
  caption: html`<a href="${list}">${shown.length} runs</a> of <bdi>${job}</bdi>${median}`,
  label: `How long the last ${shown.length} runs took, at most ${toLength(maxMs)}${median}`,
  bars: shown.map((one) => toBar(one, id)),
  ends: [toTime(first.endedAtMs, last.endedAtMs), toTime(last.endedAtMs, last.endedAtMs)],
  top: toLength(maxMs),
  line: medianMs,
  least: 1,
})}</section>
`;
}

const maxShown = 60;

function toMs({ startedAtMs, endedAtMs }: EndedStatus): number {
  return endedAtMs - startedAtMs;
}

function toBar(run: EndedStatus, id: number): Bar {
  const mood = run.ending === 'succeeded' ? 'good' : isFailure(run) ? 'bad' : 'off';
  const label = `#${run.id}: ${run.ending} after ${toLength(toMs(run))}`;
  return { parts: [{ height: toMs(run), mood }], label, isMarked: run.id === id };
}

function toMedian(lengths: readonly number[]): number | undefined {
  const sorted = lengths.toSorted((one, other) => one - other);
  const [one, other] = [sorted[(sorted.length - 1) >> 1], sorted[sorted.length >> 1]];
  return one === undefined || other === undefined ? undefined : (one + other) / 2;
}
