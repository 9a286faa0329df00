import type { IncomingHttpHeaders } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { isSafeHost } from '../../src/http/server/hosts.ts';
import { createRoutes } from '../../src/http/server/routes.ts';
import { serve } from './serve.ts';

function config() {
  const routes = createRoutes();
  routes.get('/config', (_request, response) => void response.type('text/plain').send('servers: []\n'));
  return routes;
}

const externalUrl = (): string => 'https://exporter.example.org/here';
const browser = { 'accept-language': 'en' };

describe('http/hosts', () => {
  it.each([
    ['127.0.0.1:9720', 200],
    ['[::1]:9720', 200],
    ['localhost:9720', 200],
    ['exporter', 200],
    ['exporter.monitoring.svc:9720', 200],
    ['exporter.example.org', 200],
    ['exporter.example.org:443', 200],
    ['exporter.example.org:9720', 403],
    ['rebound.example.com:9720', 403],
    ['127.0.0.1.example.com', 403],
  ])('responds to a browser at %s with %d', async (host, status) => {
    const { ask } = await serve([config()], { externalUrl });
    expect((await ask('/config', { headers: { ...browser, host } })).status).toBe(status);
  });

  it.each(['exporter.example.org:9720', 'rebound.example.com'])('admits scrapers and tools at %s', async (host) => {
    const { ask } = await serve([config()], { externalUrl });
    expect((await ask('/config', { headers: { host } })).status).toBe(200);
  });

  it('admits programs that use `fetch` of Node', async () => {
    let sent: IncomingHttpHeaders = {};
    const echo = createRoutes();
    echo.get('/echo', ({ headers }, response) => {
      sent = headers;
      response.end();
    });
    const { ask, url } = await serve([config(), echo], { externalUrl });
    await fetch(`${url}/echo`);
    const { connection: _own, ...headers } = sent;
    // The child sends only strings.
    const told = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
    expect(told['accept-language']).toBe('*');
    expect((await ask('/config', { headers: { ...told, host: 'rebound.example.com' } })).status).toBe(200);
    const asBrowser = { ...told, 'sec-fetch-site': 'same-origin', host: 'rebound.example.com' };
    expect((await ask('/config', { headers: asBrowser })).status).toBe(403);
  });

  it('shows the configuration to add for an unknown host name', async () => {
    const { ask } = await serve([config()], { externalUrl: () => 'http://localhost:9720/here/' });
    const { headers, body } = await ask('/here/config', {
      headers: { ...browser, host: 'monitor01.corp.example:9720' },
    });
    expect(headers['content-type']).toBe('text/html; charset=utf-8');
    expect(body).toContain('web:\n  external_url: http://monitor01.corp.example:9720/here/\n');
    expect(body).toContain('--web.external-url=http://monitor01.corp.example:9720/here/\n');
  });

  it.each(['a<b.example.org', 'x"y.example.org'])('writes no part of the Host %s into the page', async (host) => {
    const { ask } = await serve([config()]);
    const { status, body } = await ask('/config', { headers: { ...browser, host } });
    expect({ status, isShown: body.includes(host) }).toEqual({ status: 403, isShown: false });
    expect(body).toContain('external_url: http://exporter.example.org:9720\n');
  });

  it('refuses a request with two hosts', async () => {
    const { port } = await serve([config()]);
    const socket = connect({ host: '127.0.0.1', port });
    socket.write('GET /config HTTP/1.1\r\nHost: localhost\r\nHost: other\r\nConnection: close\r\n\r\n');
    expect(await text(socket)).toMatch(/^HTTP\/1.1 400 Bad Request\r\n/);
  });

  it.each(['printer.local', 'a.b.internal', 'x.localhost', 'nas.home.arpa'])(
    'accepts %s as a name of the local network',
    (name) => {
      expect(isSafeHost(name)).toBe(true);
    },
  );
});
