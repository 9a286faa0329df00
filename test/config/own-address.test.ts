import { describe, expect, it } from 'vitest';
import { toOwnAddress } from '../../src/config/values/address.ts';

const web = { telemetryPath: '/metrics', externalUrl: undefined, enableLifecycle: false, maxRequests: 40 };

describe('config/own-address', () => {
  it.each([
    [undefined, '/', 'http://localhost:9720'],
    ['0.0.0.0', '/', 'http://localhost:9720'],
    ['::', '/', 'http://localhost:9720'],
    ['127.0.0.1', '/', 'http://127.0.0.1:9720'],
    ['::1', '/here/too', 'http://[::1]:9720/here/too'],
  ])('returns an address that browsers can open for %s and %s: %s', (host, routePrefix, address) => {
    expect(toOwnAddress({ ...web, listenAddress: { host, port: 9720 }, routePrefix })).toBe(address);
  });

  it('uses https if TLS is configured', () => {
    const listenAddress = { host: undefined, port: 9720 };
    expect(toOwnAddress({ ...web, listenAddress, routePrefix: '/' }, { isTls: true })).toBe('https://localhost:9720');
  });

  it('contains the port that the system chose', () => {
    const listenAddress = { host: '127.0.0.1', port: 0 };
    expect(toOwnAddress({ ...web, listenAddress, routePrefix: '/' }, { port: 4711 })).toBe('http://127.0.0.1:4711');
  });
});
