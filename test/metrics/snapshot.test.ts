import { setImmediate } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { toGzip } from '../../src/metrics/block.ts';
import { counter, gauge, histogram, info, type LabelPair, type Row, summary } from '../../src/metrics/family.ts';
import { renderHeader, renderSamples } from '../../src/metrics/render.ts';
import { createSnapshots, type Selection, type Snapshot, type Snapshots } from '../../src/metrics/snapshot.ts';
import { fakeClock } from '../support/fake-clock.ts';
import { fc } from '../support/property.ts';

const stored = counter('demo_stored_total', 'Stored.');
const size = gauge('demo_size_bytes', 'Size.', 'project', 'job');
const facts = info('demo_info', 'Facts.', 'version');
const spread = histogram('demo_spread', 'Spread.', 'project');
const timing = summary('demo_timing_seconds', 'Timing.', 'name');

function snapshotOf(source: string, rows: readonly Row[], given: Partial<Snapshot> = {}): Snapshot {
  return { source, server: 'prod', collector: 'demo', baseLabels: [], rows, validForMs: 1000, ...given };
}

function samplesOf(snapshots: Snapshots, selection?: Selection): readonly string[] {
  const text = Buffer.concat(snapshots.show('text', selection).text).toString('utf8');
  return text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
}

/** The number of rows is so large that they take several turns. */
function manyRows(value: number): readonly Row[] {
  return Array.from({ length: 9000 }, (_, index) => size.rows(value, { project: `p${index}`, job: 'j' })).flat();
}

/** Looks in each turn of the event loop until all promises have settled. */
async function onEveryTurn(all: Promise<unknown>, look: () => void): Promise<void> {
  const state = { isDone: false };
  const ended = all.finally(() => {
    state.isDone = true;
  });
  while (!state.isDone) {
    look();
    await setImmediate();
  }
  await ended;
}

