import {
  Counter,
  type CounterConfiguration,
  collectDefaultMetrics,
  Gauge,
  type GaugeConfiguration,
  Histogram,
  type HistogramConfiguration,
  type LabelValues,
  type Registry,
} from 'prom-client';
import { emptyNative, type NativeHistogram, observeNative } from '../domain/durations/native-histogram.ts';

/** Makes a histogram also count in native buckets. A read returns both counts of the same moment. */
function countNatively<Label extends string>(made: Histogram<Label>): Histogram<Label> {
  const natives = new Map<string, NativeHistogram>();
  const get = made.get.bind(made);
  // These casts are safe: prom-client takes labels and a value, a value alone, or labels to remove.
  const observe = made.observe.bind(made) as (...given: readonly unknown[]) => void;
  const remove = made.remove.bind(made) as unknown as (labels: object) => void;
  const find = (key: string): NativeHistogram => natives.get(key) ?? emptyNative;
  return Object.assign(made, {
    observe: (...given: readonly unknown[]): void => {
      observe(...given);
      const key = given.length === 1 ? toKey({}) : toKey(given[0] as object);
      natives.set(key, observeNative(find(key), Number(given.at(-1))));
    },
    get: async () => {
      const before = new Map(natives);
      const read = await get();
      for (const value of read.values) {
        const isCount = value.metricName === `${read.name}_count`;
        if (isCount) Object.assign(value, { native: before.get(toKey(value.labels)) ?? emptyNative });
      }
      return read;
    },
    remove: (labels: object): void => {
      natives.delete(toKey(labels));
      remove(labels);
    },
  });
}

function toKey(labels: object): string {
  const given = Object.entries(labels).filter(([, value]) => value !== undefined);
  return JSON.stringify(given.sort(([one], [other]) => (one < other ? -1 : 1)));
}

type Starting = {
  /** True if the instrument has no value until the first value is set, for example for traces. */
  startsAbsent?: true;
};

export function gauge<const Label extends string = never>({
  startsAbsent,
  ...about
}: GaugeConfiguration<Label> & Starting) {
  return (registry: Registry): Gauge<Label> => {
    const made = new Gauge({ ...about, registers: [registry] });
    if (startsAbsent) made.remove();
    return made;
  };
}

export function counter<const Label extends string = never>({
  startsAbsent,
  ...about
}: CounterConfiguration<Label> & Starting) {
  return (registry: Registry): Counter<Label> => {
    const made = new Counter({ ...about, registers: [registry] });
    if (startsAbsent) made.remove();
    return made;
  };
}

export function histogram<const Label extends string = never>({
  startsAbsent,
  ...about
}: HistogramConfiguration<Label> & Starting) {
  return (registry: Registry): Histogram<Label> => {
    const made = countNatively(new Histogram({ ...about, registers: [registry] }));
    // This cast is safe: a histogram without labels has a single series without labels.
    if (startsAbsent) made.remove({} as LabelValues<Label>);
    return made;
  };
}

export function measureProcess(registry: Registry): void {
  collectDefaultMetrics({
    register: registry,
    // The default precision of 10 ms needs much CPU.
    eventLoopMonitoringPrecision: 100,
    // The interval of a metric that is removed below.
    eventLoopUtilizationTimeout: maxTimeoutMs,
  });
  // Gauges with names of counters, which promtool rejects. Other metrics have the same numbers for each kind.
  for (const kind of ['resources', 'handles', 'requests']) registry.removeSingleMetric(`nodejs_active_${kind}_total`);
  // These metrics are removed because promtool rejects names with the type in them. The lag metrics have more information.
  for (const type of ['histogram', 'summary']) registry.removeSingleMetric(`nodejs_eventloop_utilization_${type}`);
  const garbage = registry.getSingleMetric('nodejs_gc_duration_seconds');
  if (garbage instanceof Histogram) countNatively(garbage);
}

const maxTimeoutMs = 2 ** 31 - 1;
