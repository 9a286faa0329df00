import { describe, expect, it } from 'vitest';
import { toNetwork } from '../../../src/http/access/access.ts';

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
  ])('counts %s as %s', (address, network) => {
    expect(toNetwork(address)).toBe(network);
  });
});
