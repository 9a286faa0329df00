import { execFileSync, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, writeFileSync } from 'node:fs';
import { type IncomingHttpHeaders, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { makeFolder } from '../support/folder.ts';
import { describeWithTools } from '../support/tools.ts';
import { type Demo, startDemo } from './start-demo.ts';

const textType = 'text/plain; version=0.0.4; charset=utf-8';
const openMetricsType = 'application/openmetrics-text; version=1.0.0; charset=utf-8';
const protobufType = 'application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; encoding=delimited';
const likePrometheus = 'application/openmetrics-text;version=1.0.0;q=0.5,text/plain;version=0.0.4;q=0.3,*/*;q=0.1';

let demo: Demo;

beforeAll(async () => {
  demo = await startDemo();
  await eventually(async () => {
    const { body } = await get('/metrics');
    const successes = body.match(/^automation_exporter_collector_success\{.*\} 1$/gm) ?? [];
    if (successes.length < 4) throw new Error(`only ${successes.length} of 4 collectors have succeeded`);
  });
});

afterAll(() => demo?.stop());

type Answer = {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly bytes: Buffer;
  readonly body: string;
};
type Asking = { readonly method?: string; readonly headers?: Readonly<Record<string, string>> };

/** Sends the path as written and returns the body as received, without normalising. */
function get(path: string, { method = 'GET', headers = {} }: Asking = {}): Promise<Answer> {
  const { hostname, port } = new URL(demo.url);
  return new Promise((resolve, reject) => {
    const asked = request({ hostname, port, path, method, headers, agent: false }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => {
        const bytes = Buffer.concat(chunks);
        resolve({ status: response.statusCode ?? 0, headers: response.headers, bytes, body: bytes.toString('utf8') });
      });
    });
    asked.on('error', reject);
    asked.end();
  });
}

