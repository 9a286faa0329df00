import { type Change, toShownMs } from '../../../diagnosis/changes/deciding/change.ts';
import { toLength, toTime } from '../../../domain/ages.ts';
import { toCount } from '../../../domain/format.ts';
import { isFailure } from '../../../status/running.ts';
import type { ShownJob } from '../../../status/shown-job.ts';
import type { EndedStatus } from '../../../status/status.ts';
import { type Bar, renderChart } from '../chart.ts';
import { type Html, html } from '../html.ts';

/** Draws the durations of the last runs of a job, with changes and limits. */
export function renderRunsChart({ runs, usualMs, overdueMs, changes = [], nowMs }: ShownJob): Html | undefined {
  const timed = runs.filter((run) => toMs(run) >= 0).toReversed();
  const [first] = timed;
  const last = timed.at(-1);
  if (first === undefined || last === undefined) return undefined;
  const failures = timed.filter(isFailure).length;
  const changed = timed.map((run, index) => listBetween(changes, timed[index - 1], run));
  const maxMs = Math.max(...timed.map(toMs));
  // A line far above all runs would make the bars very small.
  const isNear = overdueMs !== undefined && overdueMs <= maxAbove * maxMs;
  const facts = [
    `${timed.length === 1 ? 'The last run' : `The last ${timed.length} runs`}, ${failures === 0 ? 'none failed' : `${failures} failed`}`,
    ...(usualMs === undefined ? [] : [`usually ${toLength(usualMs)} (dashed)`]),
    ...(overdueMs === undefined ? [] : [`overdue after ${toLength(overdueMs)}${isNear ? ' (solid)' : ''}`]),
    ...(changed.some(({ length }) => length > 0) ? ['the job changed before each shaded run'] : []),
  ].join('; ');
  return renderChart({
    caption: facts,
    label: facts,
    bars: timed.map((run, index) => toBar(run, changed[index] ?? [], nowMs)),
    ends: [toTime(first.endedAtMs, nowMs), toTime(last.endedAtMs, nowMs)],
    top: toLength(Math.max(maxMs, usualMs ?? 0, isNear ? overdueMs : 0)),
    line: usualMs,
    limit: isNear ? overdueMs : undefined,
    least: 1,
  });
}

const maxAbove = 4;

function toMs({ startedAtMs, endedAtMs }: EndedStatus): number {
  return endedAtMs - startedAtMs;
}

/** Returns the changes that were seen between the starts of two consecutive runs. */
function listBetween(changes: readonly Change[], before: EndedStatus | undefined, run: EndedStatus): readonly Change[] {
  if (before === undefined) return [];
  return changes.filter((change) => {
    const atMs = toShownMs(change);
    return atMs > before.startedAtMs && atMs <= run.startedAtMs;
  });
}

function toBar(run: EndedStatus, changes: readonly Change[], nowMs: number): Bar {
  const label = `#${run.id}, ${toTime(run.startedAtMs, nowMs)}: ${run.ending} after ${toLength(toMs(run))}`;
  const isMarked = changes.length > 0;
  const before = isMarked ? `; before it: ${changes.map(({ kind, what }) => `${kind} ${what}`).join('; ')}` : '';
  return { parts: [{ height: toMs(run), mood: toMood(run) }], label: `${label}${before}`, isMarked };
}

function toMood(run: EndedStatus): Bar['parts'][number]['mood'] {
  if (run.ending === 'succeeded') return 'good';
  return isFailure(run) ? 'bad' : 'off';
}

/** Draws the durations of the last runs in the size of a table cell. Failed runs have a mark below the line. */
export function renderSparkline(runs: readonly EndedStatus[]): Html | undefined {
  const timed = runs
    .filter((run) => toMs(run) >= 0)
    .slice(0, maxOfSparkline)
    .toReversed();
  if (timed.length === 0) return undefined;
  const maxMs = Math.max(1, ...timed.map(toMs));
  const failures = timed.filter(isFailure).length;
  const label = `the last ${toCount(timed.length, 'run')} took at most ${toLength(maxMs)}, ${failures === 0 ? 'none' : failures} failed`;
  const bars = timed.map((run, index) => {
    const height = Math.max(1, Math.round((toMs(run) * 16) / maxMs));
    const foot = isFailure(run) ? html`<rect class="bad" x="${index * 4}" y="18" width="3" height="3"/>` : undefined;
    return html`<rect class="${toMood(run)}" x="${index * 4}" y="${16 - height}" width="3" height="${height}"/>${foot}`;
  });
  return html`<svg class="spark" viewBox="0 0 ${maxOfSparkline * 4} 21" role="img" aria-label="${label}"><title>${label}</title>${bars}</svg>`;
}

const maxOfSparkline = 20;
