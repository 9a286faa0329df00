import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findTool } from '../scripts/tools.ts';
import { systemClock } from '../src/domain/system-clock.ts';
import { openPostgresState } from '../src/state/postgres/open-postgres.ts';
import { openSqliteState } from '../src/state/sqlite.ts';
import type { State } from '../src/state/state.ts';
import { startPostgres, toSettings } from '../test/support/postgres.ts';

const commits = 500;
const pages = 60;
const perPage = 500;
const serversAtOnce = 4;

/** Measures a commit on SQLite, and on a PostgreSQL of the same machine; both wait for the disk. */
export async function run() {
  const postgres = findTool('postgresql');
  if (postgres === undefined) return [];
  const dir = mkdtempSync(join(tmpdir(), 'shared-state-bench-'));
  const server = await startPostgres(postgres, { shared_buffers: '128MB' });
  const replica = { owner: 'bench', address: '' };
  const shared = await openPostgresState({
    settings: toSettings(server, 'bench'),
    replica,
    clock: systemClock,
    units: ['prod'],
  });
  try {
    const file = openSqliteState({ dir });
    const onFile = await measure([file]);
    await file.close();
    const states = await Promise.all(Array.from({ length: serversAtOnce }, (_, index) => own(`server-${index}`)));
    const onDatabase = await measure(states.slice(0, 1));
    const atOnce = await measureCommits(states, commits);
    const takeoverMs = await measureTakeover();
    return [
      {
        what: 'small commits a second on PostgreSQL (1 execution, 2 documents), fsync on',
        figure: `${onDatabase.commitsPerSecond.toFixed(0)}; ${atOnce.toFixed(0)} for ${serversAtOnce} servers at once; SQLite ${onFile.commitsPerSecond.toFixed(0)}`,
        mustReach: 'a sixth of SQLite',
        reached: onDatabase.commitsPerSecond >= onFile.commitsPerSecond / 6,
      },
      {
        what: `executions a second on PostgreSQL (${perPage} a commit, 40 documents)`,
        figure: `${onDatabase.executionsPerSecond.toFixed(0)}; SQLite ${onFile.executionsPerSecond.toFixed(0)}`,
        mustReach: 'a quarter of SQLite',
        reached: onDatabase.executionsPerSecond >= onFile.executionsPerSecond / 4,
      },
      {
        what: 'a lease that was released is acquired by another replica',
        figure: `${takeoverMs.toFixed(1)} ms`,
        mustReach: '< 1000 ms',
        reached: takeoverMs < 1000,
      },
    ];
  } finally {
    await shared.close();
    await server.stop();
    rmSync(dir, { recursive: true, force: true });
  }

  async function own(unit: string): Promise<State> {
    return shared.owned(unit, (await shared.leases.acquire(unit, 600_000)).lease);
  }

  async function measureTakeover(): Promise<number> {
    const other = await openPostgresState({
      settings: toSettings(server, 'bench'),
      replica: { owner: 'other', address: '' },
      clock: systemClock,
      units: ['prod'],
    });
    const { lease } = await shared.leases.acquire('handed-over', 600_000);
    const startedAt = performance.now();
    await shared.leases.release('handed-over', lease.epoch);
    const { isOurs } = await other.leases.acquire('handed-over', 600_000);
    const ms = performance.now() - startedAt;
    await other.close();
    return isOurs ? ms : Number.POSITIVE_INFINITY;
  }
}

async function measure([state]: readonly State[]) {
  if (state === undefined) throw new Error('there is no state to measure');
  // The first commits are a warm-up.
  await measureCommits([state], 50);
  const commitsPerSecond = await measureCommits([state], commits);
  const startedAt = performance.now();
  for (let page = 0; page < pages; page += 1) await commitPage(state, page);
  const executionsPerSecond = (pages * perPage * 1000) / (performance.now() - startedAt);
  return { commitsPerSecond, executionsPerSecond };
}

let nextId = 1;

async function measureCommits(states: readonly State[], each: number): Promise<number> {
  const startedAt = performance.now();
  await Promise.all(
    states.map(async ({ ledger }) => {
      for (let count = 0; count < each; count += 1) {
        nextId += 1;
        await ledger.commit('prod', {
          entries: [toEntry(nextId)],
          documents: [toDocument('state', 1), toDocument('cell', nextId % 200)],
        });
      }
    }),
  );
  return (states.length * each * 1000) / (performance.now() - startedAt);
}

async function commitPage({ ledger }: State, page: number): Promise<void> {
  nextId += perPage;
  await ledger.commit('prod', {
    entries: Array.from({ length: perPage }, (_, index) => toEntry(nextId - index)),
    documents: Array.from({ length: 40 }, (_, index) => toDocument('cell', (page + index) % 200)),
  });
}

function toEntry(id: number) {
  return { project: `project-${id % 20}`, id, startedAtMs: 1.7e12 + id, endedAtMs: 1.7e12 + id + 5000 };
}

function toDocument(kind: string, key: number) {
  return { kind, key: String(key), body: JSON.stringify({ value: key, labels: ['pay', 'nightly', 'settle'] }) };
}
