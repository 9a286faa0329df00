import type { NativePart } from '../domain/durations/native-histogram.ts';

const metricTypes = ['gauge', 'counter', 'info', 'summary', 'histogram'] as const;
export type MetricType = (typeof metricTypes)[number];

/** How to merge rows with equal labels: sum, later row, or smallest value. */
const mergeRules = ['sum', 'newest', 'earliest'] as const;
export type MergeRule = (typeof mergeRules)[number];

/** A metric family as data. The name is complete, so that a search finds it. */
export type Family = {
  readonly name: string;
  readonly help: string;
  readonly type: MetricType;
  readonly labels: readonly string[];
  readonly merge: MergeRule;
  /** The label with the states of a state set, which cannot be dropped. */
  readonly stateLabel?: string;
  /** The family whose buckets a histogram has, because both histograms have the same counts. */
  readonly bucketsFrom?: string;
};

export type LabelPair = readonly [name: string, value: string];

/** One sample of a family. The label values are in the order of the labels of the family. */
export type Row = {
  readonly family: Family;
  readonly labels: readonly string[];
  readonly value: number;
  /** For histograms and summaries: the suffix of the name, and the label that only their samples have. */
  readonly suffix?: '_bucket' | '_sum' | '_count';
  readonly extra?: readonly [name: 'le' | 'quantile', value: number];
  /** Configured labels of the row, after the labels of the family. */
  readonly added?: readonly LabelPair[];
  /** The exemplar, which only some formats can contain. */
  readonly exemplar?: Exemplar;
  /** The start of the series. Only formats with start times contain the start. */
  readonly startSeconds?: number | undefined;
  /** The native histogram, only in the row of the count. */
  readonly native?: NativePart | undefined;
};

export type Exemplar = {
  readonly traceId: string;
  readonly spanId: string;
  readonly value: number;
  readonly atMs: number;
};

type LabelValues<Label extends string> = Readonly<Record<Label, string | undefined>>;
type LabelArguments<Label extends string> = [Label] extends [never] ? [] : [labels: LabelValues<Label>];

export type ValueFamily<Label extends string> = Family & {
  readonly rows: (value: number | undefined, ...labels: LabelArguments<Label>) => Row[];
};

type InfoFamily<Label extends string> = Family & {
  readonly rows: (labels: Partial<LabelValues<Label>>, added?: readonly LabelPair[]) => Row[];
};

type SummaryFamily<Label extends string> = Family & {
  /** Returns the rows of one summary, without unknown parts. */
  readonly rows: (summary: Summary, labels: LabelValues<Label>) => Row[];
};

type HistogramFamily<Label extends string> = Family & {
  /** Returns the rows of one histogram. Counts are per bucket; the last count is for values above all bounds. */
  readonly rows: (histogram: Histogram, labels: LabelValues<Label>) => Row[];
};

type Histogram = {
  readonly bounds: readonly number[];
  readonly counts: readonly number[];
  readonly sum: number;
  readonly count: number;
  /** The exemplars, in the same order as the counts. */
  readonly exemplars?: readonly (Exemplar | undefined)[];
  readonly startSeconds?: number | undefined;
  readonly native?: NativePart | undefined;
};

type Summary = {
  readonly quantiles: readonly (readonly [quantile: number, value: number | undefined])[];
  readonly sum?: number | undefined;
  readonly count: number | undefined;
};

type StateSetFamily<Label extends string = never> = Family & {
  /** Returns one row for each state: 1 for the current state, 0 for others. Returns no rows if the state is unknown. */
  readonly rows: (current: string | undefined, ...labels: LabelArguments<Label>) => Row[];
};

export const gauge = defineValues('gauge', 'sum');
/** Declares a gauge. Of two rows with the same labels, the later row is published. */
export const newestGauge = defineValues('gauge', 'newest');
/** Declares a gauge. Of two rows with the same labels, the row with the smaller value is published. */
export const earliestGauge = defineValues('gauge', 'earliest');
export const counter = defineValues<`${string}_total`>('counter', 'sum');

