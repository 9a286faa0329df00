import { createHash } from 'node:crypto';
import type { Point, PointHistogram, PointNative, ScrapedFamily } from './read-families.ts';

/** The last sent state of a series: its start, and its sum or the parts of its histogram. */
export type Sent = readonly [startSeconds: number, value: number, histogram?: SentHistogram];
type SentHistogram = Pick<PointHistogram, 'sum' | 'counts' | 'native'>;

/** By a hash of the series, because the names and labels of a hundred thousand series would use much memory. */
export type SentSums = ReadonlyMap<string, Sent>;

export function toSeriesKey({ name }: Pick<ScrapedFamily, 'name'>, { key }: Pick<Point, 'key'>): string {
  return createHash('sha1').update(`${name}\n`).update(key).digest('base64url').slice(0, 16);
}

export function toSent({ startSeconds = 0, value, histogram }: Point): Sent {
  if (histogram === undefined) return [startSeconds, value];
  const { count, sum, counts, native } = histogram;
  return [startSeconds, count, { sum, counts, native }];
}

/**
 * Returns the increase of a series since it was last sent. If the series has restarted since, or has a smaller value, its whole
 * value counts.
 */
export function toDelta(point: Point, sent: Sent | undefined): Point {
  const [startSeconds, value, before] = sent ?? [0, 0];
  const { histogram } = point;
  const now = histogram?.count ?? point.value;
  if ((point.startSeconds ?? startSeconds) > startSeconds || now < value) return point;
  if (histogram === undefined) return { ...point, value: now - value };
  if (before === undefined) return point;
  const isSame = before.counts.length === histogram.counts.length;
  return {
    ...point,
    histogram: {
      ...histogram,
      count: now - value,
      sum: histogram.sum - before.sum,
      // If the bounds have changed, the increase of each bucket is unknown.
      counts: isSame
        ? histogram.counts.map((count, at) => Math.max(0, count - (before.counts[at] ?? 0)))
        : [...histogram.bounds.map(() => 0), now - value],
      native: histogram.native && subtract(histogram.native, before.native),
    },
  };
}

function subtract(now: PointNative, before: PointNative | undefined): PointNative {
  if (before === undefined) return now;
  const left = new Map<number, number>();
  for (let at = 0; at < now.buckets.length; at += 2) left.set(now.buckets[at] ?? 0, now.buckets[at + 1] ?? 0);
  for (let at = 0; at < before.buckets.length; at += 2) {
    let index = before.buckets[at] ?? 0;
    // The resolution may have been halved since.
    for (let from = before.schema; from > now.schema; from -= 1) index = (index + 1) >> 1;
    left.set(index, (left.get(index) ?? 0) - (before.buckets[at + 1] ?? 0));
  }
  const buckets = [...left].filter(([, count]) => count > 0).flat();
  return { schema: now.schema, zeros: Math.max(0, now.zeros - before.zeros), buckets };
}

export function isEmpty({ value, histogram }: Point): boolean {
  return (histogram?.count ?? value) === 0;
}
