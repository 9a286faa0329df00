import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer as createPlainServer } from 'node:http';
import { createServer, type ServerOptions } from 'node:https';
import { createInterface } from 'node:readline';
import tls, { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import type { ApiError } from '../../src/api/errors.ts';
import type { TlsOptions } from '../../src/api/wire/tls-material.ts';
import { createTransport } from '../../src/api/wire/transport.ts';
import { systemClock } from '../../src/domain/system-clock.ts';
import { listen } from '../support/listen.ts';
import { type Certificates, createCertificates, hasOpenssl, withoutOpenssl } from './certificates.ts';

let certificates: Certificates;

beforeAll(() => {
  if (!hasOpenssl) return;
  certificates = createCertificates();
  const { makeSelfSigned, makeSigned } = certificates;
  makeSelfSigned('ca', '/CN=test authority');
  makeSelfSigned('alone', '/CN=127.0.0.1');
  makeSigned('good', 'IP:127.0.0.1', 2);
  makeSigned('expired', 'IP:127.0.0.1', -1);
  makeSigned('named', 'DNS:automation.example', 2);
});
afterAll(() => {
  if (hasOpenssl) certificates.remove();
});

describe.skipIf(!hasOpenssl)(`api/transport over TLS${withoutOpenssl}`, () => {
  it('trusts certificates signed by the configured authority', async () => {
    expect(await ask('good', { ca: pem('ca.pem') })).toMatchObject({ status: 200, body: '{}' });
  });

  it.each([
    [
      'good',
      "GET system-info: the server's certificate is not trusted; see tls.ca_file (UNABLE_TO_VERIFY_LEAF_SIGNATURE)",
    ],
    [
      'alone',
      "GET system-info: the server's certificate is not trusted; see tls.ca_file (DEPTH_ZERO_SELF_SIGNED_CERT)",
    ],
  ])('does not trust the certificate %s without its authority', async (name, message) => {
    expect(await failure(ask(name))).toMatchObject({ kind: 'tls', message });
  });

  it('trusts a self-signed certificate that is configured', async () => {
    expect(await ask('alone', { ca: pem('alone.pem') })).toMatchObject({ status: 200 });
  });

  it('still trusts the authorities of the system if another authority is configured', async () => {
    const before = getCACertificates('default');
    setDefaultCACertificates([pem('ca.pem')]);
    onTestFinished(async () => setDefaultCACertificates(before));

    expect(await ask('good', { ca: pem('alone.pem') })).toMatchObject({ status: 200 });
  });

  it.each([
    ['expired', "GET system-info: the server's certificate has expired (CERT_HAS_EXPIRED)"],
    [
      'named',
      "GET system-info: the server's certificate is for another name; see tls.server_name (ERR_TLS_CERT_ALTNAME_INVALID)",
    ],
  ])('refuses a certificate that is %s', async (name, message) => {
    expect(await failure(ask(name, { ca: pem('ca.pem') }))).toMatchObject({ kind: 'tls', message });
  });

  it('checks the configured name', async () => {
    expect(await ask('named', { ca: pem('ca.pem'), serverName: 'automation.example' })).toMatchObject({ status: 200 });
  });

  it.each(['good', 'alone', 'expired', 'named'])('accepts the certificate %s if verification is off', async (name) => {
    expect(await ask(name, { insecureSkipVerify: true })).toMatchObject({ status: 200 });
  });

  it('presents its own certificate to a server that requires a client certificate', async () => {
    const server = { requestCert: true, rejectUnauthorized: true, ca: pem('ca.pem') };
    const own = { ca: pem('ca.pem'), cert: pem('good.pem'), key: pem('good.key') };

    expect(await ask('good', own, server)).toMatchObject({ status: 200 });
    const refusing: ServerOptions = { ...server, maxVersion: 'TLSv1.2' };
    expect(await failure(ask('good', { ca: pem('ca.pem') }, refusing))).toMatchObject({ kind: 'tls' });
  });

  it('reports that the server requires a certificate', async () => {
    const url = await startStrictServer();
    const transport = createTransport({ url, timeoutMs: 5000, tls: { ca: pem('ca.pem') }, clock: systemClock });
    onTestFinished(transport.close);

    const asked = transport.get({ apiEndpoint: 'system-info', path: '/', headers: {} });

    expect(await failure(asked)).toMatchObject({
      kind: 'tls',
      message:
        'GET system-info: the server requires a client certificate that it trusts; see tls.cert_file (ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED)',
    });
  });

  it('reports that a server uses http', async () => {
    const server = createPlainServer((_request, response) => response.end('{}'));
    const port = await listen(server);
    const transport = createTransport({ url: `https://127.0.0.1:${port}`, timeoutMs: 5000, clock: systemClock });
    onTestFinished(transport.close);
    onTestFinished(async () => {
      await new Promise((resolve) => server.close(resolve));
    });
    const asked = transport.get({ apiEndpoint: 'system-info', path: '/', headers: {} });
    expect(await failure(asked)).toMatchObject({
      kind: 'tls',
      message: 'GET system-info: the server does not speak TLS; does it speak http? (ERR_SSL_WRONG_VERSION_NUMBER)',
    });
  });

  it('does not accept TLS 1.1', async () => {
    const old: ServerOptions = { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' };
    expect(await failure(ask('good', { ca: pem('ca.pem') }, old))).toMatchObject({ kind: 'tls' });
  });
});

async function ask(name: string, tls: TlsOptions = {}, options: ServerOptions = {}) {
  const server = createServer({ cert: pem(`${name}.pem`), key: pem(`${name}.key`), ...options }, (_request, response) =>
    response.end('{}'),
  );
  const port = await listen(server);
  const transport = createTransport({ url: `https://127.0.0.1:${port}`, timeoutMs: 5000, tls, clock: systemClock });
  onTestFinished(transport.close);
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return transport.get({ apiEndpoint: 'system-info', path: '/api/47/system/info', headers: {} });
}

async function failure(request: Promise<unknown>): Promise<ApiError> {
  return request.then(
    () => {
      throw new Error('the request succeeded');
    },
    // This cast is safe: a transport rejects with nothing else.
    (error: unknown) => error as ApiError,
  );
}

function pem(name: string): string {
  return certificates.pem(name);
}

/** Starts a server of openssl, which sends a TLS alert that a server of Node does not send. */
async function startStrictServer(): Promise<string> {
  const flags = ['-cert', 'good.pem', '-key', 'good.key', '-CAfile', 'ca.pem', '-Verify', '1', '-verify_return_error'];
  const server = spawn('openssl', ['s_server', '-accept', '127.0.0.1:0', '-www', ...flags], {
    cwd: certificates.folder,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  onTestFinished(async () => {
    const ended = once(server, 'exit');
    server.kill();
    await ended;
  });
  for await (const line of createInterface(server.stdout)) {
    const [, port] = /^ACCEPT 127\.0\.0\.1:(\d+)/.exec(line) ?? [];
    if (port !== undefined) return `https://127.0.0.1:${port}`;
  }
  throw new Error('the server ended');
}

describe('api/transport over TLS', () => {
  it.skipIf(!hasOpenssl)(`reads the authorities once for all connections${withoutOpenssl}`, async () => {
    const { makeSelfSigned, makeSigned, pem, remove } = createCertificates();
    makeSelfSigned('ca', '/CN=test authority');
    makeSigned('good', 'IP:127.0.0.1', 2);
    const server = createServer({ cert: pem('good.pem'), key: pem('good.key') }, (_request, response) =>
      response.writeHead(200, { connection: 'close' }).end('{}'),
    );
    const port = await listen(server);
    const transport = createTransport({
      url: `https://127.0.0.1:${port}`,
      timeoutMs: 5000,
      tls: { ca: pem('ca.pem') },
      clock: systemClock,
    });
    const madeContext = vi.spyOn(tls, 'createSecureContext');
    let connections = 0;
    server.on('secureConnection', () => {
      connections += 1;
    });

    for (let request = 0; request < 3; request++) {
      await transport.get({ apiEndpoint: 'system-info', path: '/api/47/system/info', headers: {} });
    }

    expect({ connections, contexts: madeContext.mock.calls.length }).toEqual({ connections: 3, contexts: 0 });
    madeContext.mockRestore();
    await transport.close();
    await new Promise((resolve) => server.close(resolve));
    remove();
  });
});
