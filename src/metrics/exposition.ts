import type { Gauge, Registry } from 'prom-client';
import type { NativeHistogram } from '../domain/durations/native-histogram.ts';
import { type Block, emptyBlock, joinBlocks, toBlock, toBlockNow, toGzip } from './block.ts';
import type { Family, LabelPair, MetricType, Row } from './family.ts';
import type { Format } from './format.ts';
import { renderEnd, renderHeader, renderSamples } from './render.ts';
import { joinMessages, renderSegments, translateSegments } from './segment.ts';
import type { Selection, Snapshots } from './snapshot.ts';

/** The name of the collector that selects the exporter's own instruments in a scrape. */
export const ownCollector = 'exporter';

type ExpositionOptions = {
  readonly snapshots: Pick<Snapshots, 'show' | 'translate'>;
  readonly registry: Registry;
  readonly labelsOf: LabelsOf;
  readonly ticks: () => number;
  /** The start of the process, at which its counters start too. */
  readonly startedAtMs?: number;
};

type Wanted = Selection & {
  readonly format: Format;
  readonly gzip: boolean;
  /** The servers of this replica. Other servers have only series about leases. The set is absent without replicas. */
  readonly owned?: ReadonlySet<string> | undefined;
};

export type Exposition = ReturnType<typeof createExposition>;

/** Builds the body of a scrape from the exporter's own instruments and the snapshots. Nothing is rendered twice. */
export function createExposition({ snapshots, registry, labelsOf, ticks, startedAtMs }: ExpositionOptions) {
  const end = {
    text: toBlockNow(renderEnd('text')),
    openmetrics: toBlockNow(renderEnd('openmetrics')),
    protobuf: emptyBlock,
  };
  const startSeconds = startedAtMs === undefined ? undefined : Math.floor(startedAtMs / 1000);
  let last: Reading | undefined;

  /** Returns the values of the exporter's own instruments, at most a second old. Scrapes in all formats share the values. */
  function readOwn(): Reading {
    const nowTicks = ticks();
    if (last === undefined || nowTicks >= last.untilTicks) {
      last = {
        families: readOwnFamilies(registry, labelsOf, startSeconds),
        blocks: new Map(),
        untilTicks: nowTicks + ownAgeMs,
      };
    }
    return last;
  }

  function showOwn(format: Format, { servers, owned }: Whose): Promise<Block> {
    const { families, blocks } = readOwn();
    const key = JSON.stringify([format, [...(servers ?? [])], [...(owned ?? [])]]);
    const block = blocks.get(key) ?? families.then((read) => renderOwn(read, format, { servers, owned }));
    blocks.set(key, block);
    return block;
  }

  return {
    /** Returns the body in pieces, which scrapes may share. */
    scrape: async ({ format, gzip, servers, collectors, owned }: Wanted) => {
      const own = collectors?.has(ownCollector) === false ? [] : [await showOwn(format, { servers, owned })];
      const shown = owned === undefined ? servers : intersect(owned, servers);
      const selection = {
        ...(shown === undefined ? {} : { servers: shown }),
        ...(collectors === undefined ? {} : { collectors }),
      };
      if (format === 'protobuf') await snapshots.translate(selection);
      const body = joinBlocks([...own, snapshots.show(format, selection), end[format]]);
      return gzip ? toGzip(body) : body.text;
    },
  };
}

export async function renderExposition(snapshots: Snapshots, registry: Registry, format: Format): Promise<string> {
  const { scrape } = createExposition({ snapshots, registry, labelsOf: () => [], ticks: () => 0 });
  return Buffer.concat(await scrape({ format, gzip: false })).toString('utf8');
}

const ownAgeMs = 1000;

type Whose = { servers: ReadonlySet<string> | undefined; owned: ReadonlySet<string> | undefined };

type Reading = { families: Promise<readonly OwnFamily[]>; blocks: Map<string, Promise<Block>>; untilTicks: number };

async function renderOwn(families: readonly OwnFamily[], format: Format, { servers, owned }: Whose): Promise<Block> {
  const shown = families.map(({ family, rows }) => {
    const some = owned !== undefined && !family.name.startsWith(ofLeases) ? intersect(owned, servers) : servers;
    return { family, rows: some === undefined ? rows : rows.filter((row) => isOf(some, serverOf(row))) };
  });
  if (format === 'protobuf') {
    const now = { nextTurn: () => Promise.resolve(), toBlock: toPlainBlock };
    const segments = await renderSegments(
      shown.flatMap(({ rows }) => rows),
      [],
      now,
    );
    await translateSegments(segments, now);
    return toBlock(Buffer.concat(joinMessages(segments).text));
  }
  let text = '';
  for (const { family, rows } of shown) {
    const samples = renderSamples(rows);
    if (samples !== '') text += renderHeader(family, format) + samples;
  }
  return toBlock(text);
}

/** Deflates all small families together, which is several times as fast as one by one. */
async function toPlainBlock(bytes: Buffer): Promise<Block> {
  return { ...emptyBlock, text: [bytes], length: bytes.length };
}

/** The beginning of the names of metrics that every replica publishes for every server. */
const ofLeases = 'automation_exporter_lease_';

function intersect(owned: ReadonlySet<string>, servers: ReadonlySet<string> | undefined): ReadonlySet<string> {
  return servers === undefined ? owned : new Set([...owned].filter((server) => servers.has(server)));
}

function isOf(servers: ReadonlySet<string>, server: string | undefined): boolean {
  return server === undefined || servers.has(server);
}

type LabelsOf = (server: string) => readonly LabelPair[];

type OwnFamily = { family: Family; rows: readonly Row[] };

/** Reads the exporter's own instruments. prom-client's text writer escapes less, has no info type, and its formats conflict. */
export async function readOwnFamilies(
  registry: Registry,
  labelsOf: LabelsOf,
  startSeconds?: number,
): Promise<OwnFamily[]> {
  const metrics = await registry.getMetricsAsJSON();
  const families = metrics.map((metric) => {
    const family: Family = { name: metric.name, help: metric.help, type: toType(metric), labels: [], merge: 'sum' };
    const rows = metric.values.map((value) => toRow(family, value, { labelsOf, startSeconds }));
    return { family, rows };
  });
  return families.filter(({ rows }) => rows.length > 0).sort(byName);
}

function serverOf({ added = [] }: Row): string | undefined {
  return added.find(([name]) => name === 'server')?.[1];
}

type RegistryMetric = Awaited<ReturnType<Registry['getMetricsAsJSON']>>[number];
type RegistryValue = RegistryMetric['values'][number] & { metricName?: string; native?: NativeHistogram };
type OfOwn = { labelsOf: LabelsOf; startSeconds: number | undefined };

function toRow(
  family: Family,
  { labels, value, metricName, native }: RegistryValue,
  { labelsOf, startSeconds }: OfOwn,
): Row {
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
    ...(family.type === 'counter' || suffix === '_count' ? { startSeconds } : {}),
    ...(native === undefined ? {} : { native: { native } }),
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

/** Removes own series of the exporter with outdated labels. */
export async function forgetSeries(
  registry: Registry,
  isGone: (labels: Readonly<Record<string, string | number>>, name: string) => boolean,
): Promise<void> {
  // This cast is safe: every kind of metric has these two fields, but prom-client's type has only the name.
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
