import { describe, expect, it } from 'vitest';
import { toEffectiveYaml } from '../../src/config/show/effective-config.ts';
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
web:
  listen_address: "[::1]:9720"
  telemetry_path: /metrics
  external_url: https://exporter.example.org
  route_prefix: /
  enable_lifecycle: false
  max_requests: 40
jobs:
  detail: top
  top: 200
  cap: 5000
  include: []
  exclude: []
  overrides: []
executions:
  overlap: 2m
  max_delay: 15m
  overdue_factor: 3
  overdue_floor: 5m
  backfill: 0s
  catch_up_limit: 1w
traces:
  enabled: auto
  detail: nodes
  service_name: automation-service
  seal_timeout: 10m
  max_age: 1d
  max_spans: 5000
  upstream:
    option: traceparent
    mode: link
  status_map: {}
  options_allow: []
  user_names: false
  argstring: false
  spool:
    max_bytes: 256MiB
    max_pending: 100000
metrics:
  hold_new_series: 1m
  cicd: false
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
    expect(JSON.stringify(second)).toBe(JSON.stringify(first));
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
    tls:
      insecure_skip_verify: false
    namespace: http://localhost:4440
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
    # token: <secret> from AUTOMATION_EXPORTER_TOKEN
collectors:
  execution-mode:
    enabled: false
    every: 15s
    max_series: 10000
  system-info:
    enabled: false
    every: 30s
    max_series: 10000
  project-nodes:
    enabled: false
    every: 5m
    max_series: 10000
web:
  listen_address: :9720
  telemetry_path: /metrics
  route_prefix: /
  enable_lifecycle: false
  max_requests: 40
jobs:
  detail: top
  top: 200
  cap: 5000
  include: []
  exclude: []
  overrides: []
executions:
  overlap: 2m
  max_delay: 15m
  overdue_factor: 3
  overdue_floor: 5m
  backfill: 0s
  catch_up_limit: 1w
traces:
  enabled: auto
  detail: nodes
  service_name: automation-service
  seal_timeout: 10m
  max_age: 1d
  max_spans: 5000
  upstream:
    option: traceparent
    mode: link
  status_map: {}
  options_allow: []
  user_names: false
  argstring: false
  spool:
    max_bytes: 256MiB
    max_pending: 100000
metrics:
  hold_new_series: 1m
  cicd: false
log:
  level: info
  format: logfmt
state:
  dir: ./state
  memory: false
`);
    expect(toEffectiveYaml((await load({ env, yaml: toEffectiveYaml(config) })).config)).toBe(toEffectiveYaml(config));
  });

  it('writes all that can be said of a server, and of its secrets only the source', async () => {
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
  ])('names the $name by its words in the file', async ({ variable, env, name }) => {
    const all = { ...env, AUTOMATION_EXPORTER_URL: 'http://localhost:4440', [variable]: 'canary-4711' };
    const yaml = toEffectiveYaml((await load({ env: all })).config);
    expect(yaml).toContain(`\n    # ${name}: <secret> from ${variable}\n`);
    expect(yaml).not.toContain('canary');
  });

  it('leaves out what a switch excludes', async () => {
    const { config } = await load({ argv: ['--state.memory'], yaml: 'state: { dir: /x }' });
    expect(toEffectiveYaml(config)).toMatch(/\nstate:\n {2}memory: true\n$/);
  });
});
