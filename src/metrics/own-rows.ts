import type { Registry } from 'prom-client';
import type { Family, LabelPair, MetricType, Row } from './family.ts';

/** The labels that configuration gives to every series of a server. */
export type LabelsOf = (server: string) => readonly LabelPair[];

/** One family of the daemon's own instruments, with what it says now. */
export type OwnFamily = { readonly family: Family; readonly rows: readonly Row[] };

/** prom-client's own text writer is not used: it escapes less, knows no info type, and one format spoils the other. */
export async function readOwnFamilies(registry: Registry, labelsOf: LabelsOf): Promise<OwnFamily[]> {
  const metrics = await registry.getMetricsAsJSON();
  const families = metrics.map((metric) => {
    const family: Family = { name: metric.name, help: metric.help, type: toType(metric), labels: [], merge: 'sum' };
    const rows = metric.values.map((value) => toRow(family, value, labelsOf));
    return { family, rows };
  });
  return families.filter(({ rows }) => rows.length > 0).sort(byName);
}

/** The server that a row is about, if it is about one. */
export function serverOf({ added = [] }: Row): string | undefined {
  return added.find(([name]) => name === 'server')?.[1];
}

type RegistryMetric = Awaited<ReturnType<Registry['getMetricsAsJSON']>>[number];
type RegistryValue = RegistryMetric['values'][number] & { readonly metricName?: string };

function toRow(family: Family, { labels, value, metricName }: RegistryValue, labelsOf: LabelsOf): Row {
  const added: LabelPair[] = [];
  let configured: readonly LabelPair[] = [];
  let extra: Row['extra'];
  for (const [name, given] of Object.entries(labels as Readonly<Record<string, string | number>>)) {
    if (name === 'le' || name === 'quantile') {
      extra = [name, given === '+Inf' ? Number.POSITIVE_INFINITY : Number(given)];
      continue;
    }
    added.push([name, String(given)]);
    if (name === 'server') configured = labelsOf(String(given));
  }
  const suffix = suffixes.find((end) => metricName === family.name + end);
  return {
    family,
    labels: [],
    added: configured.length === 0 ? added : [...added, ...configured],
    value,
    ...(suffix === undefined ? {} : { suffix }),
    ...(extra === undefined ? {} : { extra }),
  };
}

const suffixes = ['_bucket', '_sum', '_count'] as const;

function toType(metric: RegistryMetric): MetricType {
  const type = String(metric.type);
  if (type === 'gauge' && metric.name.endsWith('_info')) return 'info';
  return type === 'counter' || type === 'histogram' || type === 'summary' ? type : 'gauge';
}

function byName({ family: one }: OwnFamily, { family: other }: OwnFamily): number {
  return one.name < other.name ? -1 : 1;
}
