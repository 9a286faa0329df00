import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { findTlsProblems } from '../../src/api/wire/tls-material.ts';
import type { WebConfig } from '../../src/domain/web-config.ts';
import { complain, load } from './fixtures.ts';

const hash = '$2y$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW';
const pem = { '/etc/web/server.crt': 'CERT', '/etc/web/server.key': 'KEY', '/ca.crt': 'CA' };
const argv = ['--web.config.file=/etc/web/web.yml'];

function complainAbout(web: string, files = {}): Promise<readonly string[]> {
  return complain({ argv, files: { '/etc/web/web.yml': web, ...pem, ...files } });
}

async function read(web: string): Promise<WebConfig | undefined> {
  return (await load({ argv, files: { '/etc/web/web.yml': web, ...pem } })).config.webConfig;
}

const tls = 'tls_server_config: { cert_file: server.crt, key_file: server.key';

describe('config/web-config', () => {
  it("reads TLS, users, headers and a limit, with paths relative to the file's folder", async () => {
    const config = await read(`
tls_server_config:
  cert_file: server.crt
  key_file: server.key
  client_ca_file: /ca.crt
  client_auth_type: RequireAndVerifyClientCert
  client_allowed_sans: [prometheus.example.org]
  min_version: TLS13
  cipher_suites: [TLS_AES_128_GCM_SHA256, TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256]
  prefer_server_cipher_suites: false
  curve_preferences: [X25519, CurveP256]
http_server_config:
  http2: false
  headers: { X-Frame-Options: sameorigin, Strict-Transport-Security: max-age=31536000, X-XSS-Protection: }
basic_auth_users: { prometheus: ${hash} }
rate_limit: { interval: 100ms, burst: 20 }
`);
    expect(config).toMatchObject({
      tls: {
        cert: 'CERT',
        clientCa: 'CA',
        clientAuth: { isRequested: true, isRequired: true, isVerified: true },
        allowedSans: ['prometheus.example.org'],
        minVersion: 'TLSv1.3',
        maxVersion: 'TLSv1.3',
        ciphers:
          'TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256:ECDHE-RSA-AES128-GCM-SHA256',
        prefersOwnCiphers: false,
        curves: 'X25519:P-256',
      },
      headers: new Map([
        ['X-Frame-Options', 'sameorigin'],
        ['Strict-Transport-Security', 'max-age=31536000'],
      ]),
      rateLimit: { everyMs: 100, burst: 20 },
    });
    expect(config?.tls?.key.reveal()).toBe('KEY');
    expect(config?.users.get('prometheus')?.cost).toBe(5);
  });

  it.each(['', '# nothing yet\n', 'tls_server_config:\nhttp_server_config:\nrate_limit:\n'])(
    'leaves HTTP open to everyone with %j',
    async (web) => {
      const nothing = { tls: undefined, headers: new Map(), users: new Map(), rateLimit: undefined };
      expect(await read(web)).toEqual(nothing);
    },
  );

  it('accepts certificates as text', async () => {
    const block = (name: string): string => `|\n    -----BEGIN ${name}-----\n    ${name}\n`;
    const config = await read(`tls_server_config:\n  cert: ${block('CERTIFICATE')}  key: ${block('PRIVATE KEY')}`);
    expect(config?.tls?.cert).toBe('-----BEGIN CERTIFICATE-----\nCERTIFICATE\n');
    expect(config?.tls?.key.reveal()).toBe('-----BEGIN PRIVATE KEY-----\nPRIVATE KEY\n');
  });

  it('complains about all errors together, without secrets', async () => {
    const complaints = await complainAbout(`tls_server_config:
  cert: planted
  key: planted
  min_version: TLS10
  client_auth_type: RequireClientCertificate
  cipher_suites: [TLS_RSA_WITH_RC4_128_SHA]
  sni: true
http_server_config:
  http2: maybe
  headers: { X-Frame-Options: allow, X-Powered-By: us, Content-Security-Policy: "a\\nb" }
basic_auth_users:
  prometheus: planted
  slow: $2y$20$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW
  "a:b": ${hash}
rate_limit: { interval: 1, burst: many }
basic_auth: {}
`);
    expect(complaints).toEqual([
      '/etc/web/web.yml:2:9 tls_server_config.cert: is not PEM',
      '/etc/web/web.yml:3:8 tls_server_config.key: is not PEM',
      '/etc/web/web.yml:4:16 tls_server_config.min_version: takes one of TLS12, TLS13, found the text "TLS10" (did you mean TLS12?)',
      '/etc/web/web.yml:5:21 tls_server_config.client_auth_type: takes one of NoClientCert, RequestClientCert, RequireAnyClientCert, RequireClientCert, VerifyClientCertIfGiven, RequireAndVerifyClientCert, found the text "RequireClientCertificate" (did you mean RequireClientCert?)',
      expect.stringContaining('web.yml:6:19 tls_server_config.cipher_suites[0]: takes one of '),
      expect.stringContaining('web.yml:7:3 tls_server_config.sni: is not a known key (known here: cert, cert_file, '),
      '/etc/web/web.yml:9:10 http_server_config.http2: takes true or false, found the text "maybe" (write true or false)',
      '/etc/web/web.yml:10:31 http_server_config.headers.X-Frame-Options: takes deny or sameorigin, found the text "allow"',
      '/etc/web/web.yml:10:38 http_server_config.headers.X-Powered-By: is not a header that can be set (known here: Content-Security-Policy, Strict-Transport-Security, X-Content-Type-Options, X-Frame-Options, X-XSS-Protection)',
      '/etc/web/web.yml:10:81 http_server_config.headers.Content-Security-Policy: contains a character that is not allowed in a header, or too many',
      '/etc/web/web.yml:12:15 basic_auth_users.prometheus: is not a bcrypt hash of the form $2y$10$… (htpasswd -nBC 10 NAME prints one)',
      '/etc/web/web.yml:13:9 basic_auth_users.slow: has the cost 20 (at most 16: each step doubles the time)',
      '/etc/web/web.yml:14:3 basic_auth_users."a:b": is not a user name (it must not have a colon)',
      '/etc/web/web.yml:15:25 rate_limit.interval: takes a duration, found the number 1 (write 1s for seconds, 1m for minutes)',
      '/etc/web/web.yml:15:35 rate_limit.burst: takes a whole number from 0 to 1000000, found the text "many"',
      '/etc/web/web.yml:16:1 basic_auth: is not a known key (known here: basic_auth_users, http_server_config, rate_limit, tls_server_config)',
    ]);
    expect(complaints.join('\n')).not.toContain('planted');
  });

  it.each([
    ['a key without a certificate', 'tls_server_config: { key_file: server.key }', 'cert_file is missing (or cert)'],
    ['a certificate without a key', 'tls_server_config: { cert_file: server.crt }', 'key_file is missing (or key)'],
    [
      'authorities although no certificate is checked',
      `${tls}, client_ca_file: /ca.crt }`,
      'tls_server_config.client_ca_file: is not used (set client_auth_type: RequireAndVerifyClientCert)',
    ],
    [
      'a check of certificates without authorities',
      `${tls}, client_auth_type: RequireAndVerifyClientCert }`,
      'tls_server_config.client_auth_type: needs the certificate authorities of the clients (set client_ca_file)',
    ],
    [
      'a check of given certificates without authorities',
      `${tls}, client_auth_type: VerifyClientCertIfGiven }`,
      'tls_server_config.client_auth_type: needs the certificate authorities of the clients (set client_ca_file)',
    ],
    [
      'allowed names although clients need no certificate',
      `${tls}, client_ca_file: /ca.crt, client_auth_type: VerifyClientCertIfGiven, client_allowed_sans: [a] }`,
      'tls_server_config.client_allowed_sans: is not used: clients may connect without a certificate (set client_auth_type: RequireAndVerifyClientCert)',
    ],
    [
      'a version range without a version',
      `${tls}, min_version: TLS13, max_version: TLS12 }`,
      'tls_server_config.max_version: is lower than min_version (at least TLS13)',
    ],
    [
      'a limit that refuses every request',
      'rate_limit: { interval: 1s }',
      'would refuse every request (set rate_limit.burst, at least 1)',
    ],
    [
      'a certificate given twice',
      `${tls}, cert: "-----BEGIN " }`,
      'tls_server_config.cert_file: excludes cert (remove one of them)',
    ],
    [
      'a file that is not there',
      'tls_server_config: { cert_file: other.crt, key_file: server.key }',
      'tls_server_config.cert_file: the file "/etc/web/other.crt" does not exist',
    ],
  ])('complains about %s', async (_, web, complaint) => {
    const [first, ...others] = await complainAbout(web);
    expect(first).toContain(complaint);
    expect(others).toEqual([]);
  });

  it('complains about certificates that cannot be used', async () => {
    const files = { '/etc/web/web.yml': `${tls} }`, ...pem };
    expect(await complain({ argv, files, validateTls: findTlsProblems })).toEqual([
      '/etc/web/web.yml:1:33 tls_server_config.cert_file: contains no certificate in PEM, which begins with -----BEGIN CERTIFICATE-----',
      '/etc/web/web.yml:1:55 tls_server_config.key_file: contains no private key in PEM',
    ]);
  });

  it('complains about the configuration file and the web configuration together', async () => {
    const files = { '/etc/web/web.yml': `${tls}, client_ca_file: /ca.crt }`, ...pem };
    const complaints = await complain({ argv, files, yaml: 'log: { level: loud }\n' });
    expect(complaints.map((line) => line.split(': ')[0])).toEqual([
      'config.yaml:1:15 log.level',
      '/etc/web/web.yml:1:83 tls_server_config.client_ca_file',
    ]);
  });

  it('complains about a missing file and about other errors', async () => {
    expect(await complain({ argv: ['--web.config.file=/nowhere.yml'], yaml: 'log: { level: loud }\n' })).toEqual([
      '--web.config.file: the file "/nowhere.yml" does not exist',
      'config.yaml:1:15 log.level: takes one of debug, info, warn, error, found the text "loud"',
    ]);
  });

  it('reads the web configuration that a flag, a variable or the file names', async () => {
    const files = { '/etc/web/web.yml': `basic_auth_users: { prometheus: ${hash} }` };
    const users = async (world: Parameters<typeof load>[0]) =>
      (await load({ files, ...world })).config.webConfig?.users.size;
    expect(await users({ argv })).toBe(1);
    expect(await users({ env: { AUTOMATION_EXPORTER_WEB_CONFIG_FILE: '/etc/web/web.yml' } })).toBe(1);
    expect(await users({ yaml: 'web: { config_file: /etc/web/web.yml }\n' })).toBe(1);
    expect(await users({})).toBeUndefined();
  });

  it('accepts the example of the documentation', async () => {
    const page = readFileSync(new URL('../../docs/web-configuration.md', import.meta.url), 'utf8');
    const [, example = ''] = /```yaml\n([^]*?)```/.exec(page) ?? [];
    const files = { '/etc/web/exporter.crt': 'CERT', '/etc/web/exporter.key': 'KEY' };
    expect(await complainAbout(example, files)).toEqual([]);
    expect(example).toContain('basic_auth_users:');
  });
});
