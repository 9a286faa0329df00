import { describe, expect, it } from 'vitest';
import { toEffectiveYaml } from '../../src/config/show/effective-config.ts';
import { toConfigDigest } from '../../src/config/show/effective-settings.ts';
import { load } from './fixtures.ts';

const yaml = `
servers:
  - { name: prod, url: https://prod.example.org/, token_file: /run/token, timeout: 90s, api_version: 47 }
  - { name: "yes", url: "http://[::1]:4440", token_file: /run/token }
web: { listen_address: "[::1]:9720", external_url: https://exporter.example.org }
collectors: { project-nodes: { enabled: true, every: 60m } }
`;

/** docs/configuration.md has the other defaults. */
const effective = `servers:
  - name: prod
    url: https://prod.example.org
    token_file: /run/token
    dialect: auto
    api_version: 47
    timeout: 1m30s
    tls:
      insecure_skip_verify: false
    namespace: https://prod.example.org
    budget:
      requests_per_second: 10
      concurrency: 4
    labels: {}
    projects:
      include:
        - .*
      exclude: []
      labels: []
    members: []
  - name: yes
    url: http://[::1]:4440
    token_file: /run/token
    dialect: auto
    api_version: auto
    timeout: 10s
    tls:
      insecure_skip_verify: false
    namespace: http://[::1]:4440
    budget:
      requests_per_second: 10
      concurrency: 4
    labels: {}
    projects:
      include:
        - .*
      exclude: []
      labels: []
    members: []
collectors:
  execution-mode:
    enabled: true
    every: 15s
    max_series: 10000
  system-info:
    enabled: true
    every: 30s
    max_series: 10000
  project-nodes:
    enabled: true
    every: 1h
    max_series: 10000
`;

describe('config/effective-config', () => {
  it('writes the configuration that is in use', async () => {
    const text = toEffectiveYaml((await load({ yaml })).config);
    expect(text.slice(0, effective.length)).toBe(effective);
    expect(text).toContain('web:\n  listen_address: "[::1]:9720"\n');
    expect(text).toContain('\n  external_url: https://exporter.example.org\n');
    expect(text).toContain('executions:\n  overlap: 2m\n');
    expect(text).toContain('\n    max_bytes: 256MiB\n');
  });

  it('writes a configuration that loads again without a difference', async () => {
    const first = (await load({ yaml })).config;
    const second = (await load({ yaml: toEffectiveYaml(first) })).config;
    expect(toEffectiveYaml(second)).toBe(toEffectiveYaml(first));
    expect(JSON.stringify(second)).toBe(JSON.stringify(first));
  });

  it('names the variable of a secret without its value', async () => {
    const env = { AUTOMATION_EXPORTER_URL: 'http://localhost:4440', AUTOMATION_EXPORTER_TOKEN: 'canary-4711' };
    const { config } = await load({ env, argv: ['--collector.disable-defaults'] });
    const text = toEffectiveYaml(config);
    expect(text).toContain('\n    members: []\n    # token: <secret> from AUTOMATION_EXPORTER_TOKEN\ncollectors:\n');
    expect(text).not.toMatch(/canary|enabled: true\n    every/);
    expect(toEffectiveYaml((await load({ env, yaml: text })).config)).toBe(text);
  });

  it('writes all options of a server, with the sources of its secrets', async () => {
    const full = `servers:
  - name: prod
    url: https://prod.example.org
    username: exporter
    password_file: /run/password
    dialect: auto
    api_version: auto
    timeout: 10s
    tls:
      ca_file: /etc/ca.pem
      cert_file: /etc/cert.pem
      key_file: /etc/key.pem
      server_name: inner.example.org
      insecure_skip_verify: true
    proxy_url: http://forward.example.org:3128
    namespace: https://prod.example.org
    budget:
      requests_per_second: 0.5
      concurrency: 1
    labels: {}
    projects:
      include:
        - .*
      exclude: []
      labels: []
    members: []
`;
    const files = {
      '/run/password': 'canary-4711',
      '/etc/ca.pem': '',
      '/etc/cert.pem': '',
      '/etc/key.pem': 'canary-4711',
    };
    expect(toEffectiveYaml((await load({ yaml: full, files })).config).split('collectors:')[0]).toBe(full);
  });

  it.each([
    { variable: 'AUTOMATION_EXPORTER_PASSWORD', env: { AUTOMATION_EXPORTER_USERNAME: 'exporter' }, name: 'password' },
    { variable: 'AUTOMATION_EXPORTER_BEARER_TOKEN', env: {}, name: 'bearer_token' },
  ])('writes the $name as in the file', async ({ variable, env, name }) => {
    const all = { ...env, AUTOMATION_EXPORTER_URL: 'http://localhost:4440', [variable]: 'canary-4711' };
    const yaml = toEffectiveYaml((await load({ env: all })).config);
    expect(yaml).toContain(`\n    # ${name}: <secret> from ${variable}\n`);
    expect(yaml).not.toContain('canary');
  });

  it('omits options that a switch excludes', async () => {
    const { config } = await load({ argv: ['--state.memory'], yaml: 'state: { dir: /x }' });
    expect(toEffectiveYaml(config)).toMatch(/\nstate:\n {2}memory: true\n {2}postgres:\n {4}port: 5432\n/);
  });

  it('computes the same digest for exporters that watch the same servers', async () => {
    const digestOf = async (yaml: string) =>
      toConfigDigest((await load({ yaml, files: { '/token': 'secret-1', '/other': 'secret-2' } })).config);
    const servers = "servers: [{ url: 'https://a.example', token_file: /token }]";
    const first = await digestOf(servers);
    expect(first).toMatch(/^[0-9a-f]{16}$/);
    expect(await digestOf(`${servers}\nweb: { external_url: 'https://one.example' }\nstate: { dir: /two }`)).toBe(
      first,
    );
    expect(await digestOf(servers.replace('/token', '/other'))).toBe(first);
    expect(await digestOf(`${servers}\nexecutions: { backfill: 1h }`)).not.toBe(first);
    expect(await digestOf(servers.replace('a.example', 'b.example'))).not.toBe(first);
  });

  it('computes the same digest for servers in any order', async () => {
    const [a, b] = ['a', 'b'].map((name) => `{ name: ${name}, url: 'https://${name}.example', token_file: /token }`);
    const [first, second] = await Promise.all(
      [`[${a}, ${b}]`, `[${b}, ${a}]`].map((servers) =>
        load({ yaml: `servers: ${servers}`, files: { '/token': 'secret-1' } }),
      ),
    );
    expect(first && toConfigDigest(first.config)).toBe(second && toConfigDigest(second.config));
  });
});
