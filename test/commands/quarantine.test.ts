import { createServer, type RequestListener } from 'node:http';
import { describe, expect, it, onTestFinished } from 'vitest';
import { renderTable } from '../../src/commands/quarantine.ts';
import { setTimeZone } from '../../src/domain/ages.ts';
import { quarantineRoutes } from '../../src/http/routes/quarantine.ts';
import type { Elsewhere } from '../../src/status/status.ts';
import { createCertificates, hasOpenssl, withoutOpenssl } from '../api/certificates.ts';
import { serve } from '../http/serve.ts';
import { quarantine } from '../http/some-status.ts';
import { listen } from '../support/listen.ts';
import { startSink } from '../tracing/deliver/sink.ts';
import { runHere } from './run-cli.ts';

type Given = {
  readonly isOn?: boolean;
  readonly isEnabled?: boolean;
  readonly listed?: boolean;
  /** True to add changes of the journal, which belong to no execution. */
  readonly hasChanges?: boolean;
  readonly elsewhere?: readonly Elsewhere[];
};

/** Starts the routes of a daemon that has two quarantined traces. */
async function startRoutes({ isOn = true, isEnabled = true, listed = true, hasChanges, elsewhere = [] }: Given = {}) {
  const done: string[] = [];
  const known = [
    quarantine(),
    quarantine({ server: 'another', executionId: '5', size: 70_000, spans: 999, reason: 'too old' }),
    ...(hasChanges === true ? [quarantine({ executionId: 'changes', reason: 'HTTP 404' })] : []),
  ];
  const act = (action: string) => async (which: readonly string[] | 'all') => {
    done.push(`${action} ${which === 'all' ? which : which.join(' ')}`);
    if (which === 'all') return { traces: known.length };
    const unknown = which.filter((name) => !known.some((trace) => trace.name === name));
    return unknown.length > 0 ? { unknown } : { traces: which.length };
  };
  const quarantined = { list: async () => (listed ? known : []), retry: act('retry'), drop: act('drop') };
  const lifecycle = { isEnabled: () => isEnabled, externalUrl: () => 'https://exporter.example.org' };
  const routes = [
    quarantineRoutes({ lifecycle, quarantined: () => (isOn ? quarantined : undefined), elsewhere: () => elsewhere }),
  ];
  const { url, port } = await serve(routes, { routePrefix: '/here' });
  return { url: `${url}/here`, port, done };
}

