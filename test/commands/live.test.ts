import { readdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { type Simulator, startSimulator } from '../../simulator/simulator.ts';
import { probeDatabase } from '../../src/commands/check/live.ts';
import { check } from '../../src/commands/check.ts';
import { commandFlags, commandWords } from '../../src/commands/command-table.ts';
import { parseArguments } from '../../src/config/read/command-line.ts';
import { collectors } from '../../src/daemon/catalogue/collectors.ts';
import { makeFolder, makeSharedFolder } from '../support/folder.ts';
import { listen } from '../support/listen.ts';
import { type PostgresServer, startPostgres } from '../support/postgres.ts';
import { describeWithTools } from '../support/tools.ts';
import { runCli, toEnvironment } from './run-cli.ts';

async function start(): Promise<Simulator> {
  const simulator = await startSimulator({ scenario: 'empty' });
  onTestFinished(() => simulator.stop());
  simulator.control.createProject('pay');
  return simulator;
}

/** Starts a trace backend that answers with a status and the received credentials, and records requests. */
async function startBackend(status: number) {
  const paths: string[] = [];
  const server = createServer((request, response) => {
    paths.push(`${request.method} ${request.url} ${request.headers['content-type']}`);
    request.resume();
    const { authorization: sent } = request.headers;
    const body = sent && `no\n user: ${sent}, ${encodeURIComponent(sent)}${' detail'.repeat(99)}`;
    request.on('end', () => response.writeHead(status).end(body));
  });
  const port = await listen(server);
  onTestFinished(() => new Promise<void>((resolve) => server.close(() => resolve())));

  return { url: `http://127.0.0.1:${port}`, paths };
}

type Live = { readonly name: string; readonly server?: string; readonly verdict: string; readonly message: string };

/** Runs `check --live` in this process, and returns its reports in words. */
async function checkLive(simulator: Simulator, env: Readonly<Record<string, string>> = {}, ...flags: string[]) {
  let stdout = '';
  const argv = ['check', '--live', '--json', ...flags];
  const code = await check({
    arguments: parseArguments(argv, { collectors, commandLine: { commands: commandWords, flags: commandFlags } }),
    env: { ...toEnvironment(simulator), ...env },
    version: 'test',
    write: (text) => {
      stdout += text;
    },
    complain: () => {},
  });
  const { live } = JSON.parse(stdout) as { readonly live: readonly Live[] };
  return { code, live: live.map(({ name, server, verdict, message }) => [name, server, verdict, message].join(' | ')) };
}

describe('commands/check --live', () => {
  it('leaves no trace and no file', async () => {
    const [simulator, backend] = [await start(), await startBackend(200)];
    const folder = makeFolder();
    const state = ['--state.dir', folder];
    const { code, live } = await checkLive(simulator, { OTEL_EXPORTER_OTLP_ENDPOINT: backend.url }, ...state);
    expect(live).toEqual([
      expect.stringMatching(/^trace-backend \|  \| ok \| 127\.0\.0\.1:\d+ accepted the test trace [0-9a-f]{32}$/),
      expect.stringMatching(/^state-directory \|  \| \w+ \| \/\S+ can be written; .* are free/),
      expect.stringMatching(/^clock \| default \| ok \| the clock of the server is \d+ m?s (ahead|behind)$/),
      expect.stringMatching(
        /^credentials \| default \| ok \| \d+ valid tokens? visible to these credentials; none expires, but the token in use may not be one of them$/,
      ),
    ]);
    expect({ code, left: readdirSync(folder) }).toEqual({ code: 0, left: [] });
    expect(backend.paths).toEqual(['POST /v1/traces application/x-protobuf']);
  });

  it('also tests the backend for log records if log records are sent', async () => {
    const [simulator, backend, logs] = [await start(), await startBackend(200), await startBackend(404)];
    const env = {
      OTEL_EXPORTER_OTLP_ENDPOINT: backend.url,
      OTEL_EXPORTER_OTLP_LOGS_ENDPOINT: `${logs.url}/in`,
      OTEL_EXPORTER_OTLP_LOGS_PROTOCOL: 'http/json',
    };
    const { code, live } = await checkLive(simulator, env, '--state.memory', '--diagnosis.logs=lines');
    expect(code).toBe(1);
    expect(live[1]).toMatch(/^log-backend \|  \| broken \| 127\.0\.0\.1:\d+: HTTP 404$/);
    expect(logs.paths).toEqual(['POST /in application/json']);
  });

  it('explains why the trace backend refuses traces, without secrets', async () => {
    const [simulator, backend] = [await start(), await startBackend(401)];
    const env = {
      OTEL_EXPORTER_OTLP_ENDPOINT: backend.url,
      OTEL_EXPORTER_OTLP_HEADERS: 'authorization=planted+secret',
    };
    const { code, live } = await checkLive(simulator, env, '--state.memory');
    expect(code).toBe(1);
    expect(live.slice(0, 2)).toEqual([
      expect.stringMatching(
        /^trace-backend \|  \| broken \| 127\.0\.0\.1:\d+: HTTP 401: no user: <secret>, <secret>(?: detail){9,30}.{0,6}…$/,
      ),
      'state-directory |  | not asked | the state is kept in memory',
    ]);
    expect(live.join('\n')).not.toMatch(/planted/);
  });

  it('reports that no trace backend responds, or that no traces are sent', async () => {
    const simulator = await start();
    const absent = await checkLive(simulator, { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9' }, '--state.memory');
    expect([absent.code, absent.live[0]]).toEqual([
      1,
      expect.stringMatching(/^trace-backend \|  \| broken \| .*127\.0\.0\.1:9/),
    ]);
    for (const [env, ...flags] of [
      [{}],
      [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9' }, '--traces.enabled=pages'],
    ] as const) {
      const off = await checkLive(simulator, env, '--state.memory', ...flags);
      expect([off.code, off.live[0]]).toEqual([
        0,
        expect.stringMatching(/^trace-backend \|  \| not asked \| traces are not sent: /),
      ]);
    }
  });

  it('reports that the state cannot be written', async () => {
    const { code, live } = await checkLive(await start(), {}, '--state.dir=/dev/null/state');
    expect([code, live[1]]).toEqual([
      1,
      expect.stringMatching(/^state-directory \|  \| broken \| \/dev\/null\/state cannot be written \(ENOTDIR\)$/),
    ]);
  });

  it('warns that a token expires soon', async () => {
    const simulator = await start();
    const token = 'a-token-that-expires';
    simulator.control.addToken({
      token,
      user: 'exporter',
      name: 'exporter',
      expiresAtMs: Date.now() + 3 * 86_400_000 - 60_000,
    });
    simulator.control.addToken({ token: 'a', user: 'exporter', expiresAtMs: Date.now() + 30 * 86_400_000 });
    simulator.control.setClockSkew(-90_500);
    const { code, live } = await checkLive(simulator, { AUTOMATION_EXPORTER_TOKEN: token }, '--state.memory');
    expect([code, live.at(-1)]).toEqual([
      0,
      'credentials | default | warning | 3 valid tokens visible to these credentials, the first expires in 2 d 23 h',
    ]);
    expect(live[2]).toMatch(/^clock \| default \| warning \| the clock of the server is 9\d s behind$/);
  });

  it('reports an unknown expiry if the token cannot be read', async () => {
    const simulator = await start();
    const token = 'a-token-that-somebody-else-created';
    simulator.control.addToken({ token, user: 'watcher', creator: 'admin', expiresAtMs: Date.now() + 86_400_000 });
    const { live } = await checkLive(simulator, { AUTOMATION_EXPORTER_TOKEN: token }, '--state.memory');
    expect(live.at(-1)).toBe(
      'credentials | default | not asked | no valid token is visible to these credentials, so it is unknown when their own token expires',
    );
  });

  it('prints one line for each check', async () => {
    const simulator = await start();
    const env = toEnvironment(simulator);
    const { stdout } = await runCli(['check', '--live', '--state.memory'], { env });
    const lines = stdout.split('\n');
    expect(lines.slice(lines.indexOf('live')).map((line) => line.replace(/ {2,}\(.*/, ''))).toEqual([
      'live',
      '  trace-backend           not asked',
      '  state-directory         not asked',
      '  clock of default        ok',
      '  credentials of default  ok',
      '',
    ]);
  });
});

describeWithTools('commands/probe-database', ['postgresql'], ({ postgresql }) => {
  let server: PostgresServer;
  const folder = makeSharedFolder();

  beforeAll(async () => {
    server = await startPostgres(postgresql);
    writeFileSync(join(folder, 'password'), `${server.password}\n`);
  }, 60_000);
  afterAll(async () => {
    await server.stop();
  }, 60_000);

  async function probe(settings: { user?: string; host?: string | undefined; urlFile?: string } = {}) {
    const report = await probeDatabase({
      state: {
        dir: '',
        memory: false,
        postgres: {
          host: '127.0.0.1',
          urlFile: undefined,
          port: server.port,
          database: 'postgres',
          user: 'postgres',
          passwordFile: join(folder, 'password'),
          schema: 'automation_exporter',
          connections: 2,
          tls: { disable: true, caFile: undefined, certFile: undefined, keyFile: undefined, serverName: undefined },
          ...settings,
        },
      },
    });
    return report && `${report.name} ${report.verdict}: ${report.message.replace(/in [\d.]+ ms/, 'in MS')}`;
  }

  it('reports why the database is unsuitable', async () => {
    const { port } = server;
    const [row] = (await server.query('SHOW server_version')) as readonly { readonly server_version: string }[];
    const found = `PostgreSQL ${row?.server_version} at 127.0.0.1:${port} answers in MS`;
    expect(await probe()).toBe(`state-database ok: ${found}`);
    expect(await probe({ host: undefined })).toBeUndefined();
    const urlFile = join(folder, 'url');
    writeFileSync(urlFile, `postgresql://postgres:${encodeURIComponent(server.password)}@127.0.0.1:${port}/postgres\n`);
    expect(await probe({ host: undefined, urlFile })).toBe(`state-database ok: ${found}`);
    writeFileSync(urlFile, 'postgresql://');
    expect(await probe({ host: undefined, urlFile })).toBe(
      'state-database broken: state.postgres.url_file does not contain a URL of the form postgresql://USER:PASSWORD@HOST:PORT/DATABASE',
    );

    await server.query(`CREATE ROLE poor LOGIN PASSWORD '${server.password}'`);
    expect(await probe({ user: 'poor' })).toBe(
      `state-database broken: ${found}, but poor cannot create tables in the schema automation_exporter`,
    );
    await server.query('ALTER ROLE postgres SET synchronous_commit = off');
    expect(await probe()).toBe(
      `state-database warning: ${found}; a crash may lose commits, because synchronous_commit is off`,
    );
    await server.query('ALTER ROLE postgres SET default_transaction_read_only = on');
    expect(await probe()).toBe(`state-database broken: ${found}, but only reads: connect to the primary`);
    expect(await probe({ user: 'nobody' })).toBe(
      'state-database broken: the database cannot be used: the database refuses the user or the password; correct `state.postgres.password_file`',
    );
  });
});
