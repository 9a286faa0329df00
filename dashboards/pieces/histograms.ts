/** A histogram by its name and matchers: in classic buckets, in native ones under the name itself, or in both. */
interface Histogram {
  readonly name: string;
  readonly matchers: string;
  /** A range in brackets, and the text after the brackets. */
  readonly range: string;
}

/** Computes a quantile. A wrapper for several exporters would break native histograms; equal shares cancel out. */
export function quantileOf(quantile: number, by: string, histogram: Histogram, over = 'rate'): string {
  const { classic, native } = toSelectors(histogram, '_bucket');
  const ofClassic = `histogram_quantile(${quantile}, sum by (${by}, le) (${over}(${classic})))`;
  return `(${ofClassic} or histogram_quantile(${quantile}, sum(${over}(${native})) by (${by})))`;
}

/** Computes the increase of the count or of the sum. */
export function increaseOf(part: 'count' | 'sum', by: string, histogram: Histogram): string {
  const { classic, native } = toSelectors(histogram, `_${part}`);
  return `sum by (${by}) (increase(${classic}) or histogram_${part}(increase(${native})))`;
}

/** Computes the increase of each bucket in the form that a heatmap needs. */
export function bucketsOf(histogram: Histogram): string {
  const { classic, native } = toSelectors(histogram, '_bucket');
  const ofClassic = `sum by (le) (increase(${classic}))`;
  return `${ofClassic} or (sum(increase(${native})) unless on () ${ofClassic})`;
}

function toSelectors({ name, matchers, range }: Histogram, suffix: string) {
  return { classic: `${name}${suffix}{${matchers}}${range}`, native: `${name}{${matchers}}${range}` };
}
