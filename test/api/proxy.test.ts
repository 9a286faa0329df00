import { createServer, request as forward, type IncomingMessage } from 'node:http';
import { connect, type Socket } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { executionMode } from '../../src/api/endpoints/system.ts';
import { createTransport } from '../../src/api/wire/transport.ts';
import { systemClock } from '../../src/domain/system-clock.ts';
import { createTestClient, fixedSecret } from '../support/client.ts';
import { listen } from '../support/listen.ts';
import { startGuardedServer, startServer } from './auth/guarded-server.ts';

describe('api/transport through a proxy', () => {
  it('reaches an http server through the proxy', async () => {
    const server = await startGuardedServer('rundeck');
    server.guard((headers) => headers['x-rundeck-auth-token'] === 'planted');
    const proxy = await startProxy();
    const transport = createTransport({ url: server.url, timeoutMs: 5000, proxyUrl: proxy.url, clock: systemClock });
    const { api, close } = createTestClient({ url: server.url, token: fixedSecret('planted'), transport });
    onTestFinished(close);
    onTestFinished(server.stop);

    expect(await api.get(executionMode)).toBe('active');
    expect(proxy.lines).toEqual([
      `GET ${server.url}/api/47/system/info`,
      `GET ${server.url}/api/47/system/executions/status`,
    ]);
  });

  it('limits the size of a response through a proxy', async () => {
    const server = await startServer((_request, response) => response.end(Buffer.alloc(1_100_000, ' ')));
    const proxy = await startProxy();
    const transport = createTransport({ url: server.url, timeoutMs: 5000, proxyUrl: proxy.url, clock: systemClock });
    onTestFinished(transport.close);
    onTestFinished(server.stop);

    const asked = transport.get({ apiEndpoint: 'system-info', path: '/', headers: {} });

    await expect(asked).rejects.toMatchObject({ kind: 'too_large' });
  });

  it('shows the proxy only the address of an https server', async () => {
    const proxy = await startProxy();
    const silent = await startServer((_request, response) => response.end());
    onTestFinished(silent.stop);
    const url = `https://127.0.0.1:${silent.port}`;
    const transport = createTransport({ url, timeoutMs: 5000, proxyUrl: proxy.url, clock: systemClock });
    onTestFinished(transport.close);
    const headers = { 'x-rundeck-auth-token': 'planted' };

    // The server behind the proxy has no TLS, so only the tunnel is visible.
    const asked = transport.get({ apiEndpoint: 'system-info', path: '/api/47/system/info', headers });

    await expect(asked).rejects.toMatchObject({ kind: 'tls' });
    expect(proxy.lines).toEqual([`CONNECT 127.0.0.1:${silent.port}`]);
    expect(proxy.seen()).not.toContain('planted');
  });

  it('sends nothing to the host of a redirect', async () => {
    const other = await startServer((_request, response) => response.end('{}'));
    const server = await startServer((_request, response) => {
      response.writeHead(307, { location: `${other.url}/api/47/system/info` }).end();
    });
    const { api, close } = createTestClient({ url: server.url, token: fixedSecret('planted') });
    onTestFinished(close);
    onTestFinished(other.stop);
    onTestFinished(server.stop);

    await expect(api.get(executionMode)).rejects.toMatchObject({ kind: 'redirect' });
    expect(other.asked).toEqual([]);
  });
});

async function startProxy() {
  const lines: string[] = [];
  const sockets = new Set<Socket>();
  let seen = '';
  const note = (request: IncomingMessage) => {
    lines.push(`${request.method} ${request.url}`);
    seen += request.rawHeaders.join('\n');
  };
  const server = createServer((request, response) => {
    note(request);
    const { method, headers } = request;
    const onward = forward(request.url ?? '', { method, headers, agent: false }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    request.pipe(onward);
  });
  server.on('connect', (request: IncomingMessage, client: Socket) => {
    note(request);
    const target = new URL(`http://${request.url}`);
    const onward = connect(Number(target.port), target.hostname, () => {
      client.write('HTTP/1.1 200 OK\r\n\r\n');
      client.on('data', (chunk: Buffer) => {
        seen += chunk.toString('latin1');
      });
      client.pipe(onward).pipe(client);
    });
    for (const socket of [client, onward]) {
      sockets.add(socket);
      socket.on('error', () => socket.destroy());
    }
  });
  const port = await listen(server);
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return { url: `http://127.0.0.1:${port}`, lines, seen: () => seen };
}
