import { describe, expect, it } from 'vitest';
import { createRateLimit, refuseCertificate, type Shown, toNetwork } from '../../../src/http/access/access.ts';

describe('http/access/client-network', () => {
  it.each([
    ['192.0.2.7', '192.0.2.7'],
    ['::ffff:192.0.2.7', '192.0.2.7'],
    ['2001:db8:0:1::7', '2001:db8:0:1'],
    ['2001:0db8:0000:0001:aaaa:bbbb:cccc:dddd', '2001:db8:0:1'],
    ['2001:db8::1:0:0:7', '2001:db8:0:0'],
    ['fe80::1%eth0', 'fe80:0:0:0'],
    ['::1', '0:0:0:0'],
    [undefined, ''],
  ])('counts requests from the address %s for the network %s', (address, network) => {
    expect(toNetwork(address)).toBe(network);
  });
});

const limit = { everyMs: 1000, burst: 3 };

describe('http/access/rate-limit', () => {
  it('allows a burst, and then one request in each interval', () => {
    let ticks = 0;
    const isAllowed = createRateLimit(() => ticks);
    const ask = (times: number): boolean[] => Array.from({ length: times }, () => isAllowed(limit, undefined));

    expect(ask(4)).toEqual([true, true, true, false]);
    ticks += 999;
    expect(ask(1)).toEqual([false]);
    ticks += 1;
    expect(ask(2)).toEqual([true, false]);
    ticks += 60_000;
    expect(ask(4)).toEqual([true, true, true, false]);
  });

  it('serves a known client without delay while other clients send many requests', () => {
    const isAllowed = createRateLimit(() => 0);
    const ask = (client?: string): boolean[] => Array.from({ length: 4 }, () => isAllowed(limit, client));

    expect(ask()).toEqual([true, true, true, false]);
    expect(ask('user prometheus')).toEqual([true, true, true, false]);
    expect(ask('user grafana')).toEqual([true, true, true, false]);
  });

  it('remembers the last 1,000 clients', () => {
    const isAllowed = createRateLimit(() => 0);
    const once = { everyMs: 1000, burst: 1 };
    for (let client = 0; client < 1000; client += 1) isAllowed(once, String(client));
    expect(isAllowed(once, '0')).toBe(false);
    isAllowed(once, '1000');
    expect(isAllowed(once, '0')).toBe(false);
    expect(isAllowed(once, '1')).toBe(true);
  });
});

const never = { isRequested: true, isRequired: false, isVerified: false };
const ifGiven = { ...never, isVerified: true };
const any = { ...never, isRequired: true };
const verified = { ...any, isVerified: true };

const good: Shown = {
  isVerified: true,
  altNames: ['prometheus.example.org', 'spiffe://here/prometheus'],
  fingerprint: 'AB:CD',
};
const foreign: Shown = { ...good, isVerified: false };

const lacking = 'a client certificate is required';
const unknown = 'the client certificate is not signed by a known authority, or has expired';
const others = 'the client certificate has none of the allowed names';

type Row = {
  client: string;
  where: string;
  clientAuth: typeof never;
  allowedSans?: readonly string[];
  shown?: Shown;
  reason?: string;
};

describe('http/access/client-certificate', () => {
  it.each<Row>([
    { client: 'no certificate', where: 'no certificate is required', clientAuth: never },
    { client: 'no certificate', where: 'a given certificate is verified', clientAuth: ifGiven },
    { client: 'no certificate', where: 'any certificate is required', clientAuth: any, reason: lacking },
    { client: 'no certificate', where: 'a verified certificate is required', clientAuth: verified, reason: lacking },
    { client: 'a foreign certificate', where: 'no certificate is required', clientAuth: never, shown: foreign },
    {
      client: 'a foreign certificate',
      where: 'a given certificate is verified',
      clientAuth: ifGiven,
      shown: foreign,
      reason: unknown,
    },
    { client: 'a foreign certificate', where: 'any certificate is required', clientAuth: any, shown: foreign },
    {
      client: 'a foreign certificate',
      where: 'a verified certificate is required',
      clientAuth: verified,
      shown: foreign,
      reason: unknown,
    },
    { client: 'a good certificate', where: 'a verified certificate is required', clientAuth: verified, shown: good },
    {
      client: 'a good certificate',
      where: 'its name is allowed',
      clientAuth: verified,
      allowedSans: ['prometheus.example.org'],
      shown: good,
    },
    {
      client: 'a good certificate',
      where: 'its URI is allowed',
      clientAuth: verified,
      allowedSans: ['x', 'spiffe://here/prometheus'],
      shown: good,
    },
    {
      client: 'a good certificate',
      where: 'another name is allowed',
      clientAuth: verified,
      allowedSans: ['example.org'],
      shown: good,
      reason: others,
    },
    {
      client: 'a foreign certificate',
      where: 'its name is allowed',
      clientAuth: verified,
      allowedSans: ['prometheus.example.org'],
      shown: foreign,
      reason: unknown,
    },
  ])('answers $client if $where', ({ clientAuth, allowedSans = [], shown, reason }) => {
    expect(refuseCertificate({ clientAuth, allowedSans }, shown)).toBe(reason);
  });
});
