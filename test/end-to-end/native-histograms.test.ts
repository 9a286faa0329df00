import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { punctuality } from '../../alerts/definitions/punctuality.ts';
import { scheduleAlerts } from '../../alerts/definitions/schedule.ts';
import { defaultThresholds } from '../../alerts/thresholds.ts';
import { panelQueries } from '../../dashboards/queries.ts';
import { createRandom } from '../../simulator/random.ts';
import { observe, type StoredHistogram, toNativePart } from '../../src/domain/durations/stored-histogram.ts';
import { createSeriesSlots } from '../../src/executions/counting/series-slots.ts';
import { type Cell, toCellKey } from '../../src/executions/counting/totals.ts';
import { toNewProject } from '../../src/executions/ledger/project-state.ts';
import { executionFamilies } from '../../src/executions/series/families.ts';
import { toTotalRows } from '../../src/executions/series/total-rows.ts';
import { scheduleFamilies } from '../../src/expected-runs/showing/families.ts';
import { metricsRoute } from '../../src/http/routes/metrics.ts';
import { createHttpServer, type HttpServer } from '../../src/http/server/server.ts';
import { createExposition } from '../../src/metrics/exposition.ts';
import type { Row } from '../../src/metrics/family.ts';
import { chooseFormat, contentTypes } from '../../src/metrics/format.ts';
import { createSelf } from '../../src/metrics/self.ts';
import { createSnapshots } from '../../src/metrics/snapshot.ts';
import { eventually } from '../support/eventually.ts';
import { fakeClock } from '../support/fake-clock.ts';
import { type Prometheus, startPrometheus } from '../support/prometheus.ts';
import { describeWithTools } from '../support/tools.ts';
import { toSeries } from './scraped.ts';

const bounds = [1, 5, 15, 30, 60, 120, 300, 600, 1800, 3600];

/** Durations in whole milliseconds, mostly around a minute. */
const random = createRandom(7);
const durations = Array.from({ length: 3000 }, () => {
  const normal = Array.from({ length: 12 }, random).reduce((sum, one) => sum + one, -6);
  return Math.round(60_000 * Math.exp(0.6 * normal)) / 1000;
});

/** The state of a release without native histograms, which counted the first thousand durations. */
const { native: _native, ...older } = observeAll(durations.slice(0, 1000));
const counted: Readonly<Record<string, StoredHistogram>> = {
  all: observeAll(durations),
  grown: observeAll(durations.slice(1000), older),
  older,
  // More distinct durations than buckets, from a millisecond to years.
  wide: observeAll([0, ...Array.from({ length: 400 }, (_, index) => Math.round(1.06 ** index) / 1000)]),
};

function observeAll(seconds: readonly number[], before: StoredHistogram = { count: 0 }): StoredHistogram {
  let stored = before;
  for (const one of seconds) stored = observe(stored, one, bounds);
  return stored;
}

