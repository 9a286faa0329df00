import { once } from 'node:events';
import type { Socket } from 'node:net';
import { connect, type TLSSocket } from 'node:tls';
import { Router } from 'express';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { Secret } from '../../src/domain/secret.ts';
import type { WebTls } from '../../src/domain/web-config.ts';
import { createAccess } from '../../src/http/access/access.ts';
import { metricsRoute } from '../../src/http/routes/metrics.ts';
import { usualLimits } from '../../src/http/server/limits.ts';
import { type Certificates, createCertificates, hasOpenssl, withoutOpenssl } from '../api/certificates.ts';
import { eventually } from '../support/eventually.ts';
import { serve } from './serve.ts';

let certificates: Certificates;
beforeAll(() => {
  certificates = createCertificates();
  if (hasOpenssl) certificates.makeSelfSigned('server', '/CN=server');
});
afterAll(() => certificates.remove());

function toTls(): WebTls {
  return {
    cert: certificates.pem('server.pem'),
    key: new Secret(certificates.pem('server.key'), { file: 'server.key' }),
    clientCa: undefined,
    clientAuth: { isRequested: false, isRequired: false, isVerified: false },
    allowedSans: [],
    minVersion: 'TLSv1.2',
    maxVersion: 'TLSv1.3',
    ciphers: undefined,
    prefersOwnCiphers: true,
    curves: undefined,
  };
}

function toAccess() {
  const config = { tls: toTls(), headers: new Map(), users: new Map(), rateLimit: undefined };
  return createAccess({
    config,
    openPaths: [],
    clock: { ticks: () => 0, nextTurn: async () => {} },
    onRefused: () => {},
  });
}

async function openTls(port: number): Promise<TLSSocket> {
  const socket = connect({ host: '127.0.0.1', port, ca: certificates.pem('server.pem') });
  socket.on('error', () => {});
  onTestFinished(() => void socket.destroy());
  await once(socket, 'secureConnect');
  return socket;
}

const wish = 'GET /metrics HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n';

describe.skipIf(!hasOpenssl)(`http/server, crowded over TLS${withoutOpenssl}`, () => {
  it('closes clients without a request first', async () => {
    const router = Router();
    router.get('/metrics', (_request, response) => response.type('text/plain').send('up 1\n'));
    const { port } = await serve([router], {
      access: toAccess(),
      limits: { ...usualLimits, silentMs: 0, connections: 8 },
    });
    const ask = async (socket: TLSSocket): Promise<string> => {
      socket.write('GET /metrics HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n');
      const [answer] = (await once(socket, 'data')) as [Buffer];
      return answer.toString().split('\r\n', 1)[0] ?? '';
    };

    const asking = await openTls(port);
    expect(await ask(asking)).toBe('HTTP/1.1 200 OK');
    const silent: TLSSocket[] = [];
    for (let count = 0; count < 6; count += 1) silent.push(await openTls(port));
    const cut = silent[0];
    if (cut !== undefined && !cut.destroyed) await once(cut, 'close');

    expect(await ask(asking)).toBe('HTTP/1.1 200 OK');
  });
  it('keeps one piece of the response for a client that stops reading', async () => {
    const chunks = Array.from({ length: 16 }, (_, index) => Buffer.alloc(1_000_000, `automation_up ${index}\n`));
    const stalled = new Set<Socket>();
    const watch = Router().use((request, _response, next) => {
      stalled.add(request.socket);
      next();
    });
    const metrics = metricsRoute({
      path: '/metrics',
      names: () => ({ servers: [], collectors: [] }),
      maxRequests: 1,
      scrape: async () => ({ contentType: 'text/plain', chunks }),
      onBusy: () => {},
    });
    const { port } = await serve([watch, metrics], { access: toAccess() });
    for (let count = 0; count < 40; count += 1) (await openTls(port)).write(wish);
    await eventually(async () => {
      expect(stalled.size).toBe(40);
      for (const { writableLength } of stalled) expect(writableLength).toBeGreaterThan(0);
    });
    const held = [...stalled].reduce((sum, { writableLength }) => sum + writableLength, 0);
    expect(held).toBeLessThan(40 * 65_536);

    const reader = await openTls(port);
    const parts: Buffer[] = [];
    reader.on('data', (part: Buffer) => parts.push(part));
    reader.write(wish);
    await once(reader, 'end');
    const answer = Buffer.concat(parts);
    const body = answer.subarray(answer.indexOf('\r\n\r\n') + 4);
    expect(body.equals(Buffer.concat(chunks))).toBe(true);
  });
});
