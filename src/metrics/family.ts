/** The kinds of families; the exposition decides how each is written in either text format. */
export const metricTypes = ['gauge', 'counter', 'info', 'summary', 'histogram'] as const;
export type MetricType = (typeof metricTypes)[number];

/** A metric family as data: everything but its samples. The name is written once, in full, by the file that owns it. */
export type Family = {
  readonly name: string;
  readonly help: string;
  readonly type: MetricType;
  readonly labels: readonly string[];
};

/** One sample: the label values stand in the order of the family's labels. */
export type Row = {
  readonly family: Family;
  readonly labels: readonly string[];
  readonly value: number;
  /** Of histograms and summaries: what follows the name, and the label that only such samples have. */
  readonly suffix?: '_bucket' | '_sum' | '_count';
  readonly extra?: readonly [name: 'le' | 'quantile', value: number];
};

type LabelValues<Label extends string> = Readonly<Record<Label, string | undefined>>;
type LabelArguments<Label extends string> = [Label] extends [never] ? [] : [labels: LabelValues<Label>];

export type ValueFamily<Label extends string> = Family & {
  /** The family's row, or none when the value is unknown. */
  readonly rows: (value: number | undefined, ...labels: LabelArguments<Label>) => Row[];
};

export type InfoFamily<Label extends string> = Family & {
  /** One row of value 1, or none when nothing at all is known. */
  readonly rows: (labels: Partial<LabelValues<Label>>) => Row[];
};

export type StateSetFamily = Family & {
  /** One row a state, 1 for the current one; none when the state is unknown. */
  readonly rows: (current: string | undefined) => Row[];
};

export function gauge<const Label extends string = never>(
  name: string,
  help: string,
  ...labels: Label[]
): ValueFamily<Label> {
  return valueFamily(name, help, 'gauge', labels);
}

export function counter<const Label extends string = never>(
  name: `${string}_total`,
  help: string,
  ...labels: Label[]
): ValueFamily<Label> {
  return valueFamily(name, help, 'counter', labels);
}

export function info<const Label extends string>(
  name: `${string}_info`,
  help: string,
  ...labels: Label[]
): InfoFamily<Label> {
  const family: Family = { name, help, type: 'info', labels };
  return {
    ...family,
    rows: (values) => {
      const known = labels.some((label) => values[label] !== undefined);
      return known ? [{ family, labels: labels.map((label) => values[label] ?? ''), value: 1 }] : [];
    },
  };
}

/** All states are present and one is 1. A gauge in both formats: OpenMetrics' own stateset wants a label named like the family. */
export function stateSet(name: string, help: string, label: string, states: readonly string[]): StateSetFamily {
  const family: Family = { name, help, type: 'gauge', labels: [label] };
  return {
    ...family,
    rows: (current) => {
      if (current === undefined || !states.includes(current)) return [];
      return states.map((state) => ({ family, labels: [state], value: state === current ? 1 : 0 }));
    },
  };
}

function valueFamily<Label extends string>(
  name: string,
  help: string,
  type: MetricType,
  labels: readonly Label[],
): ValueFamily<Label> {
  const family: Family = { name, help, type, labels };
  return {
    ...family,
    rows: (value, ...given) => {
      if (value === undefined || Number.isNaN(value)) return [];
      const [values]: readonly LabelValues<Label>[] = given;
      return [{ family, labels: labels.map((label) => values?.[label] ?? ''), value }];
    },
  };
}
