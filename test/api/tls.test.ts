import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type ServerOptions } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { ApiError } from '../../src/api/errors.ts';
import { createTransport, type TlsOptions } from '../../src/api/transport.ts';

const hasOpenssl = spawnSync('openssl', ['version']).status === 0;
const endings: (() => Promise<void>)[] = [];
let folder = '';

beforeAll(() => {
  if (!hasOpenssl) return;
  folder = mkdtempSync(join(tmpdir(), 'tls-test-'));
  makeSelfSigned('ca', '/CN=test authority');
  makeSelfSigned('alone', '/CN=127.0.0.1');
  makeSigned('good', 'IP:127.0.0.1', 2);
  makeSigned('expired', 'IP:127.0.0.1', -1);
  makeSigned('named', 'DNS:automation.example', 2);
});
afterEach(async () => {
  for (const end of endings.splice(0)) await end();
});
afterAll(() => {
  if (folder !== '') rmSync(folder, { recursive: true });
});

const reason = hasOpenssl ? '' : ' (not installed: openssl)';

describe.skipIf(!hasOpenssl)(`api/transport over TLS${reason}`, () => {
  it('trusts what the configured authority signed', async () => {
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

  it('trusts a certificate that signed itself where it is configured', async () => {
    expect(await ask('alone', { ca: pem('alone.pem') })).toMatchObject({ status: 200 });
  });

  it('keeps to trust what the system trusts where another authority is configured', async () => {
    const before = getCACertificates('default');
    setDefaultCACertificates([pem('ca.pem')]);
    endings.push(async () => setDefaultCACertificates(before));

    expect(await ask('good', { ca: pem('alone.pem') })).toMatchObject({ status: 200 });
  });

  it.each([
    ['expired', "GET system-info: the server's certificate has expired (CERT_HAS_EXPIRED)"],
    [
      'named',
      "GET system-info: the server's certificate is for another name; see tls.server_name (ERR_TLS_CERT_ALTNAME_INVALID)",
    ],
  ])('refuses a certificate that is %s, and says why', async (name, message) => {
    expect(await failure(ask(name, { ca: pem('ca.pem') }))).toMatchObject({ kind: 'tls', message });
  });

  it('checks the name that is configured', async () => {
    expect(await ask('named', { ca: pem('ca.pem'), serverName: 'automation.example' })).toMatchObject({ status: 200 });
  });

  it.each(['good', 'alone', 'expired', 'named'])('takes the certificate %s where nothing is verified', async (name) => {
    expect(await ask(name, { insecureSkipVerify: true })).toMatchObject({ status: 200 });
  });

  it('shows its own certificate to a server that requires one', async () => {
    const server = { requestCert: true, rejectUnauthorized: true, ca: pem('ca.pem') };
    const own = { ca: pem('ca.pem'), cert: pem('good.pem'), key: pem('good.key') };

    expect(await ask('good', own, server)).toMatchObject({ status: 200 });
    // With TLS 1.3 the client is done before the server refuses, and may only see the connection end.
    const refusing: ServerOptions = { ...server, maxVersion: 'TLSv1.2' };
    expect(await failure(ask('good', { ca: pem('ca.pem') }, refusing))).toMatchObject({ kind: 'tls' });
  });

  it('does not speak TLS 1.1', async () => {
    const old: ServerOptions = { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' };
    expect(await failure(ask('good', { ca: pem('ca.pem') }, old))).toMatchObject({ kind: 'tls' });
  });
});

async function ask(name: string, tls: TlsOptions = {}, options: ServerOptions = {}) {
  const server = createServer({ cert: pem(`${name}.pem`), key: pem(`${name}.key`), ...options }, (_request, response) =>
    response.end('{}'),
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  // The cast is true: a TCP server has such an address.
  const { port } = server.address() as AddressInfo;
  const transport = createTransport({ url: `https://127.0.0.1:${port}`, timeoutMs: 5000, tls });
  endings.push(transport.close, async () => {
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
    // The cast is true: a transport rejects with nothing else.
    (error: unknown) => error as ApiError,
  );
}

function pem(name: string): string {
  return readFileSync(join(folder, name), 'utf8');
}

const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];

function makeSelfSigned(name: string, subject: string): void {
  const names = name === 'alone' ? ['-addext', 'subjectAltName=IP:127.0.0.1'] : [];
  const files = ['-keyout', `${name}.key`, '-out', `${name}.pem`];
  openssl(['req', '-x509', ...newKey, ...files, '-subj', subject, '-days', '2', ...names]);
}

function makeSigned(name: string, altName: string, days: number): void {
  openssl(['req', ...newKey, '-keyout', `${name}.key`, '-out', `${name}.csr`, '-subj', `/CN=${name}`]);
  writeFileSync(join(folder, `${name}.ext`), `subjectAltName=${altName}\n`);
  const authority = ['-CA', 'ca.pem', '-CAkey', 'ca.key', '-CAcreateserial'];
  const files = ['-in', `${name}.csr`, '-out', `${name}.pem`, '-extfile', `${name}.ext`];
  openssl(['x509', '-req', ...files, ...authority, '-days', String(days)]);
}

function openssl(parameters: readonly string[]): void {
  execFileSync('openssl', parameters, { cwd: folder, stdio: 'ignore' });
}
