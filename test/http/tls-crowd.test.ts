import { once } from 'node:events';
import { connect, type TLSSocket } from 'node:tls';
import { Router } from 'express';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { Secret } from '../../src/config/secret.ts';
import type { WebTls } from '../../src/config/web-config.ts';
import { createAccess } from '../../src/http/access/access.ts';
import { usualLimits } from '../../src/http/server/limits.ts';
import { type Certificates, createCertificates, hasOpenssl, withoutOpenssl } from '../api/certificates.ts';
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

describe.skipIf(!hasOpenssl)(`http/server, crowded over TLS${withoutOpenssl}`, () => {
  it('keeps who asks rather than who never did', async () => {
    const router = Router();
    router.get('/metrics', (_request, response) => response.type('text/plain').send('up 1\n'));
    const config = { tls: toTls(), headers: new Map(), users: new Map(), rateLimit: undefined };
    const clock = { ticks: () => 0, nextTurn: async () => {} };
    const access = createAccess({ config, openPaths: [], clock, onRefused: () => {} });
    const { port } = await serve([router], { access, limits: { ...usualLimits, silentMs: 0, connections: 8 } });
    const open = async (): Promise<TLSSocket> => {
      const socket = connect({ host: '127.0.0.1', port, ca: certificates.pem('server.pem') });
      socket.on('error', () => {});
      onTestFinished(() => void socket.destroy());
      await once(socket, 'secureConnect');
      return socket;
    };
    const ask = async (socket: TLSSocket): Promise<string> => {
      socket.write('GET /metrics HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n');
      const [answer] = (await once(socket, 'data')) as [Buffer];
      return answer.toString().split('\r\n', 1)[0] ?? '';
    };

    const asking = await open();
    expect(await ask(asking)).toBe('HTTP/1.1 200 OK');
    const silent: TLSSocket[] = [];
    for (let count = 0; count < 6; count += 1) silent.push(await open());
    const cut = silent[0];
    if (cut !== undefined && !cut.destroyed) await once(cut, 'close');

    expect(await ask(asking)).toBe('HTTP/1.1 200 OK');
  });
});
