import { createServer } from 'node:https';
import tls from 'node:tls';
import { describe, expect, it, vi } from 'vitest';
import { createTransport } from '../../src/api/wire/transport.ts';
import { systemClock } from '../../src/domain/system-clock.ts';
import { listen } from '../support/listen.ts';
import { createCertificates, hasOpenssl, withoutOpenssl } from './certificates.ts';

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
