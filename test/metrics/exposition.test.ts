import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { createExposition, forgetSeries, renderExposition } from '../../src/metrics/exposition.ts';
import { counter, gauge, info, type LabelPair, type Row, stateSet } from '../../src/metrics/family.ts';
import type { Format } from '../../src/metrics/format.ts';
import { createSelf } from '../../src/metrics/self.ts';
import { createSnapshots, type Selection, type Snapshots } from '../../src/metrics/snapshot.ts';
import { fakeClock } from '../support/fake-clock.ts';

const stored = counter('demo_stored_total', 'Things stored [a\\b].');
const age = gauge('demo_age_seconds', 'Age.', 'name');
const of = { server: 'prod', collector: 'demo' };
const facts = info('demo_info', 'Facts.', 'version', 'node');
const mode = stateSet('demo_mode', 'Mode.', { label: 'mode', states: ['on', 'off'] });

const rows = [
  ...mode.rows('off'),
  ...facts.rows({ version: '1', node: undefined }),
  ...stored.rows(3),
  ...age.rows(0.5, { name: 'a "b"\\\nc 😀 é' }),
];

function textOf(snapshots: Snapshots, format: Format = 'text'): string {
  return Buffer.concat(snapshots.show(format).text).toString('utf8');
}

/** The scrape of rows of several sources, each with its own base labels. */
async function show(format: Format, ...sources: readonly (readonly [readonly Row[], ...LabelPair[]])[]) {
  const snapshots = createSnapshots(fakeClock({ ticks: () => 0 }));
  for (const [index, [rowsOfSource, ...baseLabels]] of sources.entries()) {
    await snapshots.publish({ ...of, source: `${index}`, baseLabels, rows: rowsOfSource, validForMs: 1 });
  }
  return textOf(snapshots, format);
}