describeWithTools('end-to-end/native-histograms', ['prometheus'], ({ prometheus }) => {
  let http: HttpServer;
  let server: Prometheus;
  let target = '';
  let text = '';
  const errors: unknown[] = [];
  const snapshots = createSnapshots(fakeClock({ ticks: () => 0 }));
  const { registry, apiDuration } = createSelf({ version: 'test', nodeVersion: 'test' });

  async function publish(source: string, rows: readonly Row[]): Promise<void> {
    const baseLabels = [['server', 'prod']] as const;
    await snapshots.publish({ source, server: 'prod', collector: source, baseLabels, rows, validForMs: 1 });
  }

  async function publishDurations(cells: readonly Cell[]): Promise<void> {
    const rows = toTotalRows({
      totals: {
        cells: new Map([...cells, toRuns()].map((cell) => [toCellKey(cell.kind, cell.labels), cell])),
        jobs: new Map(),
        slots: createSeriesSlots([...cells, toRuns()]),
      },
      states: new Map([['pay', toNewProject('pay', 0)]]),
      exemplars: { of: () => [] },
      nativeSeconds: 1_700_000_000,
      settings: { buckets: bounds, cicd: true, isWantedJob: () => true, successAgeMsOf: () => undefined },
    });
    await publish('executions', rows);
  }

  beforeAll(async () => {
    await publishDurations(Object.entries(counted).map(([name, stored]) => toCell(name, stored)));
    text = Buffer.concat(snapshots.show('text').text).toString('utf8');
    apiDuration.observe({ server: 'prod', api_endpoint: 'system/info' }, 0.3);
    const exposition = createExposition({ snapshots, registry, labelsOf: () => [], ticks: () => performance.now() });
    const routes = [
      metricsRoute({
        path: '/metrics',
        names: () => ({ servers: [], collectors: [] }),
        maxRequests: 10,
        scrape: async ({ accept, ...wish }) => {
          const format = chooseFormat(accept);
          return { contentType: contentTypes[format], chunks: await exposition.scrape({ ...wish, format }) };
        },
        onBusy: () => {},
      }),
    ];
    http = createHttpServer({ host: '127.0.0.1', port: 0, routes, onError: (error) => errors.push(error) });
    target = `127.0.0.1:${await http.listen()}`;
    server = await startPrometheus({ prometheus, target, job: 'demo', features: ['native-histograms'] });
    await eventually(async () => {
      if ((await valueOf('up')) !== 1) throw new Error('not scraped yet');
    });
  }, 30_000);

  afterAll(async () => {
    await server?.stop();
    await http?.close();
  });

  async function valueOf(expr: string, of = server): Promise<number> {
    const rows = await of.query(expr);
    // This cast is safe: an instant query answers with such rows.
    return Number((rows[0] as { readonly value: readonly [number, string] } | undefined)?.value[1]);
  }

  it('scrapes the same values with native histograms as in the text format', async () => {
    const wrong: string[] = [];
    for (const [series, value] of toSeries(text)) {
      if (series.includes('_bucket{') || series.includes('older') || series.includes('grown')) continue;
      const expr = series.replace(/^(\w+)_(sum|count)(\{.*\})$/, 'histogram_$2($1$3)');
      if ((await valueOf(expr)) !== value) wrong.push(`${series} ${value}: ${await valueOf(expr)}`);
    }
    expect(wrong).toEqual([]);
    expect(errors).toEqual([]);
    expect(await valueOf('histogram_count(automation_exporter_api_request_duration_seconds)')).toBe(1);
  });

  it('native histograms start at 0 if an older release counted before', async () => {
    expect(await valueOf(`histogram_count(${seriesOf('older')})`)).toBe(0);
    expect(await valueOf(`histogram_count(${seriesOf('grown')})`)).toBe(2000);
    const sum = observeAll(durations.slice(1000)).sumSeconds ?? 0;
    expect(await valueOf(`histogram_sum(${seriesOf('grown')})`)).toBeCloseTo(sum, 3);
  });

  it.each([0.1, 0.5, 0.9, 0.99])(
    'computes quantile %d of native histograms with an error of at most 5 %%',
    async (quantile) => {
      const sorted = [...durations].sort((one, other) => one - other);
      const truth = sorted[Math.ceil(quantile * sorted.length) - 1] ?? Number.NaN;
      const found = await valueOf(`histogram_quantile(${quantile}, ${seriesOf('all')})`);
      expect(Math.abs(found / truth - 1)).toBeLessThan(0.05);
    },
  );

  it('gives dashboards and rules the same answers as classic histograms', async () => {
    const classic = await startPrometheus({ prometheus, target, job: 'demo' });
    onTestFinished(classic.stop);
    const grow = async (runs: number): Promise<void> => {
      apiDuration.observe({ server: 'prod', api_endpoint: 'system/info' }, 0.3);
      await publishDurations([toCell('all', observeAll(durations.slice(0, runs)))]);
      const { sumSeconds: sum = 0, ...delays } = observeAll(durations.slice(0, runs));
      const shown = {
        bounds,
        counts: delays.buckets ?? [],
        sum,
        count: runs,
        native: toNativePart({ ...delays, sumSeconds: sum }),
      };
      await publish('schedule', [
        ...scheduleFamilies.delay.rows(shown, { project: 'pay' }),
        ...scheduleFamilies.missed.rows(1, { ...job, reason: 'passive' }),
        ...executionFamilies.lastDuration.rows(1, job),
        ...executionFamilies.averageDuration.rows(1, job),
      ]);
    };
    await grow(1000);
    const seen = 'automation_schedule_delay_seconds';
    await eventually(async () => {
      const counts = [await valueOf(`histogram_count(${seen})`), await valueOf(`${seen}_count`, classic)];
      if (counts.join() !== '1000,1000') throw new Error(`not scraped yet: ${counts.join()}`);
    });
    await grow(2000);
    await eventually(async () => {
      for (const expr of listQueries()) {
        const ofClassic = toLabels(await classic.query(expr));
        expect([expr, ofClassic.length > 0]).toEqual([expr, true]);
        expect([expr, toLabels(await server.query(expr))]).toEqual([expr, ofClassic]);
      }
    });
  });
});

const job = { project: 'pay', job_group: '', job_name: 'all' };
const ofHistograms = /(automation_execution_duration|automation_schedule_delay|api_request_duration)_seconds/;

/** Lists the queries of histograms, without heatmaps. */
function listQueries(): readonly string[] {
  const { errors, total, count } = punctuality;
  const panels = readdirSync('dashboards').flatMap((file) =>
    file.endsWith('.json') ? panelQueries(readFileSync(join('dashboards', file), 'utf8')) : [],
  );
  const rules = scheduleAlerts({ ...defaultThresholds, scheduleLateSeconds: 0 });
  return [
    ...panels.filter(({ panel }) => panel !== 'Durations').map(({ expr }) => expr),
    ...rules.map(({ expr }) => expr),
    errors('5m'),
    total('5m'),
    count('1h', defaultThresholds),
  ].filter((expr) => ofHistograms.test(expr));
}

function toLabels(rows: readonly unknown[]): readonly string[] {
  // This cast is safe: each result has labels.
  const labels = rows.map((row) => Object.entries((row as { metric: object }).metric));
  return labels
    .map((pairs) =>
      pairs
        .map(([name, value]) => `${name}=${value}`)
        .toSorted()
        .join(),
    )
    .toSorted();
}

function seriesOf(name: string): string {
  return `automation_execution_duration_seconds{job_name="${name}"}`;
}

/** The value after it was stored and read. */
function toCell(name: string, stored: StoredHistogram): Cell {
  const labels = ['pay', '', name, 'succeeded'];
  return JSON.parse(
    JSON.stringify({ kind: 'durations', labels, isReleased: true, startSeconds: 1, ...stored }),
  ) as Cell;
}

function toRuns(): Cell {
  return { kind: 'runs', labels: ['pay', '', 'all', 'succeeded'], isReleased: true, startSeconds: 1, count: 3000 };
}
