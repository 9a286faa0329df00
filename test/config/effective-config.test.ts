import { describe, expect, it } from 'vitest';
import { toEffectiveYaml } from '../../src/config/effective-config.ts';
import { load } from './fixtures.ts';

const yaml = `
servers:
  - { name: prod, url: https://prod.example.org/, token_file: /run/token, timeout: 90s, api_version: 47 }
  - { name: "yes", url: "http://[::1]:4440", token_file: /run/token }
web: { listen_address: "[::1]:9720", external_url: https://exporter.example.org }
collectors: { project-nodes: { enabled: true, every: 60m } }
`;

const effective = `servers:
  - name: prod
    url: https://prod.example.org
    token_file: /run/token
    dialect: auto
    api_version: 47
    timeout: 1m30s
  - name: yes
    url: http://[::1]:4440
    token_file: /run/token
    dialect: auto
    api_version: auto
    timeout: 10s
collectors:
  execution-mode:
    enabled: true
    every: 15s
  system-info:
    enabled: true
    every: 30s
  project-nodes:
    enabled: true
    every: 1h
web:
  listen_address: "[::1]:9720"
  telemetry_path: /metrics
  external_url: https://exporter.example.org
log:
  level: info
  format: logfmt
state:
  dir: ./state
  memory: false
`;

describe('config/effective-config', () => {
  it('writes what is in force', async () => {
    expect(toEffectiveYaml((await load({ yaml })).config)).toBe(effective);
  });

  it('loads again as the same', async () => {
    const first = (await load({ yaml })).config;
    const second = (await load({ yaml: toEffectiveYaml(first) })).config;
    expect(toEffectiveYaml(second)).toBe(effective);
    expect(second).toEqual(first);
  });

  it('says where a secret of the environment comes from, and nothing more of it', async () => {
    const env = { AUTOMATION_EXPORTER_URL: 'http://localhost:4440', AUTOMATION_EXPORTER_TOKEN: 'canary-4711' };
    const { config } = await load({ env, argv: ['--collector.disable-defaults'] });
    expect(toEffectiveYaml(config)).toBe(`servers:
  - name: default
    url: http://localhost:4440
    dialect: auto
    api_version: auto
    timeout: 10s
    # token: <secret> from AUTOMATION_EXPORTER_TOKEN
collectors:
  execution-mode:
    enabled: false
    every: 15s
  system-info:
    enabled: false
    every: 30s
  project-nodes:
    enabled: false
    every: 5m
web:
  listen_address: :9720
  telemetry_path: /metrics
log:
  level: info
  format: logfmt
state:
  dir: ./state
  memory: false
`);
    expect(toEffectiveYaml((await load({ env, yaml: toEffectiveYaml(config) })).config)).toBe(toEffectiveYaml(config));
  });

  it('leaves out what a switch excludes', async () => {
    const { config } = await load({ argv: ['--state.memory'], yaml: 'state: { dir: /x }' });
    expect(toEffectiveYaml(config)).toMatch(/\nstate:\n {2}memory: true\n$/);
  });
});