async function startOther(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  const port = await listen(server);
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${port}`;
}

describe('commands/quarantine', () => {
  it('lists quarantined traces', async () => {
    const { port } = await startRoutes();
    const files = {
      'config.yaml': `web: { listen_address: '127.0.0.1:${port}', route_prefix: /here, timezone: Europe/Berlin }\nstate: { memory: true }\n`,
    };
    onTestFinished(() => setTimeZone('UTC'));
    const { code, stdout, stderr } = await runHere(['quarantine', 'list', '--config.file=config.yaml'], { files });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout.replaceAll(/\d+ d ago/g, 'long ago').replaceAll(/ {2,}/g, ' | ')).toBe(
      `SERVER | EXECUTION | SPANS | SIZE | QUARANTINED | REASON
prod | 4711 | 12 | 3.3 KiB | 2024-05-20 05:07 CEST, long ago | HTTP 400: bad span
another | 5 | 999 | 68 KiB | 2024-05-20 05:07 CEST, long ago | too old
2 traces, 71 KiB
`,
    );
  });

  it('lists and drops changes of the journal', async () => {
    const { url, done } = await startRoutes({ hasChanges: true });
    const { code, stdout } = await runHere(['quarantine', 'list', `--url=${url}`]);
    expect({ code, line: stdout.split('\n')[3]?.split(/ {2,}/).toSpliced(4, 1) }).toEqual({
      code: 0,
      line: ['prod', 'changes', '12', '3.3 KiB', 'HTTP 404'],
    });
    expect(await runHere(['quarantine', 'drop', 'prod/changes', `--url=${url}`])).toMatchObject({ code: 0 });
    expect(done).toEqual(['drop prod/changes']);
  });

  it('reports that nothing is quarantined', async () => {
    const { url } = await startRoutes({ listed: false });
    const { code, stdout } = await runHere(['quarantine', 'list', `--url=${url}/`]);
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'No trace is quarantined\n' });
  });

  it('names the exporters that have the traces of other servers', async () => {
    const watcher = { is: 'other', address: 'http://mon-b:9720', page: undefined } as const;
    const elsewhere = [
      ...['shop', 'pay'].map((server) => ({ server, watcher })),
      { server: 'lost', watcher: { is: 'nobody' } as const },
    ];
    const rest =
      'Not included: shop, pay (see --url=http://mon-b:9720)\nNot included: lost (no exporter watches it at the moment)\n';
    const { url } = await startRoutes({ listed: false, elsewhere });
    expect((await runHere(['quarantine', 'list', `--url=${url}`])).stdout).toBe(`No trace is quarantined\n${rest}`);
    expect((await runHere(['quarantine', 'drop', '--all', `--url=${url}`])).stdout).toBe(
      `2 traces are dropped\n${rest}`,
    );
    expect((await runHere(['quarantine', 'drop', 'another/5', `--url=${url}`])).stdout).toBe('1 trace is dropped\n');
  });

  it('prints the response of the daemon with --json', async () => {
    const { url } = await startRoutes();
    const { stdout } = await runHere(['quarantine', 'list', '--json', `--url=${url}`]);
    expect(JSON.parse(stdout)).toMatchObject({
      quarantined: [{ key: 'prod/4711' }, { key: 'another/5', bytes: 70_000 }],
    });
    expect((await runHere(['quarantine', 'drop', '--all', '--json', `--url=${url}`])).stdout).toBe(
      '{\n  "traces": 2,\n  "elsewhere": []\n}\n',
    );
  });

  it('retries and drops named traces, or all traces', async () => {
    const { url, done } = await startRoutes();
    const { code, stdout } = await runHere(['quarantine', 'retry', 'prod/4711', 'another/5', `--url=${url}`]);
    expect({ code, stdout }).toEqual({ code: 0, stdout: '2 traces are queued again\n' });
    expect((await runHere(['quarantine', 'drop', 'another/5', `--url=${url}`])).stdout).toBe('1 trace is dropped\n');
    expect((await runHere(['quarantine', 'retry', '--all', `--url=${url}`])).stdout).toBe(
      '2 traces are queued again\n',
    );
    expect(done).toEqual(['retry prod/4711 another/5', 'drop another/5', 'retry all']);
  });

  it('names traces that are not quarantined', async () => {
    const { url } = await startRoutes();
    const { code, stderr } = await runHere(['quarantine', 'drop', 'prod/4711', 'prod/1', `--url=${url}`]);
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: 'Nothing was changed because these are not quarantined: prod/1\n',
    });
  });

  it('names the settings to enable', async () => {
    const off = await startRoutes({ isOn: false });
    expect(await runHere(['quarantine', 'list', `--url=${off.url}`])).toMatchObject({
      code: 2,
      stderr: 'Traces are off: the page /traces shows how to switch them on.\n',
    });
    const locked = await startRoutes({ isEnabled: false });
    expect(await runHere(['quarantine', 'drop', '--all', `--url=${locked.url}`])).toMatchObject({
      code: 2,
      stderr: 'Off: enable it with --web.enable-lifecycle.\n',
    });
    expect(await runHere(['quarantine', 'list', `--url=${locked.url}`])).toMatchObject({ code: 0 });
  });

  it.each<[string, readonly string[]]>([
    ['quarantine: an action is missing: list, retry or drop\n', []],
    ['quarantine: an action is missing: list, retry or drop\n', ['mend']],
    ['quarantine: list takes no arguments: it lists all traces\n', ['list', '--all']],
    ['quarantine: retry takes traces as SERVER/EXECUTION, or all of them with --all\n', ['retry']],
    ['quarantine: drop takes traces as SERVER/EXECUTION, or all of them with --all\n', ['drop', 'prod/1', '--all']],
    ['quarantine: "4711" is not a trace: write SERVER/EXECUTION, as printed by list\n', ['drop', '4711']],
    ['--url: is not a URL of a daemon (for example http://localhost:9720)\n', ['list', '--url=localhost']],
    ['--url: is missing (the daemon listens on a random port)\n', ['list', '--web.listen-address=:0']],
    [
      '--scenario: belongs to demo, simulate (write demo --scenario=NAME: Scenario of the simulated server)\n',
      ['list', '--scenario=empty', '--url=http://127.0.0.1:1'],
    ],
  ])('explains the mistake in the command line: %s', async (complaint, args) => {
    const { code, stdout, stderr } = await runHere(['quarantine', ...args]);
    expect({ code, stdout, stderr }).toEqual({ code: 2, stdout: '', stderr: complaint });
  });

  it('says how to set the address if no daemon responds', async () => {
    const { code, stderr } = await runHere(['quarantine', 'list', '--url=http://127.0.0.1:1']);
    expect(code).toBe(1);
    expect(stderr).toMatch(/^http:\/\/127\.0\.0\.1:1: bad port\nIf it listens elsewhere, set --url\n$/);
  });

  it.skipIf(!hasOpenssl)(`names the variable for your own certificate authority${withoutOpenssl}`, async () => {
    const { makeSelfSigned, pem, remove } = createCertificates();
    onTestFinished(remove);
    makeSelfSigned('own', '/CN=own');
    const tls = { cert: pem('own.pem'), key: pem('own.key') };
    const { port, stop } = await startSink((response) => response.end(), { tls });
    onTestFinished(stop);
    const { code, stderr } = await runHere(['quarantine', 'list', `--url=https://127.0.0.1:${port}`]);
    expect(code).toBe(1);
    expect(stderr).toContain("the daemon's certificate is not trusted; see NODE_EXTRA_CA_CERTS");
  });

  it.each<[string, RequestListener]>([
    ['HTTP 200', (_, response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<form>')],
    ['HTTP 302', (_, response) => response.writeHead(302, { location: '/login' }).end()],
    ['HTTP 404', (_, response) => response.writeHead(404, { 'content-type': 'text/html' }).end('no')],
    [
      'a response that is not JSON',
      (_, response) => response.writeHead(200, { 'content-type': 'application/json' }).end('{'),
    ],
    [
      'not from the daemon',
      (_, response) =>
        response.writeHead(200, { 'content-type': 'application/json' }).end('{"quarantined":[null,{"server":1}]}'),
    ],
    ['not from the daemon', (_, response) => response.writeHead(200, { 'content-type': 'application/json' }).end('{}')],
    ['the connection was closed before the answer was complete', (request) => request.socket.destroy()],
  ])('recognizes that another program responds: %s', async (says, listener) => {
    const { code, stdout, stderr } = await runHere(['quarantine', 'list', `--url=${await startOther(listener)}`]);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain(says);
  });

  it('does not let a response control the terminal', async () => {
    const url = await startOther((_, response) =>
      response.writeHead(409, { 'content-type': 'text/plain' }).end(`\u001b[2Jcleared\nand ${'x'.repeat(10_000)}`),
    );
    const { code, stderr } = await runHere(['quarantine', 'list', `--url=${url}`]);
    expect(code).toBe(2);
    expect(stderr).toMatch(/^\[2Jcleared and x{1,500}…\n$/);
  });
});

describe('commands/table', () => {
  it('makes columns as wide as needed', () => {
    const rows = [
      ['SERVER', 'SPANS', 'REASON'],
      ['a', '12', 'HTTP 400: bad span'],
      ['another', '1000000', ''],
    ];
    expect(renderTable(rows)).toBe(`SERVER   SPANS    REASON
a        12       HTTP 400: bad span
another  1000000
`);
  });
});
