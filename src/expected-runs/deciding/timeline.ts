/** One source of readings: which value it had when. Readings of the same value in a row are one span. */
export type Timeline = readonly Span[];

export type Span = { readonly value: string; readonly fromMs: number; readonly throughMs: number };

/** Adds a reading. Times are the server's: a clock that was set back lives through what follows once more. */
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

/** Forgets what ended before a time, except for the last value. */
export function forgetBefore(timeline: Timeline, beforeMs: number): Timeline {
  const kept = timeline.filter(({ throughMs }, index) => throughMs >= beforeMs || index === timeline.length - 1);
  return kept.length === timeline.length ? timeline : kept;
}

/** The last reading at a time or before it. */
export function lastBefore(timeline: Timeline, atMs: number): Span | undefined {
  return timeline.findLast(({ fromMs }) => fromMs <= atMs);
}

/** The value that was read last, from its first reading after any other: gaps in between do not count. */
export function lastValue(timeline: Timeline): Span | undefined {
  const last = timeline.at(-1);
  const other = timeline.findLastIndex(({ value }) => value !== last?.value);
  return last && { ...last, fromMs: timeline[other + 1]?.fromMs ?? last.fromMs };
}

/** The span of the first reading after a time. */
export function firstAfter(timeline: Timeline, atMs: number): Span | undefined {
  return timeline.find(({ throughMs }) => throughMs > atMs);
}

/** The span of the first reading after a time, where it follows without a gap. */
export function firstSoonAfter(timeline: Timeline, atMs: number): Span | undefined {
  const span = firstAfter(timeline, atMs);
  return span !== undefined && span.fromMs - atMs <= maxGapMs ? span : undefined;
}

/** Reports whether the last reading before a time is so old that nobody was looking. */
export function isUnwatched(timeline: Timeline, atMs: number): boolean {
  const span = lastBefore(timeline, atMs);
  return span === undefined || atMs - span.throughMs > maxGapMs;
}

/** Vital polls come every 15 s, and what they read is kept once a minute. */
const maxGapMs = 120_000;
const maxSpans = 500;
