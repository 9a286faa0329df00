/** The values of one source over time. Consecutive readings with the same value form one span. */
export type Timeline = readonly Span[];

export type Span = { readonly value: string; readonly fromMs: number; readonly throughMs: number };

/** Adds a reading with the server's time. After the clock was set back, the reading replaces later spans. */
export function noteReading(timeline: Timeline, value: string, atMs: number): Timeline {
  const before = timeline
    .filter(({ fromMs }) => fromMs <= atMs)
    .map((span) => (span.throughMs <= atMs ? span : { ...span, throughMs: atMs }));
  const last = before.at(-1);
  if (last?.value === value && atMs - last.throughMs <= maxGapMs) {
    return [...before.slice(0, -1), { ...last, throughMs: atMs }];
  }
  return [...before, { value, fromMs: atMs, throughMs: atMs }].slice(-maxSpans);
}

/** Removes spans that ended before a time, but keeps the last span. */
export function forgetBefore(timeline: Timeline, beforeMs: number): Timeline {
  const kept = timeline.filter(({ throughMs }, index) => throughMs >= beforeMs || index === timeline.length - 1);
  return kept.length === timeline.length ? timeline : kept;
}

export function lastBefore(timeline: Timeline, atMs: number): Span | undefined {
  return timeline.findLast(({ fromMs }) => fromMs <= atMs);
}

/** Returns the span of the latest value since the value last changed, ignoring gaps. */
export function lastValue(timeline: Timeline): Span | undefined {
  const last = timeline.at(-1);
  const other = timeline.findLastIndex(({ value }) => value !== last?.value);
  return last && { ...last, fromMs: timeline[other + 1]?.fromMs ?? last.fromMs };
}

export function firstAfter(timeline: Timeline, atMs: number): Span | undefined {
  return timeline.find(({ throughMs }) => throughMs > atMs);
}

/** Returns the span of the first reading after a time, unless there is a gap before it. */
export function firstSoonAfter(timeline: Timeline, atMs: number): Span | undefined {
  const span = firstAfter(timeline, atMs);
  return span !== undefined && span.fromMs - atMs <= maxGapMs ? span : undefined;
}

/** Reports whether the last reading before a time is too old. */
export function isUnwatched(timeline: Timeline, atMs: number): boolean {
  const span = lastBefore(timeline, atMs);
  return span === undefined || atMs - span.throughMs > maxGapMs;
}

/** The maximum gap between two readings. Readings of vital polls (every 15 s) are stored only once a minute. */
const maxGapMs = 120_000;
const maxSpans = 500;
