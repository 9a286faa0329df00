import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { work } from '../../simulator/scenarios/build.ts';
import { type Simulator, startSimulator } from '../../simulator/simulator.ts';
import { readCpuMs, readMemoryMb, type Serving, startServe } from './serving.ts';

type Estate = {
  readonly projects: number;
  readonly jobsPerProject: number;
  readonly executionsPerMinute: number;
  /** The newest API version of the server; 47 by default. */
  readonly apiVersion?: number;
  /** Whether each job ran an hour before. */
  readonly hasRun?: boolean;
  /** The rest of the configuration file. */
  readonly yaml: string;
};

export type Day = {
  readonly seconds: number;
  readonly rssMb: number;
  readonly anonMb: number;
  readonly heapMb: number;
  readonly externalMb: number;
  readonly cpuSecondsPerMinute: number;
  readonly requestsPerMinute: number;
  readonly scrapedBytes: number;
  readonly series: number;
  readonly executions: number;
  /** For each execution, the seconds from its end to the first scrape that counts it. */
  readonly visibleSeconds: readonly number[];
};

/** Runs a daemon that watches an estate in real time, with traces and a scrape every 15 s, and measures it. */
export async function watchEstate(estate: Estate, seconds: number, cli: string): Promise<Day> {
  const directory = mkdtempSync(join(tmpdir(), 'automation-exporter-bench-'));
  const simulator = await startSimulator({ scenario: 'empty', retained: 50_000, apiVersion: estate.apiVersion ?? 47 });
  const jobs = addJobs(simulator, estate);
  writeFileSync(join(directory, 'token'), simulator.token, { mode: 0o600 });
  writeFileSync(
    join(directory, 'config.yaml'),
    `servers: [{ name: prod, url: '${simulator.url}', token_file: token }]\n${estate.yaml}`,
  );
  let daemon: Serving | undefined;
  try {
    daemon = await startServe(directory, [], cli, { OTEL_EXPORTER_OTLP_ENDPOINT: simulator.url });
    return await live({ daemon, simulator, jobs, estate, seconds });
  } finally {
    await daemon?.stop();
    await simulator.stop();
    rmSync(directory, { recursive: true, force: true });
  }
}

type Job = { readonly project: string; readonly jobId: string };

function addJobs(simulator: Simulator, { projects, jobsPerProject, hasRun = false }: Estate): readonly Job[] {
  const jobs: Job[] = [];
  for (let project = 0; project < projects; project += 1) {
    const name = `project-${project}`;
    simulator.control.createProject(name, ['node01', 'node02']);
    for (let job = 0; job < jobsPerProject; job += 1) {
      const definition = { name: `job-${job}`, group: 'nightly', work: work(['node01'], []) };
      const jobId = simulator.control.createJob(name, definition);
      jobs.push({ project: name, jobId });
      const endedAtMs = Date.now() - 3_600_000 + job;
      if (hasRun) simulator.control.addFinished(name, { jobId, startedAtMs: endedAtMs - 20_000, endedAtMs });
    }
  }
  return jobs;
}

type Life = {
  readonly daemon: Serving;
  readonly simulator: Simulator;
  readonly jobs: readonly Job[];
  readonly estate: Estate;
  readonly seconds: number;
};

const settleMs = 30_000;
const scrapeMs = 15_000;

async function live({ daemon, simulator, jobs, estate, seconds }: Life): Promise<Day> {
  const startedMs = performance.now();
  const open: number[] = [];
  const visibleSeconds: number[] = [];
  const before = estate.hasRun === true ? jobs.length : 0;
  let executions = 0;
  const run = (): void => {
    // The jobs take turns, so that all of them have series.
    const job = jobs[executions % jobs.length];
    if (job === undefined) return;
    const endedAtMs = Date.now();
    simulator.control.addFinished(job.project, { jobId: job.jobId, startedAtMs: endedAtMs - 20_000, endedAtMs });
    open.push(endedAtMs);
    executions += 1;
  };
  let scraped = { text: '', bytes: 0 };
  const look = async (): Promise<void> => {
    scraped = await scrape(daemon.url);
    const counted = sumOf(scraped.text, 'automation_executions_total');
    while (open.length > 0 && executions - open.length < counted - before) {
      visibleSeconds.push((Date.now() - (open.shift() ?? 0)) / 1000);
    }
  };
  const until = async (ms: number, hasRuns: boolean): Promise<void> => {
    for (let nextRunMs = performance.now(), nextScrapeMs = nextRunMs; performance.now() < ms; ) {
      if (hasRuns && estate.executionsPerMinute > 0 && performance.now() >= nextRunMs) {
        run();
        nextRunMs += 60_000 / estate.executionsPerMinute;
      }
      if (performance.now() >= nextScrapeMs) {
        await look();
        nextScrapeMs += scrapeMs;
      }
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  };
  // Executions that end before the first round are not counted.
  await until(startedMs + settleMs, false);
  const cpuMs = readCpuMs(daemon.pid);
  const requests = simulator.requests().length;
  const measuredMs = performance.now();
  await until(measuredMs + seconds * 1000, true);
  const minutes = (performance.now() - measuredMs) / 60_000;
  const valueOf = (name: string): number => sumOf(scraped.text, name) / 1e6;
  return {
    seconds,
    rssMb: readMemoryMb(daemon.pid, 'VmRSS'),
    anonMb: readMemoryMb(daemon.pid, 'RssAnon'),
    heapMb: valueOf('nodejs_heap_size_used_bytes'),
    externalMb: valueOf('nodejs_external_memory_bytes'),
    cpuSecondsPerMinute: (readCpuMs(daemon.pid) - cpuMs) / 1000 / minutes,
    requestsPerMinute: (simulator.requests().length - requests) / minutes,
    scrapedBytes: scraped.bytes,
    series: scraped.text.split('\n').filter((line) => line !== '' && !line.startsWith('#')).length,
    executions,
    visibleSeconds,
  };
}

async function scrape(url: string): Promise<{ readonly text: string; readonly bytes: number }> {
  const response = await fetch(`${url}/metrics`, { headers: { 'accept-encoding': 'gzip' } });
  const text = await response.text();
  return { text, bytes: Number(response.headers.get('content-length')) };
}

function sumOf(text: string, name: string): number {
  const values = [...text.matchAll(new RegExp(`^${name}(?:\\{.*\\})? (\\S+)`, 'gm'))].map(([, value]) => Number(value));
  return values.reduce((sum, value) => sum + value, 0);
}
