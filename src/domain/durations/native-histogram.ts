/** A histogram with exponential buckets: the bucket with an index ends at 2 ^ (index / 2 ^ schema). */
export type NativeHistogram = {
  readonly schema: number;
  /** The number of values of 0. */
  readonly zeros: number;
  /** Pairs of index and count in one ascending list. Most histograms have few buckets. */
  readonly buckets: readonly number[];
};

/** The counts of a histogram with classic buckets. The last count is for values above all bounds. */
export type ClassicCounts = { readonly counts: readonly number[]; readonly sum: number; readonly count: number };

/** A native histogram that began later than the classic one of the same series. */
export type NativePart = {
  readonly native: NativeHistogram;
  /** The counts from before the native part began; absent if there were none. */
  readonly before?: ClassicCounts | undefined;
};

export const emptyNative: NativeHistogram = { schema: 3, zeros: 0, buckets: [] };

export function countNative({ zeros, buckets }: NativeHistogram): number {
  let count = zeros;
  for (let at = 1; at < buckets.length; at += 2) count += buckets[at] ?? 0;
  return count;
}

/** Adds a value, which must not be negative. */
export function observeNative(before: NativeHistogram, value: number): NativeHistogram {
  if (value <= zeroThreshold) return { ...before, zeros: before.zeros + 1 };
  return addNatives(before, { ...emptyNative, buckets: [toIndex(value), 1] });
}

/** The threshold up to which values count as 0. */
export const zeroThreshold = 2 ** -128;

/** Adds two histograms at the lower of their resolutions. If the result has more than 160 buckets, halves the resolution. */
export function addNatives(one: NativeHistogram, other: NativeHistogram): NativeHistogram {
  let schema = Math.min(one.schema, other.schema);
  let buckets = mergeBuckets(coarsen(one, schema), coarsen(other, schema));
  while (buckets.length > 2 * maxBuckets) {
    buckets = halve(buckets);
    schema -= 1;
  }
  return { schema, zeros: one.zeros + other.zeros, buckets };
}

export function addParts(one: NativePart, other: NativePart): NativePart {
  const before = one.before && other.before ? addClassic(one.before, other.before) : (one.before ?? other.before);
  return { native: addNatives(one.native, other.native), before };
}

const maxBuckets = 160;

/** Returns the index of a value. The bounds of the bucket decide, because logarithms are inexact. */
function toIndex(value: number): number {
  const index = Math.ceil(Math.log2(value) * 2 ** emptyNative.schema);
  if (value > toBound(index)) return index + 1;
  return value <= toBound(index - 1) ? index - 1 : index;
}

function toBound(index: number): number {
  return 2 ** (index / 2 ** emptyNative.schema);
}

function coarsen(histogram: NativeHistogram, schema: number): readonly number[] {
  let { buckets } = histogram;
  for (let from = histogram.schema; from > schema; from--) buckets = halve(buckets);
  return buckets;
}

/** Joins neighbours that have the same bound in the next lower resolution. */
function halve(buckets: readonly number[]): number[] {
  const wider: number[] = [];
  for (let at = 0; at < buckets.length; at += 2) {
    const index = ((buckets[at] ?? 0) + 1) >> 1;
    const count = buckets[at + 1] ?? 0;
    if (wider.at(-2) === index) wider[wider.length - 1] = (wider.at(-1) ?? 0) + count;
    else wider.push(index, count);
  }
  return wider;
}

function mergeBuckets(one: readonly number[], other: readonly number[]): readonly number[] {
  const merged: number[] = [];
  let left = 0;
  let right = 0;
  while (left < one.length || right < other.length) {
    const ofOne = one[left] ?? Number.POSITIVE_INFINITY;
    const ofOther = other[right] ?? Number.POSITIVE_INFINITY;
    let count = 0;
    if (ofOne <= ofOther) {
      count += one[left + 1] ?? 0;
      left += 2;
    }
    if (ofOther <= ofOne) {
      count += other[right + 1] ?? 0;
      right += 2;
    }
    merged.push(Math.min(ofOne, ofOther), count);
  }
  return merged;
}

function addClassic(one: ClassicCounts, other: ClassicCounts): ClassicCounts {
  const length = Math.max(one.counts.length, other.counts.length);
  return {
    counts: Array.from({ length }, (_, index) => (one.counts[index] ?? 0) + (other.counts[index] ?? 0)),
    // The sum has whole milliseconds, so that the order of additions makes no difference.
    sum: Math.round((one.sum + other.sum) * 1000) / 1000,
    count: one.count + other.count,
  };
}
