import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startNamesServer } from './names-server.ts';
import { readMemoryMb, type Serving, startServe } from './serving.ts';

const jobs = Number(process.env['NAMES_JOBS'] ?? 100_000);
const nameBytes = 10_000;

/** Measures very many jobs with very long names: memory, scrape, stop and start. */
export async function run() {
  const directory = mkdtempSync(join(tmpdir(), 'automation-exporter-names-'));
  const upstream = await startNamesServer(jobs, nameBytes, Date.now() - 60_000);
  writeFileSync(join(directory, 'token'), 'a-token\n', { mode: 0o600 });
  writeFileSync(join(directory, 'config.yaml'), configure(upstream.url));
  let serving: Serving | undefined;
  try {
    serving = await startServe(directory);
    const counted = await waitForAll(serving.url);
    const text = await (await fetch(`${serving.url}/metrics`)).text();
    const peakMb = readMemoryMb(serving.pid, 'VmHWM');
    const stopMs = await serving.stop();
    const log = serving.log();
    serving = await startServe(directory);
    const startMs = serving.startMs;
    const { startCpuMs } = serving;
    const afterwards = await waitForAll(serving.url);
    return [
      atMost('resident memory', peakMb, 256, 'MB'),
      atMost('a scrape', text.length / 1e6, 20, 'MB'),
      atMost('a stop', stopMs / 1000, 5, 's'),
      atMost(`from the start until pages are served, ${startCpuMs} ms of CPU`, startMs / 1000, 5, 's'),
      {
        what: 'executions counted, and shown after the restart',
        figure: `${counted}, ${afterwards}`,
        mustReach: `${jobs} each`,
        reached: counted === jobs && afterwards === jobs,
      },
      {
        what: 'kinds of warnings',
        figure: [...new Set([...log.matchAll(/level=(?:warn|error) msg=("[^"]*"|\S+)/g)].map(([, said]) => said))].join(
          ', ',
        ),
        mustReach: 'said',
        reached: true,
      },
    ];
  } finally {
    await serving?.stop();
    await upstream.stop();
    rmSync(directory, { recursive: true, force: true });
  }
}

function configure(url: string): string {
  return `servers: [{ name: prod, url: '${url}', token_file: token, budget: { requests_per_second: 200 } }]
collectors:
  executions: { every: 1s }
  job-info: { enabled: true, every: 30s }
  project-jobs: { enabled: true, every: 30s }
executions: { backfill: 2h, max_delay: 1s }
metrics: { hold_new_series: 0s }
`;
}

async function waitForAll(url: string): Promise<number> {
  let counted = 0;
  for (let tries = 0; tries < 900 && counted < jobs; tries += 1) {
    await new Promise((resolve) => setTimeout(resolve, 1000));
    counted = sumOf(await (await fetch(`${url}/metrics`)).text());
  }
  return counted;
}

function sumOf(text: string): number {
  const family = /^automation_executions_total\{.*\} (\d+)$/gm;
  return [...text.matchAll(family)].reduce((sum, [, value]) => sum + Number(value), 0);
}

function atMost(what: string, value: number, most: number, unit: string) {
  return { what, figure: `${value.toFixed(1)} ${unit}`, mustReach: `< ${most} ${unit}`, reached: value < most };
}
