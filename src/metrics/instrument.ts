import {
  Counter,
  type CounterConfiguration,
  Gauge,
  type GaugeConfiguration,
  Histogram,
  type HistogramConfiguration,
  type LabelValues,
  type Registry,
} from 'prom-client';

type Starting = {
  /** True if it has no value until the first one is set: without traces, their instruments are absent. */
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
    const made = new Histogram({ ...about, registers: [registry] });
    // The cast is true: without labels, the only child has none.
    if (startsAbsent) made.remove({} as LabelValues<Label>);
    return made;
  };
}
