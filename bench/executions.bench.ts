import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setImmediate as turn } from 'node:timers/promises';
import { projectExecutions } from '../src/api/endpoints/executions.ts';
import type { Execution } from '../src/domain/execution.ts';
import { systemClock } from '../src/domain/system-clock.ts';
import { createCountExecutions } from '../src/executions/ledger/count-executions.ts';
import { type LedgerCache, openLedgerCache } from '../src/executions/ledger/ledger-cache.ts';
import { toNewProject } from '../src/executions/ledger/project-state.ts';
import { defaultBuckets } from '../src/executions/settings.ts';
import { openSqliteState } from '../src/state/sqlite.ts';
import type { State } from '../src/state/state.ts';

const known = 1_000_000;
const flood = 100_000;
const perPage = 500;
const jobs = 20;
const beginMs = Date.UTC(2026, 0, 15, 12);
const dayMs = 86_400_000;

/** Measures a flood of executions, and a start with a million known executions. */
export async function run() {
  const dir = mkdtempSync(join(tmpdir(), 'executions-bench-'));
  try {
    const pages = Array.from({ length: flood / perPage }, (_, page) => toPage(page));
    const flooded = await measureFlood(join(dir, 'flood'), pages);
    const start = await measureStart(join(dir, 'start'));
    return [
      {
        what: `executions decoded, reconciled and committed (${jobs} jobs, pages of ${perPage})`,
        figure: `${flooded.perSecond.toFixed(0)} a second`,
        mustReach: '>= 20000 a second',
        reached: flooded.perSecond >= 20_000,
      },
      {
        what: 'event loop during the flood, p99',
        figure: `${flooded.p99Ms.toFixed(1)} ms (${flooded.busyMs.toFixed(1)} ms of work, the rest is waiting for the disk)`,
        mustReach: '< 20 ms',
        reached: flooded.p99Ms < 20,
      },
      {
        what: 'start with 1,000,000 known ids',
        figure: `${start.ms.toFixed(0)} ms`,
        mustReach: '< 1000 ms',
        reached: start.ms < 1000,
      },
      {
        what: 'bytes of the file for each execution kept, before and after half of them are pruned',
        figure: `${start.bytesEach.toFixed(0)} and ${start.bytesEachPruned.toFixed(0)} of a file that does not shrink`,
        mustReach: '<= 200 before',
        reached: start.bytesEach <= 200,
      },
    ];
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

async function measureFlood(dir: string, pages: readonly string[]) {
  const state = openSqliteState({ dir });
  const { accept } = await openProject(state);
  const delay = monitorEventLoopDelay({ resolution: 1 });
  const busyMs: number[] = [];
  // The first pages are a warm-up.
  for (const page of pages.slice(0, 20)) await accept({ project: 'pay', rows: await decode(page), seenAtMs: beginMs });
  delay.enable();
  const startedTicks = performance.now();
  for (const page of pages.slice(20)) {
    const rows = await decode(page);
    const cpu = process.threadCpuUsage();
    await accept({
      project: 'pay',
      rows,
      seenAtMs: beginMs,
      advance: (latest) => ({ ...latest, scannedThroughMs: beginMs }),
    });
    const { user, system } = process.threadCpuUsage(cpu);
    busyMs.push((user + system) / 1000);
    // Other work runs between two pages, as with a network.
    await turn();
  }
  const perSecond = ((pages.length - 20) * perPage * 1000) / (performance.now() - startedTicks);
  delay.disable();
  await state.close();
  busyMs.sort((one, other) => one - other);
  return {
    perSecond,
    p99Ms: delay.percentile(99) / 1e6,
    busyMs: busyMs[Math.floor(busyMs.length * 0.99)] ?? Number.NaN,
  };
}

async function measureStart(dir: string) {
  const state = openSqliteState({ dir });
  const { cache } = await openProject(state);
  for (let begin = 0; begin < known; begin += 10_000) {
    const entries = Array.from({ length: 10_000 }, (_, index) => {
      const id = begin + index + 1;
      return { project: 'pay', id, startedAtMs: beginMs + id * 700, endedAtMs: beginMs + id * 700 + 5000 };
    });
    await cache.update(async () => ({ entries }));
  }
  await state.close();
  const file = join(dir, 'state.sqlite');
  const bytesEach = statSync(file).size / known;
  const startedTicks = performance.now();
  const again = openSqliteState({ dir });
  const opened = await openProject(again);
  await again.ledger.size('upstream');
  const ms = performance.now() - startedTicks;
  const endedBeforeMs = beginMs + (known / 2) * 700;
  await opened.cache.update(async () => ({ prune: { project: 'pay', endedBeforeMs } }));
  const left = await again.ledger.size('upstream');
  await again.close();
  return { ms, bytesEach, bytesEachPruned: statSync(file).size / left };
}

async function openProject(state: State) {
  const cache: LedgerCache = await openLedgerCache(state.ledger, 'upstream');
  await cache.update(async () => ({ states: [toNewProject('pay', beginMs - dayMs)] }));
  const accept = createCountExecutions({
    server: 'upstream',
    cache,
    ledger: state.ledger,
    rules: { buckets: defaultBuckets },
    isWantedJob: () => true,
    observe: {
      observed: ignore,
      late: ignore,
      imported: ignore,
      unmeasured: ignore,
      skipped: ignore,
      dropped: ignore,
      unknownValue: ignore,
    },
    keepMs: 9 * dayMs,
    clock: systemClock,
  });
  return { cache, accept };
}

/** Decodes as the client does: text, JSON, and the schema of the endpoint. */
async function decode(page: string): Promise<readonly Execution[]> {
  return projectExecutions.body.parse(JSON.parse(page)).items;
}

function toPage(page: number): string {
  const executions = Array.from({ length: perPage }, (_, index) => {
    const id = page * perPage + index + 1;
    const startedAtMs = beginMs + id * 90;
    const tookMs = 500 + (id % 97) * 1000;
    const failed = id % 20 === 0;
    return {
      id,
      href: `https://automation.example.org/api/47/execution/${id}`,
      permalink: `https://automation.example.org/project/pay/execution/show/${id}`,
      status: failed ? 'failed' : 'succeeded',
      project: 'pay',
      executionType: 'scheduled',
      user: 'amira',
      'date-started': { unixtime: startedAtMs, date: new Date(startedAtMs).toISOString() },
      'date-ended': { unixtime: startedAtMs + tookMs, date: new Date(startedAtMs + tookMs).toISOString() },
      job: {
        id: `job-${id % jobs}`,
        averageDuration: 5123,
        name: `settle ${id % jobs}`,
        group: 'nightly',
        project: 'pay',
      },
      description: 'true',
      argstring: null,
      successfulNodes: failed ? [] : ['web01', 'web02'],
      ...(failed ? { failedNodes: ['web02'] } : {}),
    };
  });
  return JSON.stringify({ paging: { count: perPage, total: flood, offset: 0, max: perPage }, executions });
}

function ignore(): void {}
