import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { join } from 'node:path';
import { connect, type SecureVersion, type TLSSocket } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { reloadConfig } from '../../src/config/reload.ts';
import { type Certificates, createCertificates, hasOpenssl, withoutOpenssl } from '../api/certificates.ts';
import { type Daemon, startDaemon } from '../support/daemon.ts';
import { eventually } from '../support/eventually.ts';
import { fakeClock } from '../support/fake-clock.ts';
import { runCommand } from '../support/process.ts';
import { startPrometheus } from '../support/prometheus.ts';
import { describeWithTools } from '../support/tools.ts';

/** The hash of "open sesame". */
const hash = '$2y$05$abcdefghijklmnopqrstuupx2xBUC4954936wVIjyyPHmUBFu0wCW';
const login = `Basic ${Buffer.from('prometheus:open sesame').toString('base64')}`;

let certificates: Certificates;
beforeAll(() => {
  certificates = createCertificates();
  if (!hasOpenssl) return;
  certificates.makeSelfSigned('ca', '/CN=the authority');
  for (const name of ['server', 'next']) certificates.makeSigned(name, 'IP:127.0.0.1,DNS:localhost', 2);
  certificates.makeSigned('prometheus', 'DNS:prometheus.example.org', 2);
  certificates.makeSigned('other', 'DNS:other.example.org', 2);
  certificates.makeSigned('expired', 'DNS:prometheus.example.org', 0);
  certificates.makeSelfSigned('stranger', '/CN=prometheus.example.org');
});
afterAll(() => certificates.remove());

const tls = 'cert_file: server.pem, key_file: server.key';
const withUsers = `basic_auth_users: { prometheus: '${hash}' }\n`;

type Served = Daemon & {
  /** Writes the web configuration, as an operator would. */
  readonly write: (web: string) => void;
  /** Makes the daemon check its files for changes now. */
  readonly lookAgain: () => void;
};

/** Starts a daemon with this web configuration and an unreachable server. */
async function start(web: string): Promise<Served> {
  const file = join(certificates.folder, 'web.yml');
  const write = (text: string): void => {
    writeFileSync(`${file}.new`, text);
    renameSync(`${file}.new`, file);
  };
  write(web);
  let aheadMs = 0;
  const own = fakeClock();
  const daemon = await startDaemon({
    yaml: "servers: [{ name: prod, url: 'http://127.0.0.1:9', token_file: TOKEN }]\n",
    token: 'a-planted-token',
    flags: [`--web.config.file=${file}`],
    clock: {
      ...own,
      ticks: () => performance.now() + aheadMs,
      // Files are checked every few milliseconds instead of seconds.
      after: (ms, run) => own.after(ms === 5000 ? 10 : ms, run),
    },
  });
  onTestFinished(() => daemon.stop());
  return {
    ...daemon,
    write,
    lookAgain: () => {
      aheadMs += 10_001;
    },
  };
}

type Asking = {
  readonly path?: string;
  readonly authorization?: string;
  readonly method?: string;
  /** The name in the client's certificate. */
  readonly shows?: string;
  readonly maxVersion?: SecureVersion;
};
type Answer = {
  readonly status: number;
  readonly body: string;
  readonly header: (name: string) => string;
  readonly subject: string;
};

/** Sends a request over a new connection. */
function ask(
  url: string,
  { path = '/metrics', authorization, method = 'GET', shows, maxVersion }: Asking = {},
): Promise<Answer> {
  const shown =
    shows === undefined ? {} : { cert: certificates.pem(`${shows}.pem`), key: certificates.pem(`${shows}.key`) };
  const headers = authorization === undefined ? {} : { authorization };
  const version = maxVersion === undefined ? {} : { maxVersion };
  return new Promise((resolve, reject) => {
    const options = { ca: certificates.pem('ca.pem'), agent: false, method, headers, ...shown, ...version } as const;
    const asked = request(`${url}${path}`, options, (response) => {
      // This cast is safe: the request used TLS.
      const { subject } = (response.socket as TLSSocket).getPeerCertificate();
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => {
        const header = (name: string): string => String(response.headers[name]);
        const body = Buffer.concat(chunks).toString();
        resolve({ status: response.statusCode ?? 0, body, header, subject: String(subject?.CN) });
      });
    });
    asked.on('error', reject);
    asked.end();
  });
}