describe('end-to-end/exposition', () => {
  it.each([
    ['nothing', {}, textType],
    ['anything', { accept: '*/*' }, textType],
    ['what Prometheus asks', { accept: likePrometheus }, openMetricsType],
    ['OpenMetrics', { accept: 'application/openmetrics-text; version=1.0.0' }, openMetricsType],
    ['text over OpenMetrics', { accept: 'application/openmetrics-text;q=0.2, text/plain;q=0.9' }, textType],
    ['no OpenMetrics at all', { accept: 'application/openmetrics-text;q=0, text/plain;q=0.1' }, textType],
    [
      'what Prometheus asks with native histograms',
      { accept: `${protobufType};q=0.6,${likePrometheus}` },
      protobufType,
    ],
    ['what it does not have', { accept: 'application/vnd.google.protobuf' }, textType],
  ])('sends the right format to a client that accepts %s', async (_, headers, contentType) => {
    const { status, headers: received, body } = await get('/metrics', { headers });

    expect(status).toBe(200);
    expect(received['content-type']).toBe(contentType);
    expect(body.endsWith('\n# EOF\n')).toBe(contentType === openMetricsType);
  });

  it('compresses only for clients that accept gzip', async () => {
    const { headers, bytes } = await get('/metrics', { headers: { 'accept-encoding': 'gzip' } });
    expect(headers['content-encoding']).toBe('gzip');
    expect(headers.vary).toContain('Accept-Encoding');
    expect(gunzipSync(bytes).toString('utf8')).toContain('\nautomation_up{server="demo"} 1\n');

    for (const refusal of ['identity', 'gzip;q=0', 'br']) {
      const plain = await get('/metrics', { headers: { 'accept-encoding': refusal } });
      expect(plain.headers['content-encoding']).toBeUndefined();
      expect(plain.body).toContain('\nautomation_up{server="demo"} 1\n');
    }
  });

  it('answers HEAD as GET, without a body', async () => {
    const { status, headers, bytes } = await get('/metrics', { method: 'HEAD' });

    expect({ status, bytes: bytes.length, type: headers['content-type'] }).toEqual({
      status: 200,
      bytes: 0,
      type: textType,
    });
  });

  it.each(['/', '/metrics', '/dashboards/', '/runbooks/', '/nothing-here'])(
    'sends protective headers with %s',
    async (path) => {
      const { headers } = await get(path);

      expect(headers).toMatchObject({
        'content-security-policy': expect.stringMatching(/^default-src 'none'; .*frame-ancestors 'none'$/) as string,
        'referrer-policy': 'no-referrer',
        'x-content-type-options': 'nosniff',
        'x-frame-options': 'DENY',
      });
      expect(headers).not.toHaveProperty('x-powered-by');
      expect(headers).not.toHaveProperty('server');
    },
  );

  it('serves pages without scripts and without content of other sites', async () => {
    for (const path of ['/', '/dashboards/', '/runbooks/', '/runbooks/AutomationServiceDown']) {
      const { status, headers, body } = await get(path);
      expect({ path, status, type: headers['content-type'] }).toEqual({
        path,
        status: 200,
        type: 'text/html; charset=utf-8',
      });
      // With an empty icon, browsers request no icon.
      const rest = body.replace('<link rel="icon" href="data:,">', '');
      expect(rest).not.toMatch(/<script|<link|<img|<iframe|\son\w+=/i);
    }
  });

  it('serves the dashboard as JSON to import', async () => {
    const { headers, body } = await get('/dashboards/overview.json');

    expect(headers['content-type']).toBe('application/json; charset=utf-8');
    const dashboard = JSON.parse(body) as { readonly uid: string; readonly panels: readonly unknown[] };
    expect(dashboard.uid).not.toBe('');
    expect(dashboard.panels.length).toBeGreaterThan(5);
    const { body: list } = await get('/dashboards/');
    expect(list).toContain('href="../dashboards/overview.json"');
  });

  it('serves and lists every runbook, also each one that an alert links', async () => {
    const { body: rules } = await get('/alerts/rules.yaml');
    const linked = [...rules.matchAll(/runbook_url: ["']?([^\s"']+)/g)].map(([, link = '']) => link);
    const written = readdirSync(new URL('../../alerts/runbooks/', import.meta.url)).filter((name) =>
      name.endsWith('.md'),
    );
    expect(linked.length).toBeGreaterThan(5);
    expect(written.length).toBeGreaterThan(5);

    const paths = new Set(written.map((name) => `/runbooks/${name.replace(/\.md$/, '')}`));
    for (const link of linked) {
      expect(link.startsWith(`${demo.url}/runbooks/`)).toBe(true);
      paths.add(new URL(link).pathname);
    }
    const { body: list } = await get('/runbooks/');
    const next = new Set<string>();
    for (const path of paths) {
      const { status, body } = await get(path);
      expect({ path, status }).toEqual({ path, status: 200 });
      expect(body).toContain('<h2>Mitigation</h2>');
      expect(list).toContain(`href="..${path}"`);
      for (const [, href = ''] of body.matchAll(/ href="([^"#:]+)"/g))
        next.add(new URL(href, demo.url + path).pathname);
    }
    for (const path of next) expect([path, (await get(path)).status]).toEqual([path, 200]);
    expect([...next].filter((path) => !path.startsWith('/runbooks/'))).toContain('/schedule');
  });

  it.each([
    '/nothing-here',
    '/metrics/more',
    '/dashboards/nothing.json',
    '/dashboards/overview',
    '/dashboards/overview.ts',
    '/dashboards/../package.json',
    '/dashboards/..%2f..%2fpackage.json',
    '/dashboards/%2e%2e/%2e%2e/package.json',
    '/dashboards/..%5c..%5cpackage.json',
    '/dashboards/__proto__.json',
    '/runbooks/../../package.json',
    '/runbooks/..%2frules.yaml',
    '/runbooks/%2e%2e%2f%2e%2e%2fREADME',
    '/runbooks/AutomationServiceDown.md',
    '/runbooks/AutomationServiceDown%00',
    '/runbooks/constructor',
    '/alerts/../../../../../../etc/passwd',
    '/alerts/',
    '//etc/passwd',
    '/src/cli.ts',
    '/state/state.sqlite',
  ])('serves no page %s', async (path) => {
    const { status, headers, body } = await get(path);

    expect({ status, body }).toEqual({ status: 404, body: 'Not found. The front page / lists all pages.\n' });
    expect(headers['content-type']).toBe('text/plain; charset=utf-8');
  });

  it('reveals no details when it refuses an invalid path', async () => {
    const { status, body } = await get('/runbooks/%');

    expect({ status, body }).toEqual({ status: 400, body: 'Bad request.\n' });
  });

  it.each(['POST', 'PUT', 'DELETE', 'PATCH', 'TRACE'])('refuses %s', async (method) => {
    const { status, headers } = await get('/metrics', { method });

    expect({ status, allow: headers.allow }).toEqual({ status: 405, allow: 'GET, HEAD' });
  });

  it('returns only what a scrape selects', async () => {
    const { body } = await get('/metrics?collect[]=system-info&server[]=demo');
    expect(body).toContain('\nautomation_server_info{server="demo",');
    expect(body).not.toMatch(/^(automation_exporter|automation_execution_mode|process|nodejs)_/m);

    const { body: own } = await get('/metrics?collect[]=exporter');
    expect(own).toContain('\nautomation_up{server="demo"} 1\n');
    expect(own).not.toMatch(/^automation_server_/m);
  });

  it('refuses unknown names in a scrape', async () => {
    const { status, headers, body } = await get('/metrics?collect[]=system-inf');

    expect({ status, type: headers['content-type'] }).toEqual({ status: 400, type: 'text/plain; charset=utf-8' });
    expect(body).toMatch(
      /^There is no collector "system-inf"\.\nServers: demo\nCollectors: .*system-info.*, exporter\n$/,
    );
  });

  it('serves scrapes while fifty clients do not read', async () => {
    const readers = Array.from({ length: 50 }, () => ask('/dashboards/overview.json', 5));
    try {
      for (let scrape = 0; scrape < 10; scrape++) expect((await get('/metrics')).status).toBe(200);
    } finally {
      for (const reader of readers) reader.destroy();
    }
  });

  it('closes the connection of a client that sends requests without reading responses', async () => {
    const reader = ask('/metrics', 1000);

    await once(reader.resume(), 'close');
    expect((await get('/metrics')).status).toBe(200);
  });
});

/** Opens a connection that sends several requests at once and reads no response. */
function ask(path: string, times: number): Socket {
  const { hostname, port } = new URL(demo.url);
  const socket = connect({ host: hostname, port: Number(port) });
  socket.on('error', () => {});
  socket.pause();
  socket.write(`GET ${path} HTTP/1.1\r\nHost: exporter\r\n\r\n`.repeat(times));
  return socket;
}

/** Parses samples to [name, sorted labels, value]. Between two scrapes, samples of the runtime change. */
const parserProgram = `
import json, sys
from prometheus_client.parser import text_string_to_metric_families as parse_text
from prometheus_client.openmetrics.parser import text_string_to_metric_families as parse_openmetrics
parse = {'text': parse_text, 'openmetrics': parse_openmetrics}[sys.argv[1]]
samples = [
    [sample.name, sorted(sample.labels.items()), sample.value]
    for family in parse(sys.stdin.read()) for sample in family.samples
    if sample.name.startswith('automation_')
]
json.dump(samples, sys.stdout)
`;

type Sample = readonly [name: string, labels: readonly (readonly [string, string])[], value: number];

describeWithTools('end-to-end/exposition, read by others', ['promtool', 'prometheus-client'], (tools) => {
  function parse(format: 'text' | 'openmetrics', body: string): readonly Sample[] {
    const stdout = execFileSync(tools['prometheus-client'], ['-c', parserProgram, format], {
      input: body,
      encoding: 'utf8',
    });
    return JSON.parse(stdout) as readonly Sample[];
  }

  it('passes the checks of promtool', async () => {
    const { body } = await get('/metrics');
    const { status, stdout, stderr } = spawnSync(tools.promtool, ['check', 'metrics'], {
      input: body,
      encoding: 'utf8',
    });

    expect({ status, stdout, stderr }).toEqual({ status: 0, stdout: '', stderr: '' });
  });

  it('serves the same values in both formats', async () => {
    const { text, openMetrics } = await eventually(async () => {
      const before = await get('/metrics');
      const between = await get('/metrics', { headers: { accept: likePrometheus } });
      const after = await get('/metrics');
      // A poll between two scrapes would change values.
      expect(toOwnLines(after.body)).toEqual(toOwnLines(before.body));
      return { text: before.body, openMetrics: between.body };
    });

    const samples = parse('text', text);
    expect(samples.length).toBeGreaterThan(80);
    expect(samples).toContainEqual(['automation_up', [['server', 'demo']], 1]);
    expect(parse('openmetrics', openMetrics)).toEqual(samples);
  });

  it('serves rules that promtool accepts', async () => {
    const { headers, body } = await get('/alerts/rules.yaml');
    expect(headers['content-type']).toBe('text/yaml; charset=utf-8');
    expect(body).not.toContain('localhost:9720');

    const directory = makeFolder();
    writeFileSync(join(directory, 'rules.yaml'), body);
    const { status, stdout } = spawnSync(tools.promtool, ['check', 'rules', '--lint-fatal', 'rules.yaml'], {
      cwd: directory,
      encoding: 'utf8',
    });
    expect(stdout).toMatch(/SUCCESS: \d+ rules found/);
    expect(status).toBe(0);
  });
});

function toOwnLines(text: string): readonly string[] {
  return text.split('\n').filter((line) => line.startsWith('automation_'));
}
