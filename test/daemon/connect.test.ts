import { renameSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import type { IncomingHttpHeaders } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { TLSSocket } from 'node:tls';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { createLargeAnswers } from '../../src/api/answers/large-answers.ts';
import { projects } from '../../src/api/endpoints/projects.ts';
import { executionMode } from '../../src/api/endpoints/system.ts';
import { loadConfig } from '../../src/config/load-config.ts';
import { parseArguments } from '../../src/config/read/command-line.ts';
import { connectServer } from '../../src/daemon/connect.ts';
import { type Watching, watchAll } from '../../src/daemon/generation.ts';
import { systemClock } from '../../src/domain/system-clock.ts';
import { createSelf } from '../../src/metrics/self.ts';
import { createSnapshots } from '../../src/metrics/snapshot.ts';
import { startGuardedServer, startServer } from '../api/auth/guarded-server.ts';
import { type Certificates, createCertificates, hasOpenssl, withoutOpenssl } from '../api/certificates.ts';
import { load } from '../config/fixtures.ts';
import { eventually } from '../support/eventually.ts';
import { fakeClock } from '../support/fake-clock.ts';
import { makeFolder } from '../support/folder.ts';
import { createDisk, openMemoryState } from '../world/memory-state.ts';

const ignore = (): void => {};

let folder: string;
beforeEach(() => {
  folder = makeFolder();
});

/** Replaces a file at once, so that nobody reads half of it. */
function write(name: string, text: string): string {
  const fresh = join(folder, `${name}.new`);
  writeFileSync(fresh, text, { mode: 0o600 });
  renameSync(fresh, join(folder, name));
  return join(folder, name);
}

/** Connects with a configuration file, and with secrets in files. */
async function connect(url: string, credentials: string, hands = { aheadMs: 0 }) {
  const file = write('config.yaml', `servers: [{ name: prod, url: '${url}', ${credentials} }]\n`);
  const loaded = await loadConfig({
    arguments: parseArguments([`--config.file=${file}`], { collectors: [] }),
    env: {},
    readFile: (path) => readFile(path, 'utf8'),
    collectors: [],
  });
  const [server] = loaded.ok ? loaded.config.servers : [];
  if (server === undefined) throw new Error(JSON.stringify(loaded));
  const secrets: string[] = [];
  const changes: string[] = [];
  const observe = { request: ignore, error: ignore, waited: ignore, inFlight: ignore, circuit: ignore };
  const { client, close } = connectServer(server, {
    clock: fakeClock({ ticks: () => performance.now() + hands.aheadMs }),
    readFile: (path) => readFile(path, 'utf8'),
    observe: { ...observe, files: (name, change) => changes.push([name, ...Object.values(change)].join(' ')) },
    onSecret: (value) => secrets.push(value),
    largeAnswers: createLargeAnswers({ clock: systemClock }),
  });
  onTestFinished(close);
  return { api: client.within({ lane: 'normal', forMs: 5000 }), secrets, changes };
}

describe('daemon/connect', () => {
  it.each([
    ['token_file', 'x-rundeck-auth-token', '', 403],
    ['token_file', 'x-rundeck-auth-token', '', 401],
    ['bearer_token_file', 'authorization', 'Bearer ', 403],
    ['bearer_token_file', 'authorization', 'Bearer ', 401],
  ] as const)(
    'uses the new content of %s (%s: %s…) after the old content was refused with %d',
    async (option, header, scheme, status) => {
      const server = await startGuardedServer('rundeck');
      onTestFinished(server.stop);
      const admit = (secret: string) =>
        server.guard((headers: IncomingHttpHeaders) => headers[header] === scheme + secret, {
          status,
          body: '{"error":true,"apiversion":47,"errorCode":"unauthorized"}',
        });
      admit('first');
      write('secret', 'first\n');
      const { api, secrets } = await connect(server.url, `${option}: '${join(folder, 'secret')}'`);
      expect(await api.get(executionMode)).toBe('active');

      admit('second');
      write('secret', 'second\n');

      expect(await api.get(executionMode)).toBe('active');
      expect(server.asked.map(({ headers }) => headers[header])).toEqual(
        ['first', 'first', 'first', 'second'].map((secret) => scheme + secret),
      );
      // The log needs both secrets, to hide them, before the client sends them.
      expect(secrets).toEqual(['first', 'second']);
    },
  );

  it('logs in with the new password of its file', async () => {
    const server = await startServer((request, response) => {
      const isLogin = request.method === 'POST';
      const isRight = server.asked.at(-1)?.body.endsWith('j_password=second') === true;
      if (isLogin) {
        response
          .writeHead(302, { location: isRight ? '/menu/home' : '/user/error', 'set-cookie': 'JSESSIONID=s' })
          .end();
      } else {
        const info = '{"system":{"rundeck":{"version":"5.3.0","apiversion":47}}}';
        response.end(request.url?.endsWith('/info') === true ? info : '{"executionMode":"active"}');
      }
    });
    onTestFinished(server.stop);
    write('password', 'first\n');
    const { api, secrets } = await connect(
      server.url,
      `username: reader, password_file: '${join(folder, 'password')}'`,
    );

    await expect(api.get(executionMode)).rejects.toMatchObject({ kind: 'unauthorized' });
    write('password', 'second\n');

    expect(await api.get(executionMode)).toBe('active');
    expect(server.asked.filter(({ body }) => body !== '').map(({ body }) => body)).toEqual([
      'j_username=reader&j_password=first',
      'j_username=reader&j_password=second',
    ]);
    expect(new Set(secrets)).toEqual(new Set(['first', 'second']));
  });

  it('removes its secrets from responses, in any form, and decodes the rest', async () => {
    const secret = 's3cr3t/t0k<en>+of=ours';
    const forms = [
      JSON.stringify(secret),
      '"s3cr3t\\/t0k\\u003cen\\u003e\\u002bof\\u003dours"',
      JSON.stringify(encodeURIComponent(secret)),
      JSON.stringify(Buffer.from(secret).toString('hex')),
    ];
    const rows = forms.map((form) => `{"name":${form},"label":"a ${form.slice(1, -1)} b"}`);
    const filler = `{"name":"${'x'.repeat(400_000)}"}`;
    let isLarge = false;
    const server = await startServer((request, response) => {
      const info = '{"system":{"rundeck":{"version":"5.3.0","apiversion":47}}}';
      const list = `[${[...rows, ...(isLarge ? [filler] : [])].join(',')}]`;
      response.end(request.url?.endsWith('/info') === true ? info : list);
    });
    onTestFinished(server.stop);
    write('secret', `${secret}\n`);
    const { api } = await connect(server.url, `token_file: '${join(folder, 'secret')}'`);

    const scrubbed = forms.map(() => ['<secret>', 'a <secret> b']);
    const read = async () => (await api.get(projects)).slice(0, 4).map(({ name, label }) => [name, label]);
    expect(await read()).toEqual(scrubbed);
    isLarge = true;
    expect(await read()).toEqual(scrubbed);
  });

  it('keeps the budget of a URL across a reload', async () => {
    const parts = {
      clock: systemClock,
      log: { debug: ignore, info: ignore, warn: ignore, error: ignore },
      version: 'test',
      onSecret: ignore,
      self: createSelf({ version: 'test', nodeVersion: 'test' }),
      snapshots: createSnapshots(systemClock),
      state: openMemoryState(createDisk(), { wait: async () => undefined }),
      toPollTimes: () => ({ start: () => undefined, stop: async () => undefined, nextRunsAtMs: () => [] }),
    };
    const watch = async (yaml: string, before?: Watching) =>
      watchAll({ ...parts, ...(await load({ yaml: `servers: [{ ${yaml}, token_file: /run/token }]` })) }, before);
    const memoryOf = ({ watched }: Watching) => [...watched.values()][0]?.toHandover().addresses[0]?.memory;
    const first = await watch('name: one, url: http://127.0.0.1:9');
    const known = memoryOf(first);
    expect(memoryOf(await watch('name: renamed, url: http://127.0.0.1:9', first))).toBe(known);

    const through = memoryOf(await watch('name: one, url: http://127.0.0.1:9, proxy_url: http://127.0.0.1:8', first));
    expect([through?.budget === known?.budget, through?.breaker === known?.breaker]).toEqual([true, false]);
    const other = memoryOf(await watch('name: one, url: http://127.0.0.1:7', first));
    expect(other?.budget).not.toBe(known?.budget);
  });
});

describe('connect, when files change', () => {
  it('uses a new token before the old token is refused', async () => {
    const server = await startGuardedServer('rundeck');
    onTestFinished(server.stop);
    write('secret', 'first\n');
    const hands = { aheadMs: 0 };
    const { api, secrets, changes } = await connect(server.url, `token_file: '${join(folder, 'secret')}'`, hands);
    const sent = () => server.asked.at(-1)?.headers['x-rundeck-auth-token'];
    const ask = async () => {
      server.guard(() => true);
      await api.get(executionMode);
      return sent();
    };
    expect(await ask()).toBe('first');
    write('secret', 'second\n');
    expect(await ask()).toBe('first');
    hands.aheadMs += 10_000;
    await eventually(async () => expect(await ask()).toBe('second'));
    expect({ secrets, changes }).toEqual({ secrets: ['first', 'second'], changes: ['credentials taken'] });
  });

  it('keeps its token while the file is empty', async () => {
    const server = await startGuardedServer('rundeck');
    onTestFinished(server.stop);
    server.guard(() => true);
    write('secret', 'first\n');
    const hands = { aheadMs: 0 };
    const { api, changes } = await connect(server.url, `token_file: '${join(folder, 'secret')}'`, hands);
    const look = async () => {
      hands.aheadMs += 10_000;
      await api.get(executionMode);
    };
    write('secret', '\n');
    const rejected = [`credentials rejected the file "${join(folder, 'secret')}" is empty`];
    await eventually(async () => {
      await look();
      expect(changes).toEqual(rejected);
    });
    for (let count = 0; count < 5; count += 1) await look();
    expect(changes).toEqual(rejected);
    expect(server.asked.at(-1)?.headers['x-rundeck-auth-token']).toBe('first');
    write('secret', 'second\n');
    await eventually(async () => {
      await look();
      expect(server.asked.at(-1)?.headers['x-rundeck-auth-token']).toBe('second');
    });
    expect(changes.slice(1)).toEqual(['credentials taken']);
  });
});

describe.skipIf(!hasOpenssl)(`connect, when TLS files change${withoutOpenssl}`, () => {
  let certificates: Certificates;
  beforeEach(() => {
    certificates = createCertificates();
    certificates.makeSelfSigned('ca', '/CN=authority');
    certificates.makeSigned('server', 'IP:127.0.0.1', 2);
    certificates.makeSigned('one', 'DNS:one', 2);
    certificates.makeSigned('two', 'DNS:two', 2);
  });
  afterEach(() => certificates.remove());

  /** A server that requires a client certificate and records the names in it. */
  async function startStrict() {
    const { pem } = certificates;
    const shown: string[] = [];
    const server = createServer(
      { cert: pem('server.pem'), key: pem('server.key'), ca: pem('ca.pem'), requestCert: true },
      ({ socket, url }, response) => {
        // This cast is safe: the server uses TLS.
        shown.push(String((socket as TLSSocket).getPeerCertificate().subject.CN));
        const info = '{"system":{"rundeck":{"version":"5.3.0","apiversion":47}}}';
        response.end(url?.endsWith('/info') === true ? info : '{"executionMode":"active"}');
      },
    );
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    });
    // This cast is safe: the address of a TCP server has a port.
    return { url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`, shown };
  }

  it('presents a new certificate unless it is unusable', async () => {
    const { pem } = certificates;
    const { url, shown } = await startStrict();
    write('token', 'a-token');
    write('client.pem', pem('one.pem'));
    write('client.key', pem('one.key'));
    const file = (name: string) => `'${join(folder, name)}'`;
    const tls = `tls: { ca_file: ${file('ca.pem')}, cert_file: ${file('client.pem')}, key_file: ${file('client.key')} }`;
    write('ca.pem', pem('ca.pem'));
    const hands = { aheadMs: 0 };
    const { api, changes } = await connect(url, `token_file: ${file('token')}, ${tls}`, hands);
    const look = async () => {
      hands.aheadMs += 10_000;
      await api.get(executionMode);
    };
    await look();
    write('client.pem', pem('two.pem'));
    await eventually(async () => {
      await look();
      expect(changes).toEqual([
        'tls rejected tls.key_file contains a key that does not belong to the certificate in tls.cert_file',
      ]);
    });
    for (let count = 0; count < 5; count += 1) await look();
    expect({ shown: new Set(shown), said: changes.length }).toEqual({ shown: new Set(['one']), said: 1 });
    write('client.key', pem('two.key'));
    await eventually(async () => {
      await look();
      expect(shown.at(-1)).toBe('two');
    });
    // Between the two new tokens, the certificate is read once more.
    for (const tokens of [1, 2]) {
      write('token', `token ${tokens}`);
      await eventually(async () => {
        await look();
        expect(changes.filter((change) => change === 'credentials taken')).toHaveLength(tokens);
      });
    }
    expect(changes.slice(1)).toEqual(['tls taken', 'credentials taken', 'credentials taken']);
  });
});
