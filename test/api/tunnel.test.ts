import { createServer as createHttpServer } from 'node:http';
import { createServer, type Server } from 'node:https';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { executionMode } from '../../src/api/endpoints/system.ts';
import type { ApiError } from '../../src/api/errors.ts';
import type { TlsOptions } from '../../src/api/wire/tls-material.ts';
import { createTransport } from '../../src/api/wire/transport.ts';
import { systemClock } from '../../src/domain/system-clock.ts';
import { createTestClient, fixedSecret } from '../support/client.ts';
import { type Certificates, createCertificates, hasOpenssl, withoutOpenssl } from './certificates.ts';

let certificates: Certificates;

beforeAll(() => {
  if (!hasOpenssl) return;
  certificates = createCertificates();
  certificates.makeSelfSigned('ca', '/CN=test authority');
  certificates.makeSigned('good', 'IP:127.0.0.1', 2);
  certificates.makeSigned('named', 'DNS:automation.example', 2);
});
afterAll(() => {
  if (hasOpenssl) certificates.remove();
});

describe.skipIf(!hasOpenssl)(`api/transport through a tunnel${withoutOpenssl}`, () => {
  it('hides token and path of an https server from the proxy', async () => {
    const { url, asked } = await startTlsServer('good');
    const proxy = await startTunnel();
    const transport = toTransport(url, proxy.url, { ca: certificates.pem('ca.pem') });
    const { api } = createTestClient({ url, token: fixedSecret('planted'), transport });

    expect(await api.get(executionMode)).toBe('active');
    expect(await api.get(executionMode)).toBe('active');

    expect(asked).toEqual([
      '/api/47/system/info planted',
      '/api/47/system/executions/status planted',
      '/api/47/system/executions/status planted',
    ]);
    expect(new Set(proxy.lines)).toEqual(new Set([`CONNECT ${new URL(url).host}`]));
    expect(proxy.passed().length).toBeGreaterThan(1000);
    expect(proxy.passed()).not.toMatch(/planted|system|auth-token/);
    expect(proxy.head()).not.toMatch(/planted|system|auth-token/);
  });

  it('checks the certificate inside the tunnel', async () => {
    const { url } = await startTlsServer('named');
    const proxy = await startTunnel();
    const ca = certificates.pem('ca.pem');

    expect(await fault(url, proxy.url)).toBe(
      "tls: GET system-info: the server's certificate is not trusted; see tls.ca_file (UNABLE_TO_VERIFY_LEAF_SIGNATURE)",
    );
    expect(await fault(url, proxy.url, { ca })).toBe(
      "tls: GET system-info: the server's certificate is for another name; see tls.server_name (ERR_TLS_CERT_ALTNAME_INVALID)",
    );
    expect(await fault(url, proxy.url, { ca, serverName: 'automation.example' })).toBe('200');
  });
});

describe('api/transport with an unusable proxy', () => {
  it.each(['http', 'https'])('reports that the proxy is down, for an %s server', async (scheme) => {
    const { url, stop } = await startRefusingProxy(403);
    await stop();

    expect(await fault(`${scheme}://127.0.0.1:9`, url)).toBe(
      'network: GET system-info: the proxy refused the connection; is it running? See proxy_url (ECONNREFUSED)',
    );
  });

  it.each([
    [
      407,
      'network: GET system-info: the proxy refuses the request with HTTP 407: the proxy requires a password, which is not supported; see proxy_url',
    ],
    [403, 'network: GET system-info: the proxy refuses the request with HTTP 403; see proxy_url'],
    [502, 'network: GET system-info: the proxy refuses the request with HTTP 502; see proxy_url'],
  ])('reports that the proxy refuses a tunnel with %d', async (status, says) => {
    const proxy = await startRefusingProxy(status);

    expect(await fault('https://127.0.0.1:9', proxy.url)).toBe(says);
  });

  it.each([
    [
      407,
      'GET system-info: the proxy refuses the request with HTTP 407: the proxy requires a password, which is not supported; see proxy_url',
    ],
    [403, 'GET execution-mode: HTTP 403, refused by a proxy or firewall in front of the server'],
  ])('reports that the proxy refuses an http request with %d', async (status, message) => {
    const proxy = await startRefusingProxy(status);
    const url = 'http://127.0.0.1:9';
    const { api } = createTestClient({ url, transport: toTransport(url, proxy.url) });

    await expect(api.get(executionMode)).rejects.toMatchObject({ message });
  });
});

function toTransport(url: string, proxyUrl: string, tls: TlsOptions = {}) {
  const transport = createTransport({ url, timeoutMs: 5000, proxyUrl, tls, clock: systemClock });
  onTestFinished(transport.close);
  return transport;
}

async function fault(url: string, proxyUrl: string, tls?: TlsOptions): Promise<string> {
  const transport = toTransport(url, proxyUrl, tls);
  return transport.get({ apiEndpoint: 'system-info', path: '/', headers: {} }).then(
    ({ status }) => String(status),
    // This cast is safe: a transport rejects with nothing else.
    (error: unknown) => `${(error as ApiError).kind}: ${(error as ApiError).message}`,
  );
}

async function startTlsServer(name: string) {
  const asked: string[] = [];
  const { pem } = certificates;
  const server = createServer({ cert: pem(`${name}.pem`), key: pem(`${name}.key`) }, (request, response) => {
    asked.push(`${request.url} ${String(request.headers['x-rundeck-auth-token'])}`);
    const info = '{"system":{"rundeck":{"version":"5.3.0","apiversion":47}}}';
    response.end(request.url?.endsWith('info') === true ? info : '{"executionMode":"active"}');
  });
  return { url: `https://127.0.0.1:${await listen(server)}`, asked };
}

async function startTunnel() {
  const lines: string[] = [];
  let head = '';
  let passed = '';
  const server = createHttpServer();
  server.on('connect', (request, client: Socket) => {
    lines.push(`${request.method} ${request.url}`);
    head += request.rawHeaders.join('\n');
    const target = new URL(`http://${request.url}`);
    const onward = connect(Number(target.port), target.hostname, () => {
      client.write('HTTP/1.1 200 OK\r\n\r\n');
      client.on('data', (chunk: Buffer) => {
        passed += chunk.toString('latin1');
      });
      client.pipe(onward).pipe(client);
    });
    for (const socket of [client, onward]) {
      onTestFinished(async () => void socket.destroy());
      socket.on('error', () => socket.destroy());
    }
  });
  return { url: `http://127.0.0.1:${await listen(server)}`, lines, head: () => head, passed: () => passed };
}

/** Starts a proxy that responds to every request with this status. */
async function startRefusingProxy(status: number) {
  const server = createHttpServer((_request, response) => {
    response.writeHead(status, { 'content-type': 'text/html' }).end('<html>no</html>');
  });
  server.on('connect', (_request, client: Socket) => {
    client.end(`HTTP/1.1 ${status} No\r\ncontent-length: 0\r\n\r\n`);
  });
  const port = await listen(server);
  return { url: `http://127.0.0.1:${port}`, stop: () => new Promise((resolve) => server.close(resolve)) };
}

async function listen(server: Server | ReturnType<typeof createHttpServer>): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  // This cast is safe: the address of a TCP server has a port.
  return (server.address() as AddressInfo).port;
}