describe('metrics/snapshot', () => {
  it('shows exemplars only in OpenMetrics', async () => {
    const snapshots = createSnapshots(fakeClock({ ticks: () => 0 }));
    const exemplar = { traceId: 'cafe', spanId: 'beef', value: 3.5, atMs: 1_700_000_000_250 };
    const given = { bounds: [1, 10], counts: [1, 1, 0], sum: 4, count: 2, exemplars: [undefined, exemplar] };
    // Some rows are deflated before the first exemplar appears, and some after it.
    const rows = Array.from({ length: 9000 }, (_, index) => {
      const { exemplars, ...plain } = given;
      return spread.rows(index === 4500 ? { ...plain, exemplars } : plain, { project: `p${index}` });
    });
    await snapshots.publish(snapshotOf('one', [...stored.rows(1), ...rows.flat()]));
    const text = Buffer.concat(snapshots.show('text').text).toString('utf8');
    const openMetrics = Buffer.concat(snapshots.show('openmetrics').text).toString('utf8');

    const found = openMetrics.split('\n').filter((line) => line.includes('# {'));
    expect(found).toEqual([
      'demo_spread_bucket{project="p4500",le="10.0"} 2 # {trace_id="cafe",span_id="beef"} 3.5 1700000000.25',
    ]);
    expect(openMetrics.replace(/ # \{.*/, '')).toBe(
      text.replaceAll('demo_stored_total S', 'demo_stored S').replaceAll('demo_stored_total c', 'demo_stored c'),
    );
    const gzip = Buffer.concat(toGzip(snapshots.show('openmetrics')));
    expect(gunzipSync(gzip).toString('utf8')).toBe(openMetrics);
  });

  it('joins the text of an unchanged state once', async () => {
    let nowMs = 0;
    const snapshots = createSnapshots(fakeClock({ ticks: () => nowMs }));
    await snapshots.publish(snapshotOf('one', stored.rows(1)));
    const first = snapshots.show('text');
    nowMs = 999;
    expect(snapshots.show('text')).toBe(first);
    await snapshots.publish(snapshotOf('two', stored.rows(2)));
    expect(snapshots.show('text')).not.toBe(first);
  });

  it('shows no header for a family without samples', async () => {
    const snapshots = createSnapshots(fakeClock({ ticks: () => 0 }));
    const [row] = stored.rows(1);
    const rows = row === undefined ? [] : [{ ...row, value: Number.NaN }];
    await snapshots.publish(snapshotOf('one', rows));
    expect(Buffer.concat(snapshots.show('text').text).toString('utf8')).toBe('');
  });

  it('shows no part of a snapshot before the snapshot is complete', async () => {
    const snapshots = createSnapshots(fakeClock({ ticks: () => 0 }));
    await snapshots.publish(snapshotOf('one', manyRows(1)));
    const published = snapshots.publish(snapshotOf('one', manyRows(2)));
    const seen = new Set<string>();
    await onEveryTurn(published, () => {
      const samples = samplesOf(snapshots);
      seen.add(`${samples.length} rows of ${[...new Set(samples.map((line) => line.split(' ')[1]))].join()}`);
    });

    expect([...seen]).toEqual(['9000 rows of 1']);
    expect(samplesOf(snapshots)[0]).toBe('demo_size_bytes{project="p0",job="j"} 2');
  });

  it('blocks the event loop for one slice at a time', async () => {
    const snapshots = createSnapshots(fakeClock({ ticks: () => 0 }));
    let rendered = 0;
    const counted = manyRows(1).map(
      (row): Row => ({
        ...row,
        get value() {
          rendered += 1;
          return 1;
        },
      }),
    );
    const published = ['one', 'two', 'three', 'four'].map((source) => snapshots.publish(snapshotOf(source, counted)));
    const perTurn: number[] = [];
    await onEveryTurn(Promise.all(published), () => {
      perTurn.push(rendered);
      rendered = 0;
    });

    // A slice is 128 KiB of text, which has fewer than 4000 of these lines.
    expect(Math.max(...perTurn)).toBeLessThan(4000);
    expect(perTurn.reduce((sum, one) => sum + one)).toBe(36_000);
  });

  it('keeps the newer of two simultaneous publications', async () => {
    const snapshots = createSnapshots(fakeClock({ ticks: () => 0 }));

    await Promise.all([
      snapshots.publish(snapshotOf('one', manyRows(1))),
      snapshots.publish(snapshotOf('one', stored.rows(2))),
    ]);
    expect(samplesOf(snapshots)).toEqual(['demo_stored_total 2']);

    await Promise.all([
      snapshots.publish(snapshotOf('one', stored.rows(3))),
      snapshots.publish(snapshotOf('one', stored.rows(4))),
    ]);
    expect(samplesOf(snapshots)).toEqual(['demo_stored_total 4']);
  });

  it('does not restore rows that were withdrawn while they were rendered', async () => {
    const snapshots = createSnapshots(fakeClock({ ticks: () => 0 }));
    const published = snapshots.publish(snapshotOf('one', stored.rows(1)));
    snapshots.withdraw('one');
    await published;
    expect(samplesOf(snapshots)).toEqual([]);

    await snapshots.publish(snapshotOf('one', stored.rows(2)));
    expect(samplesOf(snapshots)).toEqual(['demo_stored_total 2']);
    snapshots.withdraw('one');
    expect(samplesOf(snapshots)).toEqual([]);
  });

  it('computes the age from the arrival of the rows', async () => {
    let clockMs = 0;
    const snapshots = createSnapshots(fakeClock({ ticks: () => clockMs }));
    const published = snapshots.publish(snapshotOf('one', stored.rows(1)));
    clockMs = 999;
    await published;
    expect(samplesOf(snapshots)).toEqual(['demo_stored_total 1']);
    clockMs = 1000;
    expect(samplesOf(snapshots)).toEqual([]);
    expect(samplesOf(snapshots, { servers: new Set(['prod']) })).toEqual([]);
  });

  it('shows the selected servers and collectors', async () => {
    const snapshots = createSnapshots(fakeClock({ ticks: () => 0 }));
    for (const [value, server, collector] of [
      [1, 'a', 'x'],
      [2, 'a', 'y'],
      [3, 'b', 'x'],
    ] as const) {
      await snapshots.publish(snapshotOf(`${value}`, stored.rows(value), { server, collector }));
    }

    const valuesOf = (selection?: Selection) => samplesOf(snapshots, selection).map((line) => line.at(-1));
    expect(valuesOf()).toEqual(['1', '2', '3']);
    expect(valuesOf({ servers: new Set(['a']) })).toEqual(['1', '2']);
    expect(valuesOf({ collectors: new Set(['x', 'exporter']) })).toEqual(['1', '3']);
    expect(valuesOf({ servers: new Set(['b']), collectors: new Set(['x']) })).toEqual(['3']);
    expect(valuesOf({ collectors: new Set() })).toEqual([]);
  });

  it('returns the same bytes as rendering all rows in one piece', async () => {
    const label = fc.string({ unit: 'binary', maxLength: 12 });
    const value = fc.double({ noNaN: true });
    const rowsOf = fc.oneof(
      value.map((given) => stored.rows(given)),
      fc.tuple(value, label, label).map(([given, project, job]) => size.rows(given, { project, job })),
      label.map((version) => facts.rows({ version }, [['team', version]])),
      fc.tuple(value, label).map(([sum, name]) => timing.rows({ quantiles: [[0.5, sum]], sum, count: 1 }, { name })),
    );
    const base = fc.array(fc.tuple(fc.constantFrom('server', 'site'), label), { maxLength: 2 });
    const sources = fc.array(fc.tuple(fc.array(rowsOf, { maxLength: 12 }), base), { maxLength: 5 });

    await fc.assert(
      fc.asyncProperty(sources, async (published) => {
        const snapshots = createSnapshots(fakeClock({ ticks: () => 0 }));
        for (const [index, [rows, baseLabels]] of published.entries()) {
          await snapshots.publish(snapshotOf(`${index}`, rows.flat(), { baseLabels }));
        }
        for (const format of ['text', 'openmetrics'] as const) {
          const plain = [facts, size, stored, timing]
            .map((family) => {
              const samples = published.map(([rows, baseLabels]) => renderOf(family.name, rows.flat(), baseLabels));
              return samples.join('') === '' ? '' : renderHeader(family, format) + samples.join('');
            })
            .join('');
          const block = snapshots.show(format);
          expect(Buffer.concat(block.text).toString('utf8')).toBe(plain);
          expect(gunzipSync(Buffer.concat(toGzip(block))).toString('utf8')).toBe(plain);
        }
      }),
      { numRuns: 60 },
    );
  });

  it('renders the buckets of a histogram beside its sum and count', async () => {
    const snapshots = createSnapshots(fakeClock({ ticks: () => 0 }));
    const rows = spread.rows({ bounds: [1], counts: [1, 1], sum: 3.5, count: 2 }, { project: 'a' });

    await snapshots.publish(snapshotOf('one', rows, { baseLabels: [['server', 's']] }));

    expect(samplesOf(snapshots)).toEqual([
      'demo_spread_bucket{server="s",project="a",le="1.0"} 1',
      'demo_spread_bucket{server="s",project="a",le="+Inf"} 2',
      'demo_spread_sum{server="s",project="a"} 3.5',
      'demo_spread_count{server="s",project="a"} 2',
    ]);
  });
});

function renderOf(name: string, rows: readonly Row[], baseLabels: readonly LabelPair[]): string {
  return renderSamples(
    rows.filter(({ family }) => family.name === name),
    baseLabels,
  );
}
