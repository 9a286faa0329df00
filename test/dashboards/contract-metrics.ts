import { parse } from 'yaml';
import { buildRules } from '../../alerts/generate.ts';
import { collectors } from '../../src/daemon/catalogue/collectors.ts';
import { toOwnFamilies } from '../../src/metrics/reference.ts';
import { createSelf } from '../../src/metrics/self.ts';

/** The families that are on by default, and others that a collector may have. */
export const allFamilies = [
  ...collectors.flatMap((collector) =>
    Object.values(collector.metrics).map((family) => ({ ...family, collector: collector.name, on: collector.on })),
  ),
  ...toOwnFamilies(createSelf({ version: '', nodeVersion: '' }).registry).map((family) => ({
    ...family,
    collector: undefined,
    on: true,
  })),
];

/** The labels that every series may have in addition to the labels of its family. */
const commonLabels = ['server', 'member', 'job', 'instance', 'cluster'];

/** Series of other sources: Prometheus itself, and the runtime of the exporter. */
const foreign: Readonly<Record<string, readonly string[]>> = {
  up: [],
  ALERTS: ['alertname', 'alertstate', 'severity', 'project', 'job_group', 'job_name'],
  nodejs_eventloop_lag_max_seconds: [],
  nodejs_gc_duration_seconds: ['kind'],
  nodejs_gc_duration_seconds_sum: ['kind'],
  process_cpu_seconds_total: [],
  process_resident_memory_bytes: [],
  process_start_time_seconds: [],
};

/** The labels of every series name that queries may use. */
export const labelsOf: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  [
    ...allFamilies.flatMap(({ name, type, labels }) =>
      toSampleNames(name, type).map((sample) => [sample, [...labels, ...toExtraLabels(sample, type)]] as const),
    ),
    ...Object.entries(foreign),
    ...recordings(),
  ].map(([name, labels]) => [name, new Set([...labels, ...commonLabels])]),
);

/** The series names of this version that queries may use. */
export const contractMetrics: ReadonlySet<string> = new Set(labelsOf.keys());

export function familyOf(sample: string): string | undefined {
  return allFamilies.find(({ name, type }) => toSampleNames(name, type).includes(sample))?.name;
}

function toSampleNames(name: string, type: string): string[] {
  // A native histogram has the name without a suffix.
  if (type === 'histogram') return ['', '_bucket', '_sum', '_count'].map((suffix) => name + suffix);
  return type === 'summary' ? [name, `${name}_count`] : [name];
}

function toExtraLabels(sample: string, type: string): string[] {
  if (sample.endsWith('_bucket')) return ['le'];
  return type === 'summary' ? ['quantile'] : [];
}

function recordings(): (readonly [string, readonly string[]])[] {
  // The cast has only the fields that are used.
  const { groups } = parse(buildRules()) as {
    readonly groups: readonly { readonly rules: readonly { record?: string; labels?: Record<string, string> }[] }[];
  };
  return groups
    .flatMap(({ rules }) => rules)
    .flatMap(({ record, labels = {} }) =>
      record === undefined ? [] : [[record, [...Object.keys(labels), 'project', 'collector', 'reason']] as const],
    );
}
