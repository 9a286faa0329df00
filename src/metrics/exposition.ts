import type { Registry } from 'prom-client';
import type { Family, MetricType, Row } from './family.ts';
import type { Format } from './format.ts';
import { openMetricsEnd, renderHeader } from './render.ts';
import { type Segment, type Snapshots, toSegments } from './snapshot.ts';

/** The whole scrape: what the snapshots hold and the daemon's own instruments, families sorted by name. */
export async function renderExposition(snapshots: Snapshots, registry: Registry, format: Format): Promise<string> {
  const own = toSegments(await readOwnRows(registry));
  return renderSegments([...snapshots.segments(), ...own], format);
}

/** Each family once: its header, then the samples of all segments. */
export function renderSegments(segments: readonly Segment[], format: Format): string {
  const byName = new Map<string, { readonly family: Family; samples: string }>();
  for (const { family, samples } of segments) {
    const entry = byName.get(family.name);
    if (entry === undefined) byName.set(family.name, { family, samples });
    else entry.samples += samples;
  }
  let text = '';
  for (const { family, samples } of [...byName.values()].sort(byFamilyName)) {
    text += renderHeader(family, format) + samples;
  }
  return format === 'openmetrics' ? text + openMetricsEnd : text;
}

type RegistryMetric = Awaited<ReturnType<Registry['getMetricsAsJSON']>>[number];
type RegistryValue = RegistryMetric['values'][number] & { readonly metricName?: string };

/** prom-client's own text writer is not used: it escapes less, knows no info type, and one format spoils the other. */
async function readOwnRows(registry: Registry): Promise<Row[]> {
  const metrics = await registry.getMetricsAsJSON();
  return metrics.flatMap((metric) => metric.values.map((value) => toRow(metric, value)));
}

function toRow(metric: RegistryMetric, value: RegistryValue): Row {
  const { le, quantile, ...labels } = (value.labels ?? {}) as Readonly<Record<string, string | number>>;
  const extra = le ?? quantile;
  const suffix = (['_bucket', '_sum', '_count'] as const).find((end) => value.metricName === `${metric.name}${end}`);
  return {
    family: { name: metric.name, help: metric.help, type: toType(metric), labels: Object.keys(labels), merge: 'sum' },
    labels: Object.values(labels).map(String),
    value: value.value,
    ...(suffix === undefined ? {} : { suffix }),
    ...(extra === undefined ? {} : { extra: [le === undefined ? 'quantile' : 'le', toBound(extra)] as const }),
  };
}

function toType(metric: RegistryMetric): MetricType {
  const type = String(metric.type);
  if (type === 'gauge' && metric.name.endsWith('_info')) return 'info';
  return type === 'counter' || type === 'histogram' || type === 'summary' ? type : 'gauge';
}

function toBound(bound: string | number): number {
  return bound === '+Inf' ? Number.POSITIVE_INFINITY : Number(bound);
}

function byFamilyName(one: { readonly family: Family }, other: { readonly family: Family }): number {
  return one.family.name < other.family.name ? -1 : 1;
}
