import { gunzipSync } from 'node:zlib';
import { Histogram, Registry } from 'prom-client';
import { describe, expect, it } from 'vitest';
import { toGzip } from '../../src/metrics/block.ts';
import { createExposition } from '../../src/metrics/exposition.ts';
import { counter, gauge, histogram, info, type Row, since, summary } from '../../src/metrics/family.ts';
import { histogram as instrument } from '../../src/metrics/instrument.ts';
import { createSelf } from '../../src/metrics/self.ts';
import { createSnapshots, type Snapshots } from '../../src/metrics/snapshot.ts';
import { fakeClock } from '../support/fake-clock.ts';
import { decodeFamilies } from '../support/metric-families.ts';
import { fc } from '../support/property.ts';

const stored = counter('demo_stored_total', 'Stored.', 'project');
const size = gauge('demo_size_bytes', 'Size of "all" \\ näher.', 'project', 'job');
const facts = info('demo_info', 'Facts.', 'version');
const spread = histogram('demo_spread_seconds', 'Spread.', 'project');
const timing = summary('demo_timing_seconds', 'Timing.', 'name');

const clock = fakeClock({ ticks: () => 0 });

async function publish(snapshots: Snapshots, rows: readonly Row[], source = 'one', server = 'prod') {
  await snapshots.publish({
    source,
    server,
    collector: 'demo',
    baseLabels: [['server', server]],
    rows,
    validForMs: 1000,
  });
}

async function read(snapshots: Snapshots) {
  await snapshots.translate();
  return decodeFamilies(Buffer.concat(snapshots.show('protobuf').text));
}

function textOf(snapshots: Snapshots): readonly string[] {
  const lines = Buffer.concat(snapshots.show('text').text).toString('utf8').split('\n');
  return lines.filter((line) => line !== '' && !line.startsWith('#'));
}

