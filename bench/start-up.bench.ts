import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startSimulator } from '../src/simulator/simulator.ts';

const runs = 7;
const href = (path: string): string => new URL(path, import.meta.url).href;

/** From the start of the process to the first scrape that holds data, and only the imports. */
export async function run() {
  const firstScrapeMs = await measureFirstScrape();
  const imports = measureImports();
  return [
    {
      what: 'start of the process to first scrape with data, median',
      figure: `${firstScrapeMs.toFixed(0)} ms`,
      mustReach: '< 1000 ms',
      reached: firstScrapeMs < 1000,
    },
    {
      what: 'import of serve, median',
      figure: `${imports.medianMs.toFixed(0)} ms, ${(imports.medianMs / imports.emptyMs).toFixed(1)} times the start of an empty Node`,
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

async function measureFirstScrape(): Promise<number> {
  const dir = mkdtempSync(join(tmpdir(), 'automation-exporter-bench-'));
  const simulator = await startSimulator();
  writeFileSync(join(dir, 'token'), simulator.token);
  const samples: number[] = [];
  try {
    for (let round = 0; round < runs; round++) samples.push(await timeOneStart(dir, simulator.url));
  } finally {
    await simulator.stop();
    rmSync(dir, { recursive: true, force: true });
  }
  return median(samples);
}

async function timeOneStart(dir: string, upstream: string): Promise<number> {
  const startedAtMs = performance.now();
  const daemon = spawn(process.execPath, [new URL('../src/cli.ts', import.meta.url).pathname, 'serve'], {
    env: {
      PATH: process.env['PATH'],
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
      if (text.includes('automation_server_info{')) return performance.now() - startedAtMs;
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    throw new Error(`no data:\n${log}`);
  } finally {
    daemon.kill('SIGTERM');
    await new Promise((resolve) => daemon.once('close', resolve));
  }
}

function measureImports() {
  const script = `
    const { enableCompileCache, registerHooks } = await import('node:module');
    enableCompileCache();
    const loaded = new Set();
    registerHooks({ resolve: (name, context, next) => { const found = next(name, context); loaded.add(found.url); return found; } });
    const before = performance.now();
    await import(${JSON.stringify(href('../src/commands/command-line.ts'))});
    await import(${JSON.stringify(href('../src/commands/serve.ts'))});
    const took = performance.now() - before;
    const ofOpenTelemetry = [...loaded].filter((url) => /@opentelemetry.(?!api)/.test(url));
    console.log(JSON.stringify({ took, openTelemetry: ofOpenTelemetry.length }));
  `;
  const samples = Array.from({ length: runs }, () => {
    const printed = execFileSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' });
    return JSON.parse(printed) as { took: number; openTelemetry: number };
  });
  const empty = Array.from({ length: runs }, () => {
    const before = performance.now();
    execFileSync(process.execPath, ['-e', '0']);
    return performance.now() - before;
  });
  return {
    medianMs: median(samples.map(({ took }) => took)),
    emptyMs: median(empty),
    openTelemetry: Math.max(...samples.map(({ openTelemetry }) => openTelemetry)),
  };
}

function median(samples: readonly number[]): number {
  const sorted = [...samples].sort((one, other) => one - other);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}