describe.skipIf(!hasOpenssl)(`end-to-end/web-config${withoutOpenssl}`, () => {
  it('shows nothing without a user, except health and readiness', async () => {
    const { url } = await start(`tls_server_config: { ${tls} }\n${withUsers}`);
    expect(url).toMatch(/^https:/);
    const closed = [
      '/',
      '/metrics',
      '/config',
      '/api/status',
      '/api/quarantine',
      '/dashboards/',
      '/alerts/rules.yaml',
    ].concat([
      '/runbooks/',
      '/traces',
      '/nothing',
      '/-/Healthy',
      '/-/healthy/',
      '//-/healthy',
      '/-/healthy/../../config',
    ]);
    for (const path of closed) expect([path, (await ask(url, { path })).status]).toEqual([path, 401]);
    for (const path of ['/-/reload', '/-/quarantine/drop'])
      expect([path, (await ask(url, { path, method: 'POST' })).status]).toEqual([path, 401]);

    expect((await ask(url, { path: '/-/healthy' })).status).toBe(200);
    expect((await ask(url, { path: '/-/ready' })).status).not.toBe(401);
    const refused = await ask(url);
    expect(refused.header('www-authenticate')).toBe('Basic realm="automation-exporter", charset="UTF-8"');
    expect(refused.body).toBe('Unauthorized: a user of this exporter and the password are required.\n');

    const wrong = `Basic ${Buffer.from('prometheus:open').toString('base64')}`;
    expect((await ask(url, { authorization: wrong })).status).toBe(401);
    expect((await ask(url, { authorization: login })).body).toContain('automation_exporter_build_info');
    expect((await ask(url, { path: '/nothing', authorization: login })).status).toBe(404);
  });

  it('logs refused clients without their passwords', async () => {
    const { url, logged } = await start(`tls_server_config: { ${tls} }\n${withUsers}`);
    for (let time = 0; time < 3; time += 1) await ask(url, { authorization: `${login}x` });
    expect(logged.filter((line) => line.includes('msg="request refused"'))).toEqual([
      expect.stringMatching(/from=127\.0\.0\.1 reason="no user, or a wrong password"/),
    ]);
    expect(logged.join('')).not.toContain('sesame');
  });

  it('accepts only valid client certificates with allowed names', async () => {
    const asks = 'client_ca_file: ca.pem, client_auth_type: RequireAndVerifyClientCert';
    const { url } = await start(
      `tls_server_config: { ${tls}, ${asks}, client_allowed_sans: [prometheus.example.org] }\n`,
    );

    expect(await ask(url)).toMatchObject({ status: 403, body: 'Refused: a client certificate is required.\n' });
    expect(await ask(url, { shows: 'other' })).toMatchObject({
      status: 403,
      body: 'Refused: the client certificate has none of the allowed names.\n',
    });
    const unknown = 'Refused: the client certificate is not signed by a known authority, or has expired.\n';
    expect(await ask(url, { shows: 'stranger' })).toMatchObject({ status: 403, body: unknown });
    expect(await ask(url, { shows: 'expired' })).toMatchObject({ status: 403, body: unknown });
    expect((await ask(url, { shows: 'prometheus' })).status).toBe(200);
    expect((await ask(url, { path: '/-/healthy' })).status).toBe(200);
  });

  it.each(['TLSv1.2', 'TLSv1.3'] as const)('checks the certificate of every connection (%s)', async (maxVersion) => {
    const asks = 'client_ca_file: ca.pem, client_auth_type: RequireAndVerifyClientCert';
    const { url } = await start(`tls_server_config: { ${tls}, ${asks} }\n`);
    const first = await speak(url, { maxVersion });
    const { status, isReused } = await speak(url, { maxVersion, ...(first.session && { session: first.session }) });
    expect({ status, isReused }).toEqual({ status: 'HTTP/1.1 200 OK', isReused: false });
  });

  it('accepts no older version of TLS than configured', async () => {
    const { url } = await start(`tls_server_config: { ${tls}, min_version: TLS13 }\n`);
    await expect(ask(url, { maxVersion: 'TLSv1.2' })).rejects.toThrow(/protocol version/);
    expect((await ask(url, { maxVersion: 'TLSv1.3' })).status).toBe(200);
  });

  it('sends the configured headers', async () => {
    const headers =
      'X-Frame-Options: sameorigin, Strict-Transport-Security: max-age=60, Content-Security-Policy: "default-src *"';
    const { url } = await start(`tls_server_config: { ${tls} }\nhttp_server_config: { headers: { ${headers} } }\n`);
    for (const path of ['/metrics', '/traces', '/executions', '/nothing']) {
      const { header } = await ask(url, { path });
      const names = [
        'x-frame-options',
        'strict-transport-security',
        'content-security-policy',
        'x-content-type-options',
      ];
      expect(names.map(header)).toEqual(['sameorigin', 'max-age=60', 'default-src *', 'nosniff']);
    }
  });

  it('allows as many requests as configured', async () => {
    const { url } = await start(`tls_server_config: { ${tls} }\nrate_limit: { interval: 1h, burst: 2 }\n`);
    const statuses: number[] = [];
    for (const path of ['/metrics', '/', '/metrics', '/-/healthy']) statuses.push((await ask(url, { path })).status);
    expect(statuses).toEqual([200, 200, 429, 200]);
  });

  it('answers a known password while other clients send many requests', async () => {
    const { url } = await start(`tls_server_config: { ${tls} }\n${withUsers}rate_limit: { interval: 1h, burst: 2 }\n`);
    const statuses: number[] = [(await ask(url, { authorization: login })).status];
    for (let time = 0; time < 3; time += 1) statuses.push((await ask(url, {})).status);
    for (let time = 0; time < 3; time += 1) statuses.push((await ask(url, { authorization: login })).status);
    expect(statuses).toEqual([200, 401, 429, 429, 200, 200, 429]);
  });

  it('answers a known certificate while other clients send many requests', async () => {
    const { url } = await start(
      `tls_server_config: { ${tls}, client_auth_type: VerifyClientCertIfGiven, client_ca_file: ca.pem }\nrate_limit: { interval: 1h, burst: 1 }\n`,
    );
    const statuses: number[] = [];
    for (const shows of [undefined, undefined, 'prometheus', 'other', 'prometheus'])
      statuses.push((await ask(url, shows === undefined ? {} : { shows })).status);
    expect(statuses).toEqual([200, 429, 200, 200, 429]);
  });

  it('faults/row-28: presents a new certificate without a failed scrape', async () => {
    const { url, write, lookAgain, logged } = await start(`tls_server_config: { ${tls} }\n${withUsers}`);
    const load = { isOver: false };
    const scrape = async (): Promise<string[]> => {
      const seen: string[] = [];
      while (!load.isOver) {
        const { status, subject } = await ask(url, { authorization: login });
        seen.push(`${status} ${subject}`);
      }
      return seen;
    };
    const scrapers = [scrape(), scrape(), scrape()];
    const shows = (subject: string) =>
      eventually(async () => {
        lookAgain();
        expect((await ask(url, { path: '/-/healthy' })).subject).toBe(subject);
      });
    await shows('server');

    write(`tls_server_config: { cert_file: server.pem, key_file: next.key }\n${withUsers}`);
    await eventually(async () => {
      lookAgain();
      await ask(url, { path: '/-/healthy' });
      expect(logged.join('')).toContain('web configuration unusable: the previous one stays in force');
    });
    write(`tls_server_config: { cert_file: next.pem, key_file: next.key }\n${withUsers}`);
    await shows('next');
    load.isOver = true;
    const seen = (await Promise.all(scrapers)).flat();
    expect([...new Set(seen)].toSorted()).toEqual(['200 next', '200 server']);
    expect(logged.filter((line) => line.includes('web configuration reloaded: files have changed'))).toHaveLength(1);
  });

  it('applies changed users of the file, but never an invalid file', async () => {
    const { url, write, lookAgain, logged, app, load } = await start(`tls_server_config: { ${tls} }\n${withUsers}`);
    expect((await ask(url, { authorization: login })).status).toBe(200);
    // The beginning of a file that is being written.
    write(`tls_server_config: { ${tls} }\n`);
    await app.reload(await load(yaml));
    await eventually(async () => {
      lookAgain();
      expect(logged.join('')).toContain('only a restart switches TLS or client certificates on or off');
    });
    write(`tls_server_config: { ${tls} }\nbasic_auth_user: {}\n`);
    await expect(load(yaml)).rejects.toThrow('basic_auth_user: is not a known key (did you mean basic_auth_users?)');
    expect((await ask(url)).status).toBe(401);

    write(`tls_server_config: { ${tls} }\nbasic_auth_users: { alice: '${hash}' }\n`);
    await eventually(async () => {
      lookAgain();
      expect((await ask(url, { authorization: login })).status).toBe(401);
    });
    const alice = `Basic ${Buffer.from('alice:open sesame').toString('base64')}`;
    expect((await ask(url, { authorization: alice })).status).toBe(200);

    write(`tls_server_config: { ${tls} }\n${withUsers}`);
    await app.reload(await load(yaml));
    expect((await ask(url, { authorization: login })).status).toBe(200);
  });

  it('refuses removed users after a reload', async () => {
    const { url, write, lookAgain, app, load } = await start(`tls_server_config: { ${tls} }\n${withUsers}`);
    const running = await load(yaml);
    await app.reload(running);
    const onlyAlice = `basic_auth_users: { alice: '${hash}' }\n`;
    write(`tls_server_config: { ${tls} }\n${onlyAlice}`);
    await eventually(async () => {
      lookAgain();
      expect((await ask(url, { authorization: login })).status).toBe(401);
    });
    write(onlyAlice);
    const config = await load(yaml);
    const loaded = {
      ok: true,
      config,
      configFile: '',
      checkOnly: false,
      otherServers: 0,
      shadowed: [],
      origins: new Map(),
    } as const;
    const reloaded = await reloadConfig(async () => loaded, running);
    if (!reloaded.ok) throw new Error('the configuration is wrong');
    await app.reload(reloaded.config);
    expect((await ask(url, { authorization: login })).status).toBe(401);
  });
});

