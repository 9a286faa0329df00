import { renderEnd, renderHeader } from '../../metrics/render.ts';
import type { HistorySeries } from './history-series.ts';

type Span = { readonly sinceMs: number; readonly untilMs: number };

/**
 * Returns the times of samples: the first and last time, and every five minutes from one hour before to one hour after each
 * change. Prometheus needs samples that are close together to compute increases; samples at changes alone would give wrong
 * increases. The last sample is before the end of the span, because the next file begins with a sample at that time.
 */
function* sampleTimes(changes: readonly number[], { sinceMs, untilMs }: Span): Generator<number> {
  const lastMs = untilMs - 1;
  yield sinceMs;
  let nextMs = sinceMs + 1;
  for (let at = 0; at < changes.length; at += 2) {
    const changeMs = changes[at] ?? 0;
    nextMs = Math.max(nextMs, changeMs - marginMs);
    for (
      nextMs = Math.ceil(nextMs / stepMs) * stepMs;
      nextMs < Math.min(changeMs + marginMs + stepMs, lastMs);
      nextMs += stepMs
    )
      yield nextMs;
  }
  yield lastMs;
}

const stepMs = 300_000;
const marginMs = 3_600_000;

export function sizeOf(
  series: readonly HistorySeries[],
  span: Span,
): { readonly lines: number; readonly bytes: number } {
  let lines = 0;
  let bytes = 0;
  for (const { lines: starts, changes } of series) {
    let samples = 0;
    for (const _time of sampleTimes(changes, span)) samples += 1;
    lines += samples * starts.length;
    for (const start of starts) bytes += samples * (Buffer.byteLength(start) + usualEndLength);
  }
  return { lines, bytes };
}

/** The length of a space, a short value, a space, and a time in seconds. */
const usualEndLength = 16;

/** Writes OpenMetrics in pieces, ordered by family, series and time. */
export function* renderHistory(
  series: readonly HistorySeries[],
  { bounds, ...span }: Span & { readonly bounds: readonly number[] },
): Generator<string> {
  let before: string | undefined;
  let text = '';
  for (const one of series) {
    if (one.family.name !== before) text += renderHeader(one.family, 'openmetrics');
    before = one.family.name;
    const values = one.family.type === 'histogram' ? createHistogramValues(bounds) : createCounterValue();
    let at = 0;
    for (const timeMs of sampleTimes(one.changes, span)) {
      // Every series begins at 0, so that Prometheus also counts the first executions.
      for (; timeMs > span.sinceMs && (one.changes[at] ?? Number.POSITIVE_INFINITY) <= timeMs; at += 2)
        values.add(one.changes[at + 1] ?? 0);
      const end = ` ${timeMs / 1000}\n`;
      for (const [index, start] of one.lines.entries()) text += `${start}${values.of(index)}${end}`;
      if (text.length < pieceLength) continue;
      yield text;
      text = '';
    }
  }
  yield text + renderEnd('openmetrics');
}

const pieceLength = 65_536;

function createCounterValue() {
  let count = 0;
  return {
    add: (added: number) => {
      count += added;
    },
    of: () => count,
  };
}

/** Computes the values of the lines of a histogram: its buckets, its sum and its count. */
function createHistogramValues(bounds: readonly number[]) {
  const below = [...bounds, Number.POSITIVE_INFINITY].map(() => 0);
  let sum = 0;
  let count = 0;
  return {
    add: (seconds: number) => {
      for (let index = bounds.findLastIndex((bound) => bound < seconds) + 1; index < below.length; index += 1)
        below[index] = (below[index] ?? 0) + 1;
      sum += seconds;
      count += 1;
    },
    of: (index: number) => below[index] ?? (index === below.length ? sum : count),
  };
}
