import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findTlsProblems } from '../../src/api/wire/tls-material.ts';
import { type Certificates, createCertificates, hasOpenssl, withoutOpenssl } from './certificates.ts';

let certificates: Certificates | undefined;
const pem = (file: string): string => certificates?.pem(file) ?? '';

beforeAll(() => {
  if (!hasOpenssl) return;
  certificates = createCertificates();
  certificates.makeSelfSigned('ca', '/CN=authority');
  certificates.makeSelfSigned('one', '/CN=one');
  certificates.makeSelfSigned('two', '/CN=two');
});
afterAll(() => certificates?.remove());

describe.skipIf(!hasOpenssl)(`api/tls-material${withoutOpenssl}`, () => {
  it('accepts matching parts, with a chain and several authorities', () => {
    expect(findTlsProblems({})).toEqual([]);
    const ca = `of the house\n${pem('ca.pem')}\n${pem('two.pem')}`;
    const cert = `${pem('one.pem')}${pem('ca.pem')}`;
    expect(findTlsProblems({ ca, cert, key: pem('one.key') })).toEqual([]);
  });

  it('reports together all parts that are not PEM', () => {
    expect(findTlsProblems({ ca: 'hello', cert: pem('one.key'), key: pem('one.pem') })).toEqual([
      { part: 'ca', says: 'contains no certificate in PEM, which begins with -----BEGIN CERTIFICATE-----' },
      { part: 'cert', says: 'contains no certificate in PEM, which begins with -----BEGIN CERTIFICATE-----' },
      { part: 'key', says: 'contains no private key in PEM' },
    ]);
  });

  it('reports a key that belongs to another certificate', () => {
    expect(findTlsProblems({ cert: pem('one.pem'), key: pem('two.key') })).toEqual([
      { part: 'key', says: 'contains a key that does not belong to the certificate in tls.cert_file' },
    ]);
  });

  it('reports a certificate that was truncated at any position', () => {
    const cut = pem('ca.pem').replace(/\n[^-]{40}/, '\n');
    expect(findTlsProblems({ ca: `${pem('two.pem')}${cut}` })).toEqual([
      { part: 'ca', says: 'contains a certificate that cannot be read' },
    ]);
  });
});
