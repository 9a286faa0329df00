import { execFileSync } from 'node:child_process';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { promisify } from 'node:util';
import { Worker } from 'node:worker_threads';
import { gzip } from 'node:zlib';
import { Counter, Registry } from 'prom-client';
import { metricsRoute } from '../src/http/metrics.ts';
import { createHttpServer } from '../src/http/server.ts';
import { createExposition } from '../src/metrics/exposition.ts';
import type { Row } from '../src/metrics/family.ts';
import { contentTypes } from '../src/metrics/format.ts';
import { renderSegments } from '../src/metrics/segment.ts';
import { createSelf } from '../src/metrics/self.ts';
import { createSnapshots } from '../src/metrics/snapshot.ts';
import { createTurns } from '../src/metrics/turns.ts';
import { collectorCount, createRows, publishRows } from './scrape-series.ts';

const series = 100_000;
const ofCollector = series / collectorCount;
const scrapes = 2000;

/** Scrapes of many series while they change, against prom-client in the same run; and what rendering and keeping them costs. */
export async function run() {
  const ours = await measureScrapes();
  const theirs = await measurePromClient();
  const render = await measureRendering();
  const delayMs = await measurePublishing();
  const memory = [10_000, 100_000].map((count) => ({ count, megabytes: measureMemory(count) }));
  const ratio = theirs.scrapeMs / ours.meanMs;
  return [
    row('scrape of 100,000 series over HTTP, gzip, while collectors update, p50', ours.p50Ms, 2, 'ms'),
    row('the same, p99', ours.p99Ms, 10, 'ms'),
    {
      what: `requests a second against prom-client (${(1000 / ours.meanMs).toFixed(0)} : ${(1000 / theirs.scrapeMs).toFixed(2)})`,
      figure: `${ratio.toFixed(0)} times`,
      mustReach: '>= 100 times',
      reached: ratio >= 100,
    },
    row(
      `CPU of the event loop to render a series (prom-client, text alone: ${theirs.renderUs.toFixed(2)} µs)`,
      render.mainUs,
      0.4,
      'µs',
    ),
    row('event loop delay while 100,000 series are published, p99', delayMs, 10, 'ms'),
    ...memory.map(({ count, megabytes }) =>
      row(`memory of a process with ${count} series, at most`, megabytes, count === 10_000 ? 120 : 250, 'MB'),
    ),
  ];
}

function row(what: string, value: number, limit: number, unit: string) {
  const figure = `${value.toFixed(value < 10 ? 2 : 0)} ${unit}`;
  return { what, figure, mustReach: `< ${limit} ${unit}`, reached: value < limit };
}

async function measureScrapes() {
  const ticks = (): number => performance.now();
  const snapshots = createSnapshots(ticks);
  const { registry } = createSelf({ version: 'bench', nodeVersion: process.version });
  const exposition = createExposition({ snapshots, registry, labelsOf: () => [], ticks });
  const rows = Array.from({ length: collectorCount }, (_, collector) => createRows(collector, ofCollector, 0));
  for (const [collector, ofOne] of rows.entries()) await publishRows(snapshots, collector, ofOne);
  const server = createHttpServer({
    host: '127.0.0.1',
    port: 0,
    routes: [
      metricsRoute({
        path: '/metrics',
        names: () => ({ servers: [], collectors: [] }),
        maxRequests: 40,
        scrape: async (wish) => ({
          contentType: contentTypes.openmetrics,
          chunks: await exposition.scrape({ ...wish, format: 'openmetrics' }),
        }),
        onBusy: () => {},
      }),
    ],
    onError: (error) => console.error(error),
  });
  const port = await server.listen();
  // Twenty collectors that come every 15 seconds: one after the other, every 750 ms.
  let collector = 0;
  const timer = setInterval(() => {
    void publishRows(snapshots, collector, rows[collector] ?? []);
    collector = (collector + 1) % collectorCount;
  }, 750);
  try {
    await scrapeAll(port, 200);
    const took = (await scrapeAll(port, scrapes)).sort((one, other) => one - other);
    const meanMs = took.reduce((sum, ms) => sum + ms, 0) / took.length;
    return { meanMs, p50Ms: quantile(took, 0.5), p99Ms: quantile(took, 0.99) };
  } finally {
    clearInterval(timer);
    await server.close();
  }
}

function scrapeAll(port: number, count: number): Promise<number[]> {
  const worker = new Worker(new URL('scrape-client.ts', import.meta.url), { workerData: { port, scrapes: count } });
  return new Promise((resolve, reject) => {
    worker.once('message', resolve);
    worker.once('error', reject);
  });
}

function quantile(sorted: readonly number[], share: number): number {
  return sorted[Math.floor(sorted.length * share)] ?? Number.NaN;
}

/** The same series in its registry, rendered and compressed for every scrape; no HTTP at all. */
async function measurePromClient() {
  const registry = new Registry();
  const counters = Array.from({ length: collectorCount }, (_, collector) => {
    const rows = createRows(collector, ofCollector, 0);
    const { name = '', help = '', labels: names = [] } = rows[0]?.family ?? {};
    const own = new Counter({ name, help, labelNames: ['server', ...names], registers: [registry] });
    for (const { labels, value } of rows) {
      own.inc(
        { server: 'prod', ...Object.fromEntries(names.map((label, index) => [label, labels[index] ?? ''])) },
        value,
      );
    }
    return own;
  });
  const compress = promisify(gzip);
  const renderMs: number[] = [];
  const scrapeMs: number[] = [];
  for (let round = 0; round < 5; round++) {
    const startedTicks = performance.now();
    const text = await registry.metrics();
    renderMs.push(performance.now() - startedTicks);
    await compress(text);
    scrapeMs.push(performance.now() - startedTicks);
  }
  for (const own of counters) own.reset();
  return { renderUs: (median(renderMs) * 1000) / series, scrapeMs: median(scrapeMs) };
}

/** What the event loop itself spends, building of rows left out; deflating happens beside it. */
async function measureRendering() {
  const nextTurn = createTurns();
  const samples: number[] = [];
  for (let round = 0; round < 7; round++) {
    const rows: Row[][] = [];
    for (let collector = 0; collector < collectorCount; collector++) {
      rows.push(createRows(collector, ofCollector, round));
    }
    const cpu = process.threadCpuUsage();
    for (const ofOne of rows) await renderSegments(ofOne, [['server', 'prod']], nextTurn);
    const { user, system } = process.threadCpuUsage(cpu);
    samples.push((user + system) / series);
  }
  // The fewest: others on this machine only ever add.
  return { mainUs: Math.min(...samples) };
}

async function measurePublishing(): Promise<number> {
  const snapshots = createSnapshots(() => performance.now());
  const delay = monitorEventLoopDelay({ resolution: 1 });
  const rows = Array.from({ length: collectorCount }, (_, collector) => createRows(collector, ofCollector, 0));
  for (let round = 0; round < 6; round++) {
    // The first round warms up.
    if (round === 1) delay.enable();
    await Promise.all(rows.map((ofOne, collector) => publishRows(snapshots, collector, ofOne)));
  }
  delay.disable();
  return delay.percentile(99) / 1e6;
}

function measureMemory(count: number): number {
  const script = new URL('scrape-memory.ts', import.meta.url).pathname;
  return Number(execFileSync(process.execPath, [script, String(count)], { encoding: 'utf8' })) / 1024 / 1024;
}

function median(samples: readonly number[]): number {
  return [...samples].sort((one, other) => one - other)[Math.floor(samples.length / 2)] ?? Number.NaN;
}
