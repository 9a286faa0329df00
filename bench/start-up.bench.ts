import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildPackage } from '../scripts/build/package.ts';
import { startSimulator } from '../simulator/simulator.ts';
import { readMemoryMb } from './long/serving.ts';

const runs = 7;
const href = (path: string): string => new URL(path, import.meta.url).href;

/** Measures the time from the start of the process to the first scrape with data, and the time of the imports. */
export async function run() {
  const [sources, bundle] = await measureFirstScrapes();
  const imports = measureImports(serve);
  const bare = measureImports(libraries);
  const emptyMs = measureEmpty();
  return [
    {
      what: 'start of the process to first scrape with data, median of the sources',
      figure: `${sources.ms.toFixed(0)} ms, then ${sources.rssMb.toFixed(0)} MB resident`,
      mustReach: '< 1000 ms',
      reached: sources.ms < 1000,
    },
    {
      what: 'the same of the bundle',
      figure: `${bundle.ms.toFixed(0)} ms, then ${bundle.rssMb.toFixed(0)} MB resident`,
      mustReach: '< 500 ms',
      reached: bundle.ms < 500,
    },
    {
      what: 'import of serve, median',
      figure: `${imports.medianMs.toFixed(0)} ms, ${(imports.medianMs / emptyMs).toFixed(1)} times the start of an empty Node; its libraries alone take ${bare.medianMs.toFixed(0)} ms`,
      mustReach: '< 300 ms',
      reached: imports.medianMs < 300,
    },
    {
      what: 'modules of the OpenTelemetry SDK loaded by serve (prom-client brings the API package)',
      figure: String(imports.openTelemetry),
      mustReach: '0',
      reached: imports.openTelemetry === 0,
    },
  ];
}

type Started = { readonly ms: number; readonly rssMb: number };

/** Takes turns, so that other work affects both exporters equally. */
async function measureFirstScrapes(): Promise<readonly [Started, Started]> {
  const dir = mkdtempSync(join(tmpdir(), 'automation-exporter-bench-'));
  const simulator = await startSimulator();
  writeFileSync(join(dir, 'token'), simulator.token);
  const sources: Started[] = [];
  const bundle: Started[] = [];
  try {
    await buildPackage(join(dir, 'package'));
    const options = { dir, upstream: simulator.url };
    for (let round = 0; round < runs; round++) {
      sources.push(await timeOneStart({ ...options, cli: new URL('../src/cli.ts', import.meta.url).pathname }));
      bundle.push(await timeOneStart({ ...options, cli: join(dir, 'package', 'cli.js') }));
    }
  } finally {
    await simulator.stop();
    rmSync(dir, { recursive: true, force: true });
  }
  return [toMedians(sources), toMedians(bundle)];
}

function toMedians(started: readonly Started[]): Started {
  return { ms: median(started.map(({ ms }) => ms)), rssMb: median(started.map(({ rssMb }) => rssMb)) };
}

type StartOptions = { readonly dir: string; readonly upstream: string; readonly cli: string };

async function timeOneStart({ dir, upstream, cli }: StartOptions): Promise<Started> {
  const startedAtMs = performance.now();
  const daemon = spawn(process.execPath, [cli, 'serve'], {
    env: {
      PATH: process.env['PATH'],
      HOME: dir,
      AUTOMATION_EXPORTER_URL: upstream,
      AUTOMATION_EXPORTER_TOKEN_FILE: join(dir, 'token'),
      AUTOMATION_EXPORTER_STATE_DIR: join(dir, 'state'),
      AUTOMATION_EXPORTER_WEB_LISTEN_ADDRESS: '127.0.0.1:0',
    },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let log = '';
  daemon.stderr.on('data', (chunk: Buffer) => (log += chunk.toString()));
  try {
    for (let attempt = 0; attempt < 2000; attempt++) {
      const url = /url=(http:\S+)/.exec(log)?.[1];
      const text = url === undefined ? '' : await (await fetch(`${url}/metrics`)).text();
      if (text.includes('automation_server_info{')) {
        return { ms: performance.now() - startedAtMs, rssMb: readMemoryMb(daemon.pid ?? 0, 'VmRSS') };
      }
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    throw new Error(`no data:\n${log}`);
  } finally {
    daemon.kill('SIGTERM');
    await new Promise((resolve) => daemon.once('close', resolve));
  }
}

/** The packages that `serve` imports. */
const libraries = ['zod', 'express', 'undici', 'prom-client', 'yaml', 'marked', 'pino', 'node-cron'];
const serve = [href('../src/commands/command-line.ts'), href('../src/commands/serve.ts')];

/** Imports modules in a new process with a warm compile cache. */
function measureImports(modules: readonly string[]) {
  const script = `
    const { enableCompileCache, registerHooks } = await import('node:module');
    enableCompileCache();
    const loaded = new Set();
    registerHooks({ resolve: (name, context, next) => { const found = next(name, context); loaded.add(found.url); return found; } });
    const before = performance.now();
    for (const each of ${JSON.stringify(modules)}) await import(each);
    const took = performance.now() - before;
    const ofOpenTelemetry = [...loaded].filter((url) => /@opentelemetry.(?!api)/.test(url));
    console.log(JSON.stringify({ took, openTelemetry: ofOpenTelemetry.length }));
  `;
  const samples = Array.from({ length: runs }, () => {
    const printed = execFileSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' });
    return JSON.parse(printed) as { took: number; openTelemetry: number };
  });
  return {
    medianMs: median(samples.map(({ took }) => took)),
    openTelemetry: Math.max(...samples.map(({ openTelemetry }) => openTelemetry)),
  };
}

function measureEmpty(): number {
  const empty = Array.from({ length: runs }, () => {
    const before = performance.now();
    execFileSync(process.execPath, ['-e', '0']);
    return performance.now() - before;
  });
  return median(empty);
}

function median(samples: readonly number[]): number {
  const sorted = [...samples].sort((one, other) => one - other);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}
