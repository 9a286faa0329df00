import type { Gauge, Registry } from 'prom-client';
import type { NextTurn } from './segment.ts';

/** Removes the exporter's own series with stale labels. */
export async function forgetSeries(
  registry: Registry,
  isGone: (labels: Readonly<Record<string, string | number>>, name: string) => boolean,
): Promise<void> {
  // The cast is true: whatever its kind, a metric has these two; prom-client's types tell only its name.
  const metrics = registry.getMetricsAsArray() as unknown as readonly (Pick<Gauge<string>, 'get' | 'remove'> & {
    name: string;
  })[];
  for (const metric of metrics) {
    const { values } = await metric.get();
    for (const { labels } of values) {
      // prom-client adds the bound of a bucket to its labels.
      const { le: _bound, quantile: _quantile, ...own } = labels as Readonly<Record<string, string | number>>;
      if (isGone(own, metric.name)) metric.remove(own);
    }
  }
}

/** Gives each caller its own turn of the event loop, even if many call at once. */
export function createTurns(nextTurn: NextTurn): NextTurn {
  let last: Promise<void> = Promise.resolve();
  return () => {
    last = last.then(nextTurn);
    return last;
  };
}
