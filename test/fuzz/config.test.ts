import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { collectors } from '../../src/collectors/index.ts';
import { listFamilies } from '../../src/commands/reserved-labels.ts';
import { formatComplaint } from '../../src/config/complaint.ts';
import { loadConfig } from '../../src/config/load-config.ts';
import { parseArguments } from '../../src/config/read/command-line.ts';
import { checkInterval } from '../../src/schedule/interval.ts';
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

describe('fuzz/config', () => {
  it(
    'takes a configuration or complains, and never repeats a secret, whatever is in the file',
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
});
