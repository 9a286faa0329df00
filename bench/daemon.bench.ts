import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startSimulator } from '../simulator/simulator.ts';

const seconds = Number(process.env['BENCH_SECONDS'] ?? 60);

/** Measures the whole process in ordinary use: a real client, a real state, traces, and a scrape every 5 s. */
export async function run() {
  const measured: Awaited<ReturnType<typeof measure>>[] = [];
  for (const load of loads) measured.push(await measure(load));
  return measured.flatMap(({ name, peakMb, lastMb, cpuShare, series, executions }) => [
    {
      what: `${name}: resident memory after ${seconds} s, with ${series} series and ${executions} executions`,
      figure: `${lastMb.toFixed(0)} MB, at most ${peakMb.toFixed(0)} MB`,
      mustReach: '< 200 MB',
      reached: peakMb < 200,
    },
    {
      what: `${name}: share of one processor`,
      figure: `${(cpuShare * 100).toFixed(1)} %`,
      mustReach: '< 20 %',
      reached: cpuShare < 0.2,
    },
  ]);
}

type Load = { readonly name: string; readonly scenario: 'quiet-day'; readonly speed: number };

const loads: readonly Load[] = [
  { name: 'a quiet day', scenario: 'quiet-day', speed: 1 },
  { name: 'a busy day', scenario: 'quiet-day', speed: 40 },
];

async function measure({ name, scenario, speed }: Load) {
  const directory = mkdtempSync(join(tmpdir(), 'automation-exporter-bench-'));
  const simulator = await startSimulator({ scenario, speed });
  writeFileSync(join(directory, 'token'), simulator.token, { mode: 0o600 });
  const daemon = spawn(process.execPath, [new URL('../src/cli.ts', import.meta.url).pathname, 'serve'], {
    env: {
      PATH: process.env['PATH'],
      AUTOMATION_EXPORTER_URL: simulator.url,
      AUTOMATION_EXPORTER_TOKEN_FILE: join(directory, 'token'),
      AUTOMATION_EXPORTER_STATE_DIR: join(directory, 'state'),
      AUTOMATION_EXPORTER_WEB_LISTEN_ADDRESS: '127.0.0.1:0',
      OTEL_EXPORTER_OTLP_ENDPOINT: simulator.url,
    },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const ended = new Promise((resolve) => daemon.once('close', resolve));
  let log = '';
  daemon.stderr.on('data', (chunk: Buffer) => (log += chunk.toString()));
  try {
    const url = await addressIn(() => log);
    let text = '';
    const startedCpu = readCpuSeconds(daemon.pid);
    for (let left = seconds; left > 0; left -= 5) {
      await new Promise((resolve) => setTimeout(resolve, Math.min(left, 5) * 1000));
      text = await (await fetch(`${url}/metrics`)).text();
    }
    return {
      name,
      peakMb: readMemoryMb(daemon.pid, 'VmHWM'),
      lastMb: readMemoryMb(daemon.pid, 'VmRSS'),
      cpuShare: (readCpuSeconds(daemon.pid) - startedCpu) / seconds,
      series: text.split('\n').filter((line) => line !== '' && !line.startsWith('#')).length,
      executions: simulator.truth().executions.length,
    };
  } finally {
    daemon.kill('SIGTERM');
    await ended;
    await simulator.stop();
    rmSync(directory, { recursive: true, force: true });
  }
}

async function addressIn(log: () => string): Promise<string> {
  for (let attempt = 0; attempt < 2000; attempt++) {
    const url = /msg=serving url=(http:\S+)/.exec(log())?.[1];
    if (url !== undefined) return url;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  throw new Error(`The daemon did not start:\n${log()}`);
}

function readMemoryMb(pid: number | undefined, field: 'VmHWM' | 'VmRSS'): number {
  return Number(new RegExp(`${field}:\\s+(\\d+) kB`).exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;
}

/** Reads CPU time, which Linux counts in ticks of 10 ms. */
function readCpuSeconds(pid: number | undefined): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) / 100;
}
