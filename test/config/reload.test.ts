import { describe, expect, it } from 'vitest';
import { reloadConfig } from '../../src/config/reload.ts';
import { formatComplaint } from '../../src/domain/complaint.ts';
import { load, loadIn } from './fixtures.ts';

const before = `servers:
  - { name: prod, url: https://prod.example.org, token_file: /run/token }
web: { enable_lifecycle: false }
log: { level: info }
`;

async function reload(yaml: string) {
  const { config } = await load({ yaml: before });
  return { running: config, reloaded: await reloadConfig(() => loadIn({ yaml }), config) };
}

describe('config/reload', () => {
  it('applies changes that are possible at run time', async () => {
    const { reloaded } = await reload(
      `${before.replace('prod.', 'other.').replace('false', 'true').replace('info', 'debug')}collectors: { system-info: { every: 1m } }`,
    );
    expect(reloaded).toMatchObject({
      ok: true,
      warnings: [],
      config: {
        servers: [{ name: 'prod', url: 'https://other.example.org' }],
        collectors: { 'system-info': { everyMs: 60_000 } },
        web: { enableLifecycle: true },
        log: { level: 'debug' },
      },
    });
  });

  it('warns of each option that needs a restart', async () => {
    const { running, reloaded } = await reload(`${before.split('web')[0]}web:
  listen_address: ":1"
  telemetry_path: /m
  route_prefix: /x
  max_requests: 20
log: { level: debug, format: json }
state: { dir: /elsewhere }
`);
    expect(reloaded.ok && reloaded.warnings.map(formatComplaint)).toEqual([
      'config.yaml:4:19 web.listen_address: takes effect only after a restart',
      'config.yaml:5:19 web.telemetry_path: takes effect only after a restart',
      'config.yaml:6:17 web.route_prefix: takes effect only after a restart',
      'config.yaml:7:17 web.max_requests: takes effect only after a restart',
      'config.yaml:8:30 log.format: takes effect only after a restart',
      'config.yaml:9:15 state.dir: takes effect only after a restart',
    ]);
    expect(reloaded.ok && reloaded.config).toMatchObject({
      web: running.web,
      log: { level: 'debug', format: 'logfmt' },
      state: running.state,
    });
  });

  it('warns that the removal of an option needs a restart', async () => {
    const { config } = await load({ yaml: `${before}state: { memory: true }` });
    const reloaded = await reloadConfig(() => loadIn({ yaml: before }), config);
    expect(reloaded.ok && reloaded.warnings.map(formatComplaint)).toEqual([
      'state.memory: takes effect only after a restart',
    ]);
    expect(reloaded.ok && reloaded.config.state).toEqual(config.state);
  });

  it.each([
    ['TLS', 'rate_limit: {}'],
    ['client certificates', 'tls_server_config: { cert_file: a.pem, key_file: a.key }'],
  ])('keeps the setting for %s, and warns that a change needs a restart', async (_what, web) => {
    const yaml = before.replace('{ enable', '{ config_file: web.yml, enable');
    const toWorld = (text: string) => ({ yaml, files: { 'web.yml': text, 'a.pem': 'certificate', 'a.key': 'key' } });
    const { config } = await load(toWorld(web));
    const next = 'tls_server_config: { cert_file: a.pem, key_file: a.key, client_auth_type: RequestClientCert }';
    const reloaded = await reloadConfig(() => loadIn(toWorld(next)), config);
    expect(reloaded.ok && reloaded.warnings.map(formatComplaint)).toEqual([
      'web.yml: switches TLS or client certificates on or off, or removes all users, which takes effect only after a restart',
    ]);
    expect(reloaded.ok && reloaded.config.webConfig).toBe(config.webConfig);

    const without = await reloadConfig(() => loadIn({ yaml: before }), config);
    expect(without.ok && without.warnings.map(formatComplaint)).toEqual([
      'web.config_file: takes effect only after a restart',
    ]);
    expect(without.ok && without.config).toMatchObject({ web: config.web, webConfig: config.webConfig });
  });

  it('reports every complaint about a bad file', async () => {
    const { reloaded } = await reload('servers: [{ url: ftp://a, token_file: /run/token }]\nlog: { level: loud }');
    expect(reloaded.ok || reloaded.complaints.map(formatComplaint)).toEqual([
      'config.yaml:1:18 servers[0].url: is not a web address (for example https://automation.example.org)',
      'config.yaml:2:15 log.level: takes one of debug, info, warn, error, found the text "loud"',
    ]);
  });

  it('refuses a file that no longer names a server', async () => {
    const { reloaded } = await reload('log: { level: info }');
    expect(reloaded.ok || reloaded.complaints.map(formatComplaint)).toEqual([
      'config.yaml: no longer names a server (stop the daemon)',
    ]);
    const { config } = await load({ yaml: 'log: { level: info }' });
    const still = await reloadConfig(() => loadIn({ yaml: 'log: { level: debug }' }), config);
    expect(still).toMatchObject({ ok: true, config: { servers: [], log: { level: 'debug' } } });
  });
});
