import { describe, expect, it } from 'vitest';
import { listFamilies } from '../../src/commands/reserved-labels.ts';
import { loadConfig } from '../../src/config/load-config.ts';
import { parseArguments } from '../../src/config/read/command-line.ts';
import { collectors } from '../../src/daemon/catalogue/collectors.ts';
import { formatComplaint } from '../../src/domain/complaint.ts';
import { checkInterval } from '../../src/domain/interval.ts';
import { fc } from '../support/property.ts';
import { forAsLong, limitMs, mutated } from './budget.ts';

const secret = 'planted-secret-of-the-fuzzer';

const sample = `servers:
  - name: prod
    url: https://automation.example.org
    token_file: token
    timeout: 10s
    budget: { requests_per_second: 10, concurrency: 4 }
    projects: { include: ['pay-*'], exclude: ['*-test'], labels: { 'pay-*': { team: pay } } }
    labels: { site: eu }
executions: { backfill: 1h, max_delay: 5m, statuses: { cancelled: aborted } }
jobs: { detail: top, top: 20, overrides: [{ match: 'pay/*', success_age: 1d }] }
metrics:
  hold_new_series: 1m
  automation_execution_duration_seconds: { buckets: [5, 60] }
collectors: { users: { enabled: true, every: 1h } }
traces: { enabled: off }
web: { listen_address: ':9720' }
`;

const inserts = [
  '*',
  '&a',
  '<<: *a',
  '!!binary',
  '? ',
  '- ',
  ': ',
  '{',
  ']',
  '\n',
  '  ',
  '"',
  "'",
  '|',
  '%',
  '0x1',
  '~',
  'a'.repeat(300),
] as const;
const families = listFamilies();

const webSample = `tls_server_config:
  cert_file: server.crt
  key_file: server.key
  client_ca_file: ca.crt
  client_auth_type: RequireAndVerifyClientCert
  client_allowed_sans: [prometheus.example.org]
  min_version: TLS12
  cipher_suites: [TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256]
  curve_preferences: [X25519]
http_server_config: { http2: false, headers: { X-Frame-Options: deny } }
basic_auth_users: { prometheus: $2y$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW }
rate_limit: { interval: 1s, burst: 20 }
`;

describe('fuzz/config', () => {
  it(
    'accepts any configuration or complains, and never repeats a secret',
    async () => {
      await forAsLong((parameters) =>
        fc.assert(
          fc.asyncProperty(mutated([sample], inserts), async (text) => {
            const loaded = await loadConfig({
              arguments: parseArguments(['--config.file=fuzzed.yaml'], { collectors }),
              env: {},
              readFile: async (path) => (path === 'fuzzed.yaml' ? text : secret),
              collectors,
              families,
              validateInterval: checkInterval,
            });
            const said = loaded.ok ? '' : loaded.complaints.map(formatComplaint).join('\n');
            expect(loaded.ok || said !== '').toBe(true);
            expect(said).not.toContain(secret);
          }),
          parameters,
        ),
      );
    },
    limitMs,
  );

  it(
    'accepts any web configuration or complains, and never repeats a key',
    async () => {
      await forAsLong((parameters) =>
        fc.assert(
          fc.asyncProperty(mutated([webSample], inserts), async (text) => {
            const loaded = await loadConfig({
              arguments: parseArguments(['--web.config.file=fuzzed.yml'], { collectors }),
              env: {},
              readFile: async (path) => (path === 'fuzzed.yml' ? text : secret),
              collectors,
            });
            const said = loaded.ok ? '' : loaded.complaints.map(formatComplaint).join('\n');
            expect(loaded.ok ? loaded.config.webConfig !== undefined : said !== '').toBe(true);
            expect(said).not.toContain(secret);
          }),
          parameters,
        ),
      );
    },
    limitMs,
  );
});
