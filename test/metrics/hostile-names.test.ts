import { execFileSync, spawnSync } from 'node:child_process';
import { gunzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { toGzip } from '../../src/metrics/block.ts';
import { boundRows } from '../../src/metrics/bound.ts';
import { gauge } from '../../src/metrics/family.ts';
import { createSnapshots } from '../../src/metrics/snapshot.ts';
import { fakeClock } from '../support/fake-clock.ts';
import { describeWithTools } from '../support/tools.ts';

const age = gauge('demo_age_seconds', 'Age "of" a\\b\nthing.', 'project', 'job');

const names = [
  'plain',
  '',
  ' ',
  'a "quoted" name',
  'back\\slash',
  'ends in a backslash\\',
  '\\n is not a new line',
  'two\nlines',
  'carriage\rreturn',
  'comma, brace } and {equals="x"} 1',
  '# HELP demo_age_seconds',
  '# EOF',
  'NUL \u0000, bell \u0007, escape \u001b[0m, delete \u007f',
  'line \u2028 and paragraph \u2029, next line \u0085',
  'é 漢字 😀 👩‍👩‍👧',
  'right-to-left \u202e mark',
  '\ufeffbyte order mark',
  'high \ud83d half',
  'low \ude00 half',
  '__proto__',
  'constructor',
  'toString',
  'x'.repeat(10_000),
  '😀'.repeat(2500),
];

const parserProgram = `
import json, sys
from prometheus_client.parser import text_string_to_metric_families as parse_text
from prometheus_client.openmetrics.parser import text_string_to_metric_families as parse_openmetrics
parse = {'text': parse_text, 'openmetrics': parse_openmetrics}[sys.argv[1]]
body = sys.stdin.buffer.read().decode('utf-8')
json.dump([[s.labels['project'], s.labels['job'], s.value] for f in parse(body) for s in f.samples], sys.stdout)
`;

describeWithTools('metrics/hostile-names', ['promtool', 'prometheus-client'], (tools) => {
  // Names are combined in pairs, and some pairs look the same when joined.
  const rows = names.flatMap((project, first) =>
    names.flatMap((job, second) => age.rows(first * 100 + second, { project, job })),
  );

  async function publish() {
    const { rows: bounded, dropped } = boundRows(rows, { families: new Map(), maxSeries: 10_000 });
    const snapshots = createSnapshots(fakeClock({ ticks: () => 0 }));
    const of = { source: 'one', server: 'prod', collector: 'demo', baseLabels: [], validForMs: 1 };
    await snapshots.publish({ ...of, rows: bounded });
    return { snapshots, dropped };
  }

  it.each(['text', 'openmetrics'] as const)('reads hostile names back unchanged from %s', async (format) => {
    const { snapshots, dropped } = await publish();
    const body = gunzipSync(Buffer.concat(toGzip(snapshots.show(format))));
    const input = format === 'text' ? body : Buffer.concat([body, Buffer.from('# EOF\n')]);

    const read = execFileSync(tools['prometheus-client'], ['-c', parserProgram, format], {
      input,
      encoding: 'utf8',
      maxBuffer: 64 * 1024 * 1024,
    });

    expect(dropped).toEqual({});
    const expected = rows.map(({ labels, value }) => [...labels.map((label) => label.toWellFormed()), value]);
    expect(JSON.parse(read)).toEqual(expected);
  });

  it('get no complaint from promtool', async () => {
    const { snapshots } = await publish();
    const input = Buffer.concat(snapshots.show('text').text);

    const { status, stdout, stderr } = spawnSync(tools.promtool, ['check', 'metrics'], { input, encoding: 'utf8' });

    expect({ status, stdout, stderr }).toEqual({ status: 0, stdout: '', stderr: '' });
  });
});
