import {
  type ClassicCounts,
  countNative,
  emptyNative,
  type NativeHistogram,
  type NativePart,
  observeNative,
} from './native-histogram.ts';

/** A histogram as stored, with classic and native buckets. */
export type StoredHistogram = {
  readonly count: number;
  readonly sumSeconds?: number;
  /** The count of each bucket. The last bucket has no upper bound. */
  readonly buckets?: readonly number[];
  /** The native histogram; absent until the first value in a release with native histograms. */
  readonly native?: NativeHistogram;
  /** The counts from before the native part began. */
  readonly before?: ClassicCounts;
};

export function observe(stored: StoredHistogram, seconds: number, bounds: readonly number[]): StoredHistogram {
  const { native, before } = toNativePart(stored);
  const { count, sumSeconds = 0 } = stored;
  const buckets = [...fitBuckets(stored.buckets, count, bounds)];
  const found = bounds.findIndex((bound) => seconds <= bound);
  const index = found === -1 ? bounds.length : found;
  buckets[index] = (buckets[index] ?? 0) + 1;
  return {
    count: count + 1,
    sumSeconds: sumSeconds + seconds,
    buckets,
    native: observeNative(native, seconds),
    ...(before === undefined ? {} : { before: { ...before, counts: fitBuckets(before.counts, before.count, bounds) } }),
  };
}

/** Returns the native part of a stored histogram. Earlier releases, without native histograms, may have counted some values. */
export function toNativePart({ count, sumSeconds = 0, buckets = [], native, before }: StoredHistogram): NativePart {
  const has = native ?? emptyNative;
  if (countNative(has) + (before?.count ?? 0) === count) return { native: has, before };
  return { native: emptyNative, before: { counts: buckets, sum: sumSeconds, count } };
}

/** Returns buckets for the given bounds. If the bounds have changed, all values move to the last bucket, which has no bound. */
function fitBuckets(
  buckets: readonly number[] | undefined,
  count: number,
  bounds: readonly number[],
): readonly number[] {
  return buckets?.length === bounds.length + 1 ? buckets : [...bounds.map(() => 0), count];
}
