import { describe, expect, it } from 'vitest';
import { refuseCertificate, type Shown } from '../../../src/http/access/access.ts';

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
    { client: 'no certificate', where: 'none is required', clientAuth: never },
    { client: 'no certificate', where: 'one is verified if given', clientAuth: ifGiven },
    { client: 'no certificate', where: 'any is required', clientAuth: any, reason: lacking },
    { client: 'no certificate', where: 'a good one is required', clientAuth: verified, reason: lacking },
    { client: 'a foreign one', where: 'none is required', clientAuth: never, shown: foreign },
    {
      client: 'a foreign one',
      where: 'one is verified if given',
      clientAuth: ifGiven,
      shown: foreign,
      reason: unknown,
    },
    { client: 'a foreign one', where: 'any is required', clientAuth: any, shown: foreign },
    { client: 'a foreign one', where: 'a good one is required', clientAuth: verified, shown: foreign, reason: unknown },
    { client: 'a good one', where: 'a good one is required', clientAuth: verified, shown: good },
    {
      client: 'a good one',
      where: 'its name is allowed',
      clientAuth: verified,
      allowedSans: ['prometheus.example.org'],
      shown: good,
    },
    {
      client: 'a good one',
      where: 'its URI is allowed',
      clientAuth: verified,
      allowedSans: ['x', 'spiffe://here/prometheus'],
      shown: good,
    },
    {
      client: 'a good one',
      where: 'another name is allowed',
      clientAuth: verified,
      allowedSans: ['example.org'],
      shown: good,
      reason: others,
    },
    {
      client: 'a foreign one',
      where: 'its name is allowed',
      clientAuth: verified,
      allowedSans: ['prometheus.example.org'],
      shown: foreign,
      reason: unknown,
    },
  ])('decides on $client if $where', ({ clientAuth, allowedSans = [], shown, reason }) => {
    expect(refuseCertificate({ clientAuth, allowedSans }, shown)).toBe(reason);
  });
});
