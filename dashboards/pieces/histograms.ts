/** A histogram by its name and matchers. Prometheus keeps it in classic buckets, or natively under the name itself, or both. */
interface Histogram {
  readonly name: string;
  readonly matchers: string;
  /** A range in brackets, with what follows them. */
  readonly range: string;
}

/** A quantile. Sums of native histograms need no wrapper for several exporters, which would break them: equal shares cancel out. */
export function quantileOf(quantile: number, by: string, histogram: Histogram, over = 'rate'): string {
  const { classic, native } = toSelectors(histogram, '_bucket');
  const ofClassic = `histogram_quantile(${quantile}, sum by (${by}, le) (${over}(${classic})))`;
  return `(${ofClassic} or histogram_quantile(${quantile}, sum(${over}(${native})) by (${by})))`;
}

/** The increase of the count or of the sum. */
export function increaseOf(part: 'count' | 'sum', by: string, histogram: Histogram): string {
  const { classic, native } = toSelectors(histogram, `_${part}`);
  return `sum by (${by}) (increase(${classic}) or histogram_${part}(increase(${native})))`;
}

/** The increase of each bucket, as a heatmap takes it. */
export function bucketsOf(histogram: Histogram): string {
  const { classic, native } = toSelectors(histogram, '_bucket');
  const ofClassic = `sum by (le) (increase(${classic}))`;
  return `${ofClassic} or (sum(increase(${native})) unless on () ${ofClassic})`;
}

function toSelectors({ name, matchers, range }: Histogram, suffix: string) {
  return { classic: `${name}${suffix}{${matchers}}${range}`, native: `${name}{${matchers}}${range}` };
}
