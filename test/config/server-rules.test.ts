import { describe, expect, it } from 'vitest';
import { complain } from './fixtures.ts';

/** A file with one server that has an address and more options. */
function watch(rest: string, url = 'https://a.example.org'): string {
  return `servers:\n  - url: ${url}\n${rest.replaceAll(/^/gm, '    ')}\n`;
}

const files = { '/run/ca.pem': '', '/run/cert.pem': '', '/run/key.pem': '' };

describe('config/server-rules', () => {
  it.each([
    {
      said: 'nothing',
      rest: 'name: a',
      complaints: [
        'config.yaml:2:5 servers[0]: has no authentication method (give one of token_file, username with password_file, bearer_token_file; or set AUTOMATION_EXPORTER_TOKEN_FILE)',
      ],
    },
    {
      said: 'a token and a bearer token',
      rest: 'bearer_token_file: /run/token\ntoken_file: /run/token',
      complaints: [
        'config.yaml:3:24 servers[0].bearer_token_file: is a second authentication method (leave it out, or config.yaml:4:17 servers[0].token_file)',
      ],
    },
    {
      said: 'a token and a user name alone',
      rest: 'token_file: /run/token\nusername: exporter',
      complaints: [
        'config.yaml:4:15 servers[0].username: is a second authentication method (leave it out, or config.yaml:3:17 servers[0].token_file)',
      ],
    },
    {
      said: 'all three',
      rest: 'token_file: /run/token\nusername: exporter\npassword_file: /run/token\nbearer_token_file: /run/token',
      complaints: [
        'config.yaml:4:15 servers[0].username: is a second authentication method (leave it out, or config.yaml:3:17 servers[0].token_file)',
        'config.yaml:6:24 servers[0].bearer_token_file: is a second authentication method (leave it out, or config.yaml:3:17 servers[0].token_file)',
      ],
    },
    {
      said: 'a user without a password',
      rest: 'username: exporter',
      complaints: [
        'config.yaml:3:15 servers[0].username: needs password_file beside it (or set AUTOMATION_EXPORTER_PASSWORD_FILE)',
      ],
    },
    {
      said: 'a password without a user',
      rest: 'password_file: /run/token',
      complaints: [
        'config.yaml:3:20 servers[0].password_file: needs username beside it (or set AUTOMATION_EXPORTER_USERNAME)',
      ],
    },
    {
      said: 'a token file without a value',
      rest: 'token_file:',
      complaints: ['config.yaml:3:5 servers[0].token_file: has no value (write one, or remove the key)'],
    },
    {
      said: 'a user with a password file without a value',
      rest: 'username: exporter\npassword_file:',
      complaints: ['config.yaml:4:5 servers[0].password_file: has no value (write one, or remove the key)'],
    },
    {
      said: 'a bearer token that does not exist',
      rest: 'bearer_token_file: /run/gone',
      complaints: ['config.yaml:3:24 servers[0].bearer_token_file: the file "/run/gone" does not exist'],
    },
  ])('requires exactly one authentication method: $said', async ({ rest, complaints }) => {
    expect(await complain({ yaml: watch(rest) })).toEqual(complaints);
  });

  it.each([
    {
      said: 'a bearer token beside the token of the file',
      yaml: watch('token_file: /run/token'),
      env: { AUTOMATION_EXPORTER_BEARER_TOKEN: 'hunter2' },
      complaints: [
        'AUTOMATION_EXPORTER_BEARER_TOKEN: is a second authentication method (leave it out, or config.yaml:3:17 servers[0].token_file)',
      ],
    },
    {
      said: 'a token beside the user of the file',
      yaml: watch('username: exporter\npassword_file: /run/token'),
      env: { AUTOMATION_EXPORTER_TOKEN: 'hunter2' },
      complaints: [
        'config.yaml:3:15 servers[0].username: is a second authentication method (leave it out, or AUTOMATION_EXPORTER_TOKEN)',
      ],
    },
    {
      said: 'a user alone',
      env: { AUTOMATION_EXPORTER_URL: 'http://a', AUTOMATION_EXPORTER_USERNAME: 'exporter' },
      complaints: ['AUTOMATION_EXPORTER_USERNAME: needs AUTOMATION_EXPORTER_PASSWORD_FILE beside it'],
    },
    {
      said: 'a password alone',
      env: { AUTOMATION_EXPORTER_URL: 'http://a', AUTOMATION_EXPORTER_PASSWORD: 'hunter2' },
      complaints: ['AUTOMATION_EXPORTER_PASSWORD: needs AUTOMATION_EXPORTER_USERNAME beside it'],
    },
    {
      said: 'a password for the user of the file',
      yaml: watch('username: exporter'),
      env: { AUTOMATION_EXPORTER_PASSWORD: 'hunter2' },
      complaints: [],
    },
    {
      said: 'a certificate alone',
      yaml: watch('token_file: /run/token'),
      env: { AUTOMATION_EXPORTER_TLS_CERT_FILE: '/run/cert.pem' },
      complaints: ['AUTOMATION_EXPORTER_TLS_CERT_FILE: needs AUTOMATION_EXPORTER_TLS_KEY_FILE beside it'],
    },
  ])('reads authentication methods from the environment too: $said', async ({ yaml = '', env, complaints }) => {
    expect(await complain({ yaml, env, files })).toEqual(complaints);
  });

  it.each([
    {
      said: 'a certificate without its key',
      tls: '{ cert_file: /run/cert.pem }',
      complaints: [
        'config.yaml:4:23 servers[0].tls.cert_file: needs tls.key_file beside it (or set AUTOMATION_EXPORTER_TLS_KEY_FILE)',
      ],
    },
    {
      said: 'a key without its certificate',
      tls: '{ key_file: /run/key.pem }',
      complaints: [
        'config.yaml:4:22 servers[0].tls.key_file: needs tls.cert_file beside it (or set AUTOMATION_EXPORTER_TLS_CERT_FILE)',
      ],
    },
    {
      said: 'files that do not exist',
      tls: '{ ca_file: /run/a.pem, cert_file: /run/b.pem, key_file: no-path }',
      complaints: [
        'config.yaml:4:21 servers[0].tls.ca_file: the file "/run/a.pem" does not exist',
        'config.yaml:4:44 servers[0].tls.cert_file: the file "/run/b.pem" does not exist',
        `config.yaml:4:66 servers[0].tls.key_file: the file, relative to "${process.cwd()}", does not exist`,
      ],
    },
    {
      said: 'everything',
      tls: '{ ca_file: /run/ca.pem, cert_file: /run/cert.pem, key_file: /run/key.pem, server_name: a, insecure_skip_verify: true }',
      complaints: [],
    },
    { said: 'nothing', tls: '{}', complaints: [] },
  ])('requires complete tls options: $said', async ({ tls, complaints }) => {
    expect(await complain({ yaml: watch(`token_file: /run/token\ntls: ${tls}`), files })).toEqual(complaints);
  });

  it('refuses tls options of an http address', async () => {
    const tls = 'token_file: /run/token\ntls: { ca_file: /run/ca.pem, server_name: a, insecure_skip_verify: true }';
    const why = 'requires https, but the url begins with http (write https in the url, or remove tls)';
    expect(await complain({ yaml: watch(tls, 'HTTP://a.example.org'), files })).toEqual([
      `config.yaml:4:21 servers[0].tls.ca_file: ${why}`,
      `config.yaml:4:47 servers[0].tls.server_name: ${why}`,
      `config.yaml:4:72 servers[0].tls.insecure_skip_verify: ${why}`,
    ]);
  });

  it('accepts enabled verification for any address', async () => {
    const tls = 'token_file: /run/token\ntls: { insecure_skip_verify: false }';
    expect(await complain({ yaml: watch(tls, 'http://a.example.org') })).toEqual([]);
  });

  it('reports one error if a server is not a map', async () => {
    expect(await complain({ yaml: 'servers: [k3y]' })).toEqual([
      'config.yaml:1:11 servers[0]: takes a map, found a text (write its keys below it, indented)',
    ]);
  });

  it('complains about every error in TLS files', async () => {
    const tls = 'tls: { ca_file: /run/ca.pem, cert_file: /run/cert.pem, key_file: /run/key.pem }';
    const validateTls = ({ ca, key }: { readonly ca?: string; readonly key?: string }) => [
      { part: 'ca' as const, says: `holds ${String(ca)}` },
      { part: 'key' as const, says: `holds ${String(key)}` },
    ];
    const held = { '/run/ca.pem': 'one', '/run/cert.pem': 'two', '/run/key.pem': 'three' };
    expect(await complain({ yaml: watch(`token_file: /run/gone\n${tls}`), files: held, validateTls })).toEqual([
      'config.yaml:3:17 servers[0].token_file: the file "/run/gone" does not exist',
      'config.yaml:4:21 servers[0].tls.ca_file: the file "/run/ca.pem" holds one',
      'config.yaml:4:70 servers[0].tls.key_file: the file "/run/key.pem" holds three',
    ]);
  });

  it.each(['/api', '/api/', '/sub/api/47'])(
    'refuses an address that ends with the path of the API: %s',
    async (path) => {
      const end = path.replace(/^\/sub|\/$/g, '');
      expect(await complain({ yaml: watch('token_file: /run/token', `https://a.example.org${path}`) })).toEqual([
        `config.yaml:2:10 servers[0].url: ends with ${end}, which the exporter adds itself (leave ${end} out)`,
      ]);
      expect(await complain({ yaml: watch('token_file: /run/token', 'https://api.example.org/my-api') })).toEqual([]);
    },
  );
});
