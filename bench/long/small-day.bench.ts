import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildPackage } from '../../scripts/build/package.ts';
import { readCpuMs, sourceCli } from './serving.ts';
import { type Day, watchEstate } from './small-estate.ts';

const seconds = Number(process.env['BENCH_SECONDS'] ?? 600);
// By default, a new series stays at 0 for a minute.
const yaml = 'metrics: { hold_new_series: 0s }\n';
const day = { projects: 10, jobsPerProject: 5, executionsPerMinute: 1, yaml };

/** The load with 200 projects, on a new and an old server. */
const wide = [47, 29].map((apiVersion) => ({ ...day, projects: 200, apiVersion }));

/** Measures 10 projects with 50 jobs and an execution a minute, then 200 projects. */
export async function run() {
  const folder = mkdtempSync(join(tmpdir(), 'automation-exporter-build-'));
  try {
    await buildPackage(folder);
    const cli = join(folder, 'cli.js');
    const [bundle, source, empty] = await Promise.all([
      watchEstate(day, seconds, cli),
      watchEstate(day, seconds, sourceCli),
      measureEmpty(),
    ]);
    const rows = [...report('bundle', bundle, empty), ...report('sources', source, empty)];
    for (const estate of wide) rows.push(reportWide(estate.apiVersion, await watchEstate(estate, seconds, cli), empty));
    return rows;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function report(name: string, measured: Day, emptyCpu: number) {
  const { rssMb, anonMb, heapMb, externalMb, cpuSecondsPerMinute, visibleSeconds } = measured;
  const sorted = visibleSeconds.toSorted((one, other) => one - other);
  const isBundle = name === 'bundle';
  return [
    {
      what: `${name}: memory with ${measured.series} series after ${seconds} s`,
      figure: `RSS ${rssMb.toFixed(0)} MB, anonymous ${anonMb.toFixed(0)}, heap ${heapMb.toFixed(0)}, external ${externalMb.toFixed(0)}`,
      mustReach: isBundle ? 'anonymous <= 55 MB' : 'none',
      reached: !isBundle || anonMb <= 55,
    },
    {
      what: `${name}: processor`,
      figure: `${cpuSecondsPerMinute.toFixed(2)} s a minute, ${(cpuSecondsPerMinute / emptyCpu).toFixed(0)} times that of an empty Node that serves one static scrape`,
      mustReach: isBundle ? '<= 0.25 s a minute' : 'none',
      reached: !isBundle || cpuSecondsPerMinute <= 0.25,
    },
    {
      what: `${name}: load on the server and on Prometheus`,
      figure: `${measured.requestsPerMinute.toFixed(0)} requests a minute, ${measured.scrapedBytes} bytes a scrape`,
      mustReach: '<= 62 requests',
      reached: measured.requestsPerMinute <= 62,
    },
    {
      what: `${name}: end of an execution to the first scrape that counts it`,
      figure: `median ${sorted[sorted.length >> 1]?.toFixed(0)} s, worst ${sorted.at(-1)?.toFixed(0)} s of ${sorted.length}`,
      mustReach: 'median <= 35 s, 15 of them for the scrape',
      reached: (sorted[sorted.length >> 1] ?? Number.NaN) <= 35,
    },
  ];
}

function reportWide(apiVersion: number, { cpuSecondsPerMinute, requestsPerMinute }: Day, emptyCpu: number) {
  return {
    what: `200 projects and 1,000 jobs on a server of API ${apiVersion}: processor`,
    figure: `${cpuSecondsPerMinute.toFixed(2)} s a minute, ${(cpuSecondsPerMinute / emptyCpu).toFixed(0)} times that of an empty Node, with ${requestsPerMinute.toFixed(0)} requests a minute`,
    mustReach: '<= 0.8 s a minute',
    reached: cpuSecondsPerMinute <= 0.8,
  };
}

/** Measures a Node process that only answers scrapes, in CPU seconds a minute. */
async function measureEmpty(): Promise<number> {
  const script = `
    const { createServer } = require('node:http');
    const body = Buffer.alloc(20_000);
    createServer((_, response) => response.end(body)).listen(0, '127.0.0.1', function () { console.log(this.address().port); });
  `;
  const empty = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'ignore'] });
  const ended = new Promise((resolve) => empty.once('close', resolve));
  try {
    const port = await new Promise((resolve) =>
      empty.stdout.once('data', (chunk: Buffer) => resolve(String(chunk).trim())),
    );
    const cpuMs = readCpuMs(empty.pid ?? 0);
    for (let scrapes = 0; scrapes < seconds / 15; scrapes += 1) {
      await (await fetch(`http://127.0.0.1:${String(port)}/`)).arrayBuffer();
      await new Promise((resolve) => setTimeout(resolve, 15_000));
    }
    // CPU time has ticks of 10 ms, so at least a part of one tick was used.
    return Math.max(10, readCpuMs(empty.pid ?? 0) - cpuMs) / 1000 / (seconds / 60);
  } finally {
    empty.kill('SIGTERM');
    await ended;
  }
}
