import { toTime } from '../../../domain/ages.ts';
import type { HourOfRuns, ServerStatus } from '../../../status/status.ts';
import { type Bar, renderChart } from '../chart.ts';
import { type Html, html } from '../html.ts';

/** Draws the runs and failures of all servers by the hour; undefined until something ended. */
export function renderHours(servers: readonly ServerStatus[], root: string, nowMs: number): Html | undefined {
  const hours = joinHours(servers);
  const known = hours.filter(({ runs }) => runs !== undefined);
  const [first] = known;
  if (first === undefined) return undefined;
  const runs = known.reduce((sum, hour) => sum + (hour.runs ?? 0), 0);
  const failures = known.reduce((sum, hour) => sum + hour.failures, 0);
  const since = known.length === hours.length ? 'in 24 h' : `since ${toTime(first.startMs, nowMs)}`;
  const most = Math.max(...known.map((hour) => hour.runs ?? 0));
  const failed =
    failures === 0 ? html`none failed` : html`<a href="${root}executions?result=failures">${failures} failed</a>`;
  return renderChart({
    caption: html`<a href="${root}executions">${runs} executions</a> ended ${since}, ${failed}`,
    label: `Executions by the hour ${since}: ${runs} ended, ${failures} of them failed`,
    bars: hours.map((hour) => toBar(hour, nowMs)),
    ends: [toTime(hours[0]?.startMs ?? nowMs, nowMs), 'now'],
    top: `${most} an hour`,
    least: 1,
  });
}

/** Adds up the hours of all servers. An hour that no server knows anything about is left out. */
function joinHours(servers: readonly ServerStatus[]): readonly HourOfRuns[] {
  const all = servers.flatMap(({ executions }) => (executions === undefined ? [] : [executions.hours]));
  const byStart = Map.groupBy(all.flat(), ({ startMs }) => startMs);
  const isKnown = (hour: HourOfRuns): boolean => hour.runs !== undefined;
  return [...byStart]
    .toSorted(([one], [other]) => one - other)
    .slice(-24)
    .map(([startMs, hours]) => ({
      startMs,
      runs: hours.some(isKnown) ? hours.reduce((sum, { runs = 0 }) => sum + runs, 0) : undefined,
      failures: hours.reduce((sum, { failures }) => sum + failures, 0),
    }));
}

function toBar({ startMs, runs, failures }: HourOfRuns, nowMs: number): Bar {
  const from = toTime(startMs, nowMs);
  if (runs === undefined) return { parts: [], label: `from ${from}: not known` };
  return {
    parts: [
      { height: runs - failures, mood: 'plain' },
      { height: failures, mood: 'bad' },
    ],
    label: `from ${from}: ${runs} ended, ${failures} failed`,
  };
}