describe('metrics/protobuf', () => {
  it('writes the same samples as the text, for any content of labels', async () => {
    const label = fc.oneof(
      fc.constantFrom('', '\\', '"', '\n', 'a"b\\n', '} 1 # {a="b"}', '界,le="x"', 'é'.repeat(90)),
      fc.string({ unit: 'grapheme', maxLength: 10 }),
    );
    const value = fc.oneof(
      fc.nat(),
      fc.double({ noNaN: true }),
      fc.constantFrom(Infinity, -Infinity, 2 ** 53, -0.5, 1e21, 1e-7),
    );
    const rows = fc.oneof(
      fc.tuple(value, label).map(([given, project]) => stored.rows(given, { project })),
      fc.tuple(value, label, label).map(([given, project, job]) => size.rows(given, { project, job })),
      fc.tuple(label).map(([version]) => facts.rows({ version })),
      fc
        .tuple(label, fc.nat(), value)
        .map(([project, count, sum]) =>
          spread.rows({ bounds: [0.5, 10], counts: [count, 1, 2 ** 33], sum, count: count + 1 + 2 ** 33 }, { project }),
        ),
      fc
        .tuple(label, value, fc.option(value, { nil: undefined }))
        .map(([name, given, count]) => timing.rows({ quantiles: [[0.5, given]], count }, { name })),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(fc.array(rows, { maxLength: 8 }), { maxLength: 3 }), async (sources) => {
        const snapshots = createSnapshots(clock);
        for (const [index, given] of sources.entries()) await publish(snapshots, given.flat(), `${index}`);

        const families = await read(snapshots);
        expect(families.flatMap(({ samples }) => samples).sort()).toEqual([...textOf(snapshots)].sort());
        expect(new Set(families.map(({ name }) => name)).size).toBe(families.length);
        const block = snapshots.show('protobuf');
        expect(gunzipSync(Buffer.concat(toGzip(block)))).toEqual(Buffer.concat(block.text));
      }),
      { numRuns: 60 },
    );
  });

  it('writes types, help texts, starts, exemplars and native histograms', async () => {
    const snapshots = createSnapshots(clock);
    const exemplar = { traceId: 'cafe', spanId: 'beef', value: 0.75, atMs: 1_700_000_000_250 };
    const counts = { bounds: [1, 10], counts: [3, 2, 0], sum: 9.5, count: 5, exemplars: [exemplar] };
    const native = {
      native: { schema: 3, zeros: 1, buckets: [-4, 1, -3, 1, 9, 1] },
      before: { counts: [1, 0, 0], sum: 0.5, count: 1 },
    };
    await publish(snapshots, [
      ...since(1_700_000_000, stored.rows(7, { project: 'a' })),
      ...stored.rows(8, { project: 'b' }),
      ...size.rows(1, { project: 'a', job: 'b' }),
      ...['a', 'b'].flatMap((project) => spread.rows({ ...counts, native, startSeconds: 1_600_000_000 }, { project })),
      ...timing.rows({ quantiles: [[0.5, 1]], count: 3 }, { name: 'n' }),
    ]);

    const families = await read(snapshots);
    expect(families.map(({ name, type }) => `${name} ${type}`)).toEqual([
      'demo_stored_total 0',
      'demo_size_bytes 1',
      'demo_spread_seconds 4',
      'demo_timing_seconds 1',
      'demo_timing_seconds_count 0',
    ]);
    const [ofStored, ofSize, ofSpread] = families;
    expect(ofStored?.series.map(({ startSeconds }) => startSeconds)).toEqual([1_700_000_000, undefined]);
    expect(ofSize?.help).toBe('Size of "all" \\ näher.');
    const exemplars = ['{trace_id="cafe",span_id="beef"} 0.75 1700000000.25'];
    const every = { startSeconds: 1_600_000_000, native: native.native, count: 4, exemplars };
    expect(ofSpread?.series).toEqual([
      { labels: 'server="prod",project="a"', ...every },
      { labels: 'server="prod",project="b"', ...every },
    ]);
    // No bucket, sum or count includes values from before the native histogram.
    const values = ['_bucket le="1.0" 2', '_bucket le="10.0" 4', '_bucket le="+Inf" 4', '_sum  9', '_count  4'];
    expect(ofSpread?.samples.map((line) => line.replace(/.*(_[a-z]+)\{.*?(le=".*")?\}/, '$1 $2'))).toEqual([
      ...values,
      ...values,
    ]);
  });

  it('translates rows only after a scrape requested protocol buffers', async () => {
    let nowTicks = 0;
    const translated: number[] = [];
    const snapshots = createSnapshots(fakeClock({ ticks: () => nowTicks }), async (bytes) => {
      translated.push(bytes.length);
      const { toBlock } = await import('../../src/metrics/block.ts');
      return toBlock(bytes);
    });
    await publish(snapshots, stored.rows(1, { project: 'a' }));
    expect(translated.length).toBe(1);
    await Promise.all([read(snapshots), read(snapshots)]);
    await read(snapshots);
    expect(translated.length).toBe(2);
    await publish(snapshots, stored.rows(2, { project: 'a' }));
    expect(translated.length).toBe(4);
    await read(snapshots);
    // Unchanged rows are not translated again.
    await publish(snapshots, stored.rows(2, { project: 'a' }));
    expect(translated.length).toBe(4);
    nowTicks = 600_001;
    await publish(snapshots, stored.rows(3, { project: 'a' }));
    expect(translated.length).toBe(5);
    await read(snapshots);
    await publish(snapshots, since(1_700_000_000, stored.rows(3, { project: 'a' })));
    expect((await read(snapshots))[0]?.series[0]?.startSeconds).toBe(1_700_000_000);
  });

  it("writes the exporter's own counts as native histograms, with the start of the process as their start", async () => {
    const registry = new Registry();
    const took = instrument({ name: 'own_seconds', help: 'Own.', labelNames: ['a', 'b'], buckets: [1] })(registry);
    const bare = instrument({ name: 'own_bare_seconds', help: 'Own.', buckets: [1] })(registry);
    took.observe({ a: '1', b: '2' }, 0.5);
    took.observe({ b: '2', a: '1' }, 2);
    took.observe({ a: '2', b: '2' }, 2);
    took.remove({ a: '2', b: '2' });
    took.observe({ a: '2', b: '2' }, 0);
    bare.observe(4);
    const snapshots = createSnapshots(clock);
    const exposition = createExposition({
      snapshots,
      registry,
      labelsOf: () => [],
      ticks: () => 0,
      startedAtMs: 1_700_000_000_900,
    });
    const families = decodeFamilies(Buffer.concat(await exposition.scrape({ format: 'protobuf', gzip: false })));
    expect(families.flatMap(({ series }) => series)).toEqual([
      { ...own, labels: '', native: { schema: 3, zeros: 0, buckets: [16, 1] }, count: 1 },
      { ...own, labels: 'a="1",b="2"', native: { schema: 3, zeros: 0, buckets: [-8, 1, 8, 1] }, count: 2 },
      { ...own, labels: 'a="2",b="2"', native: { schema: 3, zeros: 1, buckets: [] }, count: 1 },
    ]);
  });

  it('writes every histogram of the exporter natively', async () => {
    const { registry } = createSelf({ version: '1', nodeVersion: 'v24' });
    for (const metric of registry.getMetricsAsArray()) {
      if (!(metric instanceof Histogram)) continue;
      const { labelNames } = metric as unknown as { labelNames: readonly string[] };
      metric.observe(Object.fromEntries(labelNames.map((name) => [name, name])), 1);
    }
    const exposition = createExposition({
      snapshots: createSnapshots(clock),
      registry,
      labelsOf: () => [],
      ticks: () => 0,
    });
    const families = decodeFamilies(Buffer.concat(await exposition.scrape({ format: 'protobuf', gzip: false })));
    const counted = families
      .filter(({ type }) => type === 4)
      .map(({ name, series }) => ({ name, series: [...new Set(series.map(({ native }) => native !== undefined))] }));
    expect(counted).toEqual([
      { name: 'automation_exporter_api_request_duration_seconds', series: [true] },
      { name: 'automation_exporter_state_commit_duration_seconds', series: [true] },
      { name: 'nodejs_gc_duration_seconds', series: [true] },
    ]);
  });
});

const own = { startSeconds: 1_700_000_000, exemplars: [] };
