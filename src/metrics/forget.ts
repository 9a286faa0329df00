import type { Gauge, Registry } from 'prom-client';
import type { NextTurn } from './segment.ts';

/** Takes away the daemon's own series whose labels say that what they are about is gone. */
export async function forgetSeries(
  registry: Registry,
  isGone: (labels: Readonly<Record<string, string | number>>, name: string) => boolean,
): Promise<void> {
  // The cast is true: whatever its kind, a metric has these two; prom-client's types tell only its name.
  const metrics = registry.getMetricsAsArray() as unknown as readonly (Pick<Gauge<string>, 'get' | 'remove'> & {
    readonly name: string;
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

/** Gives each caller a round of the event loop to itself, however many ask at once. */
export function createTurns(nextTurn: NextTurn): NextTurn {
  let last: Promise<void> = Promise.resolve();
  return () => {
    last = last.then(nextTurn);
    return last;
  };
}
