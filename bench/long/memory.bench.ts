import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildPackage } from '../../scripts/build/package.ts';
import { watchEstate } from './small-estate.ts';

const seconds = Number(process.env['BENCH_SECONDS'] ?? 600);
const wanted = process.env['BENCH_SERIES']?.split(',').map(Number);
/** The numbers of executions a minute: idle, and ten a second. */
const rates = (process.env['BENCH_PER_MINUTE'] ?? '1,600').split(',').map(Number);

/** The number of jobs, the approximate number of series, and the maximum anonymous memory. */
const sizes = [
  { series: 1000, maxMb: 55, projects: 2, jobsPerProject: 5 },
  { series: 10_000, maxMb: 70, projects: 10, jobsPerProject: 24 },
  { series: 100_000, maxMb: 150, projects: 25, jobsPerProject: 100 },
] as const;
const yaml = `jobs: { detail: all }
executions: { backfill: 2h }
`;

/** Measures the memory of the bundled daemon, idle and at 10 executions a second. */
export async function run() {
  const folder = mkdtempSync(join(tmpdir(), 'automation-exporter-build-'));
  try {
    await buildPackage(folder);
    const rows = [];
    for (const size of sizes.filter(({ series }) => wanted?.includes(series) ?? true)) {
      for (const executionsPerMinute of rates) {
        rows.push(await measure(size, executionsPerMinute, join(folder, 'cli.js')));
      }
    }
    return rows;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The growth of memory that a busy hour may need. */
const hourFactor = 1.15;

async function measure(size: (typeof sizes)[number], executionsPerMinute: number, cli: string) {
  const day = await watchEstate({ ...size, yaml, hasRun: true, executionsPerMinute }, seconds, cli);
  const isIdle = executionsPerMinute === 1;
  const maxMb = !isIdle && seconds >= 3600 ? hourFactor * size.maxMb : size.maxMb;
  const { rssMb, anonMb, heapMb, externalMb, cpuSecondsPerMinute } = day;
  return {
    what: `${isIdle ? 'idle' : '10 executions a second'}, ${day.series} series after ${seconds} s`,
    figure: `anonymous ${anonMb.toFixed(1)} MB (RSS ${rssMb.toFixed(0)}, heap ${heapMb.toFixed(0)}, external ${externalMb.toFixed(0)}), ${cpuSecondsPerMinute.toFixed(2)} s of CPU time a minute`,
    mustReach: `anonymous <= ${maxMb.toFixed(1)} MB`,
    reached: anonMb <= maxMb,
  };
}