const yaml = "servers: [{ name: prod, url: 'http://127.0.0.1:9', token_file: TOKEN }]\n";

/** Requests metrics with a certificate; keeps the TLS session. */
function speak(
  url: string,
  options: { readonly maxVersion: SecureVersion; readonly session?: Buffer },
): Promise<{ readonly status: string; readonly isReused: boolean; readonly session: Buffer | undefined }> {
  const { hostname: host, port } = new URL(url);
  return new Promise((resolve, reject) => {
    let session: Buffer | undefined;
    let isReused = false;
    let text = '';
    const shown = { cert: certificates.pem('prometheus.pem'), key: certificates.pem('prometheus.key') };
    const socket = connect({ host, port: Number(port), ca: certificates.pem('ca.pem'), ...shown, ...options });
    socket.on('secureConnect', () => {
      isReused = socket.isSessionReused();
    });
    socket.on('session', (found) => {
      session = found;
    });
    socket.on('error', reject);
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString();
    });
    socket.on('close', () => {
      resolve({ status: text.split('\r\n', 1)[0] ?? '', isReused, session });
    });
    socket.write('GET /metrics HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n');
  });
}

describeWithTools('end-to-end/web-config, scraped', ['prometheus'], ({ prometheus }) => {
  it.skipIf(!hasOpenssl)(
    'lets Prometheus scrape with a password and a certificate',
    async () => {
      const asks = 'client_ca_file: ca.pem, client_auth_type: RequireAndVerifyClientCert';
      const { url } = await start(`tls_server_config: { ${tls}, ${asks} }\n${withUsers}`);
      const file = (name: string): string => join(certificates.folder, name);
      const certified = `ca_file: ${file('ca.pem')}, cert_file: ${file('prometheus.pem')}, key_file: ${file('prometheus.key')}`;
      const password = `basic_auth: { username: prometheus, password: open sesame }`;
      const server = await startPrometheus({
        prometheus,
        target: new URL(url).host,
        job: 'exporter',
        scrape: `scheme: https, tls_config: { ${certified} }, ${password}`,
      });
      onTestFinished(server.stop);
      await eventually(async () => {
        const [row] = (await server.query('up')) as { readonly value: readonly [number, string] }[];
        expect(row?.value[1]).toBe('1');
      });
    },
    40_000,
  );
});

describeWithTools('end-to-end/web-config, asked', ['curl'], ({ curl }) => {
  it.skipIf(!hasOpenssl)('answers curl only with a user and a certificate', async () => {
    const asks = 'client_ca_file: ca.pem, client_auth_type: RequireAndVerifyClientCert';
    const { url } = await start(`tls_server_config: { ${tls}, ${asks} }\n${withUsers}`);
    const file = (name: string): string => join(certificates.folder, name);
    const status = (...parameters: readonly string[]) =>
      runCommand(curl, [
        '--silent',
        '--output',
        file('answer'),
        '--write-out',
        '%{http_code}',
        ...parameters,
        `${url}/metrics`,
      ]);
    const trusts = ['--cacert', file('ca.pem')];
    const shows = ['--cert', file('prometheus.pem'), '--key', file('prometheus.key')];
    const user = ['--user', 'prometheus:open sesame'];

    expect(await status(...trusts, ...shows, ...user)).toBe('200');
    expect(readFileSync(file('answer'), 'utf8')).toContain('automation_exporter_build_info');
    expect(await status(...trusts, ...shows)).toBe('401');
    expect(await status(...trusts, ...user)).toBe('403');
    await expect(status(...shows, ...user)).rejects.toThrow('Command failed');
  });
});
