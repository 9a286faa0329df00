import { readFileSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { expect, it, onTestFinished } from 'vitest';
import { startSimulator } from '../../simulator/simulator.ts';
import { startServer } from '../api/auth/guarded-server.ts';
import { startCli } from '../support/child.ts';
import { eventually } from '../support/eventually.ts';
import { makeFolder } from '../support/folder.ts';

const mb = 2 ** 20;

/** Bodies that are small when sent but large in memory, in different ways. */
const bodies = [
  gzipSync(`[${'{},'.repeat(20 * mb)}{}]`),
  gzipSync(Buffer.alloc(60 * mb, ' ')),
  gzipSync(`[${'{},'.repeat(2_600_000)}{}]`),
  gzipSync(`[${'{},'.repeat(330_000)}{}]`),
  gzipSync(`[${'1,'.repeat(4_000_000)}1]`),
  gzipSync(
    `{"paging":{"total":1},"executions":[${'1,'.repeat(500_000)}1],"steps":[${'{"a":12345678901},'.repeat(300_000)}{}]}`,
  ),
  gzipSync(`{${Array.from({ length: 600_000 }, (_, index) => `"${index.toString(36)}":1`).join(',')}}`),
  gzipSync(`[${'{"id":"a","name":"n"},'.repeat(380_000)}{"id":"a","name":"n"}]`),
  gzipSync('['.repeat(100_000)),
  gzipSync('['.repeat(100_000) + ']'.repeat(100_000)),
  gzipSync(`["${'x'.repeat(100 * mb)}"]`),
];

function sendEndless(response: ServerResponse): void {
  function* rows(): Generator<string> {
    yield '[';
    for (let count = 0; count < 1000; count += 1) yield '{"id":"a","name":"n"},'.repeat(50_000);
  }
  Readable.from(rows())
    .on('error', () => undefined)
    .pipe(response);
}

function readMemory(pid: number, field: 'VmHWM' | 'VmRSS'): number {
  const text = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(new RegExp(`${field}:\\s+(\\d+) kB`).exec(text)?.[1]) / 1024;
}

it('end-to-end/hostile upstream: uses less than 256 MB for any response', async () => {
  let asked = 0;
  const hostile = await startServer((request, response) => {
    response.setHeader('content-type', 'application/json');
    if (request.url?.includes('system/info') === true) {
      response.end('{"system":{"rundeck":{"version":"5.0.0","apiversion":47}}}');
      return;
    }
    if (/\/projects(\?|$)/.test(request.url ?? '') && asked < 30) {
      response.end('[{"name":"pay"},{"name":"shop"}]');
      asked += 1;
      return;
    }
    const body = bodies[asked++ % (bodies.length + 1)];
    if (body === undefined) {
      sendEndless(response.on('error', () => undefined));
      return;
    }
    response.setHeader('content-encoding', 'gzip');
    response.end(body);
  });
  const simulator = await startSimulator({ scenario: 'quiet-day' });
  const directory = makeFolder();
  writeFileSync(join(directory, 'token'), `${simulator.token}\n`, { mode: 0o600 });
  const names = [
    'projects',
    'project-jobs',
    'project-nodes',
    'tokens',
    'threads',
    'cluster-jobs',
    'stored-keys',
    'executions',
    'log-storage-incomplete',
    'job-info',
  ];
  writeFileSync(
    join(directory, 'config.yaml'),
    `servers:
  - { name: hostile, url: '${hostile.url}', token_file: token, budget: { requests_per_second: 50, concurrency: 4 } }
  - { name: well, url: '${simulator.url}', token_file: token }
collectors:
${names.map((name) => `  ${name}: { enabled: true, every: 5s }`).join('\n')}
`,
  );
  const daemon = startCli(
    ['serve', '--config.file=config.yaml', '--state.dir=state', '--web.listen-address=127.0.0.1:0'],
    { cwd: directory },
  );
  onTestFinished(() => simulator.stop());
  onTestFinished(() => hostile.stop());
  onTestFinished(() => daemon.stop());
  const [, url] = await daemon.waitFor(/msg=serving url=(\S+)/);
  let slowestMs = 0;
  await eventually(
    async () => {
      const begunTicks = performance.now();
      const metrics = await (await fetch(`${url}/metrics`)).text();
      slowestMs = Math.max(slowestMs, performance.now() - begunTicks);
      expect(metrics).toMatch(/automation_exporter_collector_success\{server="well",collector="executions"\} 1/);
      expect(asked).toBeGreaterThan(60);
    },
    { limitMs: 45_000, everyMs: 200 },
  );
  expect(slowestMs).toBeLessThan(5000);
  expect(readMemory(daemon.pid, 'VmHWM')).toBeLessThan(256);
});