describe('metrics/exposition', () => {
  it('writes text 0.0.4', async () => {
    expect(await show('text', [rows, ['server', 'prod']])).toBe(`\
# HELP demo_age_seconds Age.
# TYPE demo_age_seconds gauge
demo_age_seconds{server="prod",name="a \\"b\\"\\\\\\nc 😀 é"} 0.5
# HELP demo_info Facts.
# TYPE demo_info gauge
demo_info{server="prod",version="1",node=""} 1
# HELP demo_mode Mode.
# TYPE demo_mode gauge
demo_mode{server="prod",mode="on"} 0
demo_mode{server="prod",mode="off"} 1
# HELP demo_stored_total Things stored [a\\\\b].
# TYPE demo_stored_total counter
demo_stored_total{server="prod"} 3
`);
  });

  it('writes OpenMetrics 1.0 with units, real infos and an end', async () => {
    expect(await show('openmetrics', [rows])).toBe(`\
# HELP demo_age_seconds Age.
# TYPE demo_age_seconds gauge
# UNIT demo_age_seconds seconds
demo_age_seconds{name="a \\"b\\"\\\\\\nc 😀 é"} 0.5
# HELP demo Facts.
# TYPE demo info
demo_info{version="1",node=""} 1
# HELP demo_mode Mode.
# TYPE demo_mode gauge
demo_mode{mode="on"} 0
demo_mode{mode="off"} 1
# HELP demo_stored Things stored [a\\\\b].
# TYPE demo_stored counter
demo_stored_total 3
`);
  });

  it('writes one header for a family of several servers', async () => {
    expect(await show('text', [stored.rows(1), ['server', 'a']], [stored.rows(2), ['server', 'b']])).toBe(`\
# HELP demo_stored_total Things stored [a\\\\b].
# TYPE demo_stored_total counter
demo_stored_total{server="a"} 1
demo_stored_total{server="b"} 2
`);
  });

  it('shows no sample for an unknown value', async () => {
    const unknown = [
      ...stored.rows(undefined),
      ...age.rows(Number.NaN, { name: 'x' }),
      ...facts.rows({}),
      ...mode.rows(undefined),
      ...mode.rows('sideways'),
    ];

    expect(await show('text', [unknown])).toBe('');
  });

  it('shows no expired, replaced or withdrawn snapshot', async () => {
    let clockMs = 0;
    const snapshots = createSnapshots(fakeClock({ ticks: () => clockMs }));
    const shown = () =>
      textOf(snapshots)
        .split('\n')
        .filter((line) => line.startsWith('demo'));
    await snapshots.publish({ ...of, source: 'one', baseLabels: [], rows: stored.rows(1), validForMs: 1000 });
    await snapshots.publish({ ...of, source: 'two', baseLabels: [], rows: mode.rows('on'), validForMs: 5000 });
    await snapshots.publish({ ...of, source: 'one', baseLabels: [], rows: stored.rows(2), validForMs: 2000 });

    expect(shown()).toEqual(['demo_mode{mode="on"} 1', 'demo_mode{mode="off"} 0', 'demo_stored_total 2']);
    clockMs = 2000;
    expect(shown()).toEqual(['demo_mode{mode="on"} 1', 'demo_mode{mode="off"} 0']);
    snapshots.withdraw('two');
    expect(shown()).toEqual([]);
  });

  it("writes the exporter's own instruments, including histograms, in both formats", async () => {
    const self = createSelf({ version: '1.2.3', nodeVersion: 'v24' });
    self.apiDuration.observe({ server: 'prod', api_endpoint: 'system-info' }, 1);
    self.apiRequests.inc({ server: 'prod', api_endpoint: 'system-info', code: '200' });
    self.up.set({ server: 'prod' }, 1);
    const snapshots = createSnapshots(fakeClock({ ticks: () => 0 }));

    const text = await renderExposition(snapshots, self.registry, 'text');
    const openMetrics = await renderExposition(snapshots, self.registry, 'openmetrics');

    expect(text).toContain('automation_exporter_build_info{version="1.2.3",node_version="v24"} 1\n');
    expect(text).toContain('# TYPE automation_exporter_build_info gauge\n');
    expect(openMetrics).toContain('# TYPE automation_exporter_build info\n');
    for (const types of [text, openMetrics]) {
      expect(types).toContain('# TYPE automation_exporter_api_request_duration_seconds histogram\n');
      expect(types).toContain('# TYPE automation_up gauge\n');
    }
    expect(text).toContain('# TYPE automation_exporter_api_requests_total counter\n');
    expect(openMetrics).toContain('# TYPE automation_exporter_api_requests counter\n');
    const bucket =
      'automation_exporter_api_request_duration_seconds_bucket{server="prod",api_endpoint="system-info",le="1.0"} 1\n';
    expect(text).toContain(bucket);
    expect(openMetrics).toContain(bucket);
    expect(text).toContain('le="+Inf"} 1\n');
    expect(text).toContain(
      'automation_exporter_api_requests_total{server="prod",api_endpoint="system-info",code="200"} 1\n',
    );
  });

  it('filters own instruments by server, and omits own instruments if other collectors are selected', async () => {
    const { scrape } = await setUpTwo();

    expect(await scrape({})).toEqual([
      'automation_exporter_build_info{version="1",node_version="2"} 1',
      'automation_up{server="a",site="eu"} 1',
      'automation_up{server="b"} 0',
      'demo_stored_total{server="a"} 1',
      'demo_stored_total{server="b"} 2',
    ]);
    expect(await scrape({ servers: new Set(['b']) })).toEqual([
      'automation_exporter_build_info{version="1",node_version="2"} 1',
      'automation_up{server="b"} 0',
      'demo_stored_total{server="b"} 2',
    ]);
    expect(await scrape({ collectors: new Set(['demo']) })).toEqual([
      'demo_stored_total{server="a"} 1',
      'demo_stored_total{server="b"} 2',
    ]);
    expect(await scrape({ collectors: new Set(['exporter']), servers: new Set(['a']) })).toEqual([
      'automation_exporter_build_info{version="1",node_version="2"} 1',
      'automation_up{server="a",site="eu"} 1',
    ]);
    expect(await scrape({ collectors: new Set() })).toEqual([]);
  });

  it('reads its own instruments once a second, in any format', async () => {
    const { scrape, self, wait } = await setUpTwo();
    const up = async (format: Format) => (await scrape({ servers: new Set(['b']) }, format))[1];
    await scrape({});
    self.up.set({ server: 'b' }, 1);

    expect(await up('openmetrics')).toBe('automation_up{server="b"} 0');
    wait(999);
    expect(await up('text')).toBe('automation_up{server="b"} 0');
    wait(1);
    expect(await up('text')).toBe('automation_up{server="b"} 1');
  });

  it('shows own instruments only for owned servers, even immediately after a change of owner', async () => {
    const { exposition } = await setUpTwo();
    const up = async (...owned: readonly string[]) => {
      const body = Buffer.concat(await exposition.scrape({ owned: new Set(owned), format: 'text', gzip: false }));
      return body.toString('utf8').match(/^automation_up.*$/gm);
    };
    expect(await up('a', 'b')).toHaveLength(2);
    expect(await up('b')).toEqual(['automation_up{server="b"} 0']);
  });

  it('renders its own instruments once for all scrapes within a second', async () => {
    const { exposition, wait } = await setUpTwo();
    const own = async (format: Format) => (await exposition.scrape({ format, gzip: false }))[0];
    const first = await own('text');
    expect(await own('openmetrics')).not.toBe(first);
    expect(await own('text')).toBe(first);
    wait(1000);
    expect(await own('text')).not.toBe(first);
  });

  it('writes the same text with and without compression', async () => {
    const { exposition } = await setUpTwo();
    const plain = Buffer.concat(await exposition.scrape({ format: 'openmetrics', gzip: false })).toString('utf8');
    const gzip = Buffer.concat(await exposition.scrape({ format: 'openmetrics', gzip: true }));

    expect(gunzipSync(gzip).toString('utf8')).toBe(plain);
    expect(plain.match(/# EOF\n/g)).toHaveLength(1);
    expect(plain.endsWith('demo_stored_total{server="b"} 2\n# EOF\n')).toBe(true);
  });
});

/** Two servers; one has a label of its own. */
async function setUpTwo() {
  let clockMs = 0;
  const self = createSelf({ version: '1', nodeVersion: '2' });
  const snapshots = createSnapshots(fakeClock({ ticks: () => clockMs }));
  const labelsOf = (server: string): LabelPair[] => (server === 'a' ? [['site', 'eu']] : []);
  const exposition = createExposition({ snapshots, registry: self.registry, labelsOf, ticks: () => clockMs });
  for (const [server, value] of [
    ['a', 1],
    ['b', 2],
  ] as const) {
    const baseLabels = [['server', server]] as const;
    await snapshots.publish({ ...of, server, source: server, baseLabels, rows: stored.rows(value), validForMs: 9999 });
  }
  self.up.set({ server: 'a' }, 1);
  self.up.set({ server: 'b' }, 0);
  return {
    self,
    exposition,
    wait: (ms: number) => {
      clockMs += ms;
    },
    scrape: async (selection: Selection, format: Format = 'text') => {
      const body = Buffer.concat(await exposition.scrape({ ...selection, format, gzip: false })).toString('utf8');
      return body.split('\n').filter((line) => /^(demo|automation_(up|exporter_build))/.test(line));
    },
  };
}

describe('metrics/forget', () => {
  it('removes all series of a server that is no longer watched, and no others', async () => {
    const self = createSelf({ version: '1', nodeVersion: '2' });
    for (const server of ['gone', 'prod']) {
      self.up.set({ server }, 1);
      self.apiDuration.observe({ server, api_endpoint: 'projects' }, 1);
    }
    await forgetSeries(self.registry, ({ server }) => server === 'gone');

    const text = await renderExposition(createSnapshots(fakeClock({ ticks: () => 0 })), self.registry, 'text');
    const lines = text.split('\n').filter((line) => /(gone|prod)"/.test(line) && !line.includes('_bucket'));
    expect(lines).toEqual([
      'automation_exporter_api_request_duration_seconds_sum{server="prod",api_endpoint="projects"} 1',
      'automation_exporter_api_request_duration_seconds_count{server="prod",api_endpoint="projects"} 1',
      'automation_up{server="prod"} 1',
    ]);
    expect(text).not.toContain('"gone"');
    expect(text).toContain('_bucket{server="prod",api_endpoint="projects",le="+Inf"} 1');
  });
});