function defineValues<Name extends string>(type: MetricType, merge: MergeRule) {
  return <const Label extends string = never>(name: Name, help: string, ...labels: Label[]): ValueFamily<Label> => {
    const family: Family = { name, help, type, labels, merge };
    return {
      ...family,
      rows: (value, ...given) => (isKnown(value) ? [{ family, labels: toLabelValues(labels, given), value }] : []),
    };
  };
}

export function info<const Label extends string>(
  name: `${string}_info`,
  help: string,
  ...labels: Label[]
): InfoFamily<Label> {
  const family: Family = { name, help, type: 'info', labels, merge: 'newest' };
  return {
    ...family,
    rows: (values, added) => {
      const known = labels.some((label) => values[label] !== undefined);
      if (!known) return [];
      const row: Row = { family, labels: labels.map((label) => values[label] ?? ''), value: 1 };
      return [added === undefined || added.length === 0 ? row : { ...row, added }];
    },
  };
}

export function summary<const Label extends string>(
  name: string,
  help: string,
  ...labels: Label[]
): SummaryFamily<Label> {
  const family: Family = { name, help, type: 'summary', labels, merge: 'newest' };
  return {
    ...family,
    rows: ({ quantiles, sum, count }, values) => {
      const row = { family, labels: labels.map((label) => values[label] ?? '') };
      return [
        ...quantiles.flatMap(([quantile, value]): Row[] =>
          isKnown(value) ? [{ ...row, value, extra: ['quantile', quantile] }] : [],
        ),
        ...(isKnown(sum) ? [{ ...row, value: sum, suffix: '_sum' } as const] : []),
        ...(isKnown(count) ? [{ ...row, value: count, suffix: '_count' } as const] : []),
      ];
    },
  };
}

export function histogram<const Label extends string>(
  name: string,
  help: string,
  ...labels: Label[]
): HistogramFamily<Label> {
  const family: Family = { name, help, type: 'histogram', labels, merge: 'sum' };
  return {
    ...family,
    rows: ({ bounds, counts, sum, count, exemplars = [], startSeconds, native }, values) => {
      const row = { family, labels: labels.map((label) => values[label] ?? '') };
      let below = 0;
      const buckets = [...bounds, Number.POSITIVE_INFINITY].map((bound, index): Row => {
        below += counts[index] ?? 0;
        const exemplar = exemplars[index];
        const bucket: Row = { ...row, value: below, suffix: '_bucket', extra: ['le', bound] };
        return exemplar === undefined ? bucket : { ...bucket, exemplar };
      });
      return [
        ...buckets,
        { ...row, value: sum, suffix: '_sum' },
        { ...row, value: count, suffix: '_count', startSeconds, native },
      ];
    },
  };
}

export function since(startSeconds: number | undefined, rows: Row[]): Row[] {
  return startSeconds === undefined ? rows : rows.map((row) => ({ ...row, startSeconds }));
}

/** One state is 1, the others are 0. A gauge is used, because an OpenMetrics stateset needs a label named like the family. */
export function stateSet<const Label extends string = never>(
  name: string,
  help: string,
  { label: stateLabel, states }: { label: string; states: readonly string[] },
  ...labels: Label[]
): StateSetFamily<Label> {
  const family: Family = { name, help, type: 'gauge', labels: [...labels, stateLabel], merge: 'newest', stateLabel };
  return {
    ...family,
    rows: (current, ...given) => {
      if (current === undefined || !states.includes(current)) return [];
      const before = toLabelValues(labels, given);
      return states.map((state) => ({ family, labels: [...before, state], value: state === current ? 1 : 0 }));
    },
  };
}

function toLabelValues<Label extends string>(labels: readonly Label[], given: readonly LabelValues<Label>[]): string[] {
  const [values] = given;
  return labels.map((label) => values?.[label] ?? '');
}

function isKnown(value: number | undefined): value is number {
  return value !== undefined && !Number.isNaN(value);
}
