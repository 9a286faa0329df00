import { DatabaseSync } from 'node:sqlite';
import type { Memory } from '../domain/memory.ts';
import { systemClock } from '../system-clock.ts';
import { migrate } from './migrations.ts';
import { type OpenedFile, openStateFile } from './sqlite-file.ts';
import { createSqliteLedger } from './sqlite-ledger.ts';
import { createSqliteSpool } from './sqlite-spool.ts';
import { inTransaction } from './sqlite-transaction.ts';
import type { State } from './state.ts';

export type SqliteOptions =
  /** A most of pages stands for a disk without room for more. */
  { readonly dir: string; readonly mostPages?: number } | { readonly memory: true };

/** State in one embedded SQLite file, locked by its owner for as long as it is open. */
export function openSqliteState(options: SqliteOptions, nowMs: number = systemClock.now()): State {
  const { database, origin, backUp } = 'dir' in options ? openStateFile(options.dir, nowMs) : openMemory();
  if ('dir' in options && options.mostPages !== undefined)
    database.exec(`PRAGMA max_page_count = ${options.mostPages}`);
  const select = database.prepare('SELECT memory FROM collector_memory WHERE server = ? AND collector = ?');
  const upsert = database.prepare(
    `INSERT INTO collector_memory (server, collector, memory) VALUES (?, ?, ?)
     ON CONFLICT (server, collector) DO UPDATE SET memory = excluded.memory`,
  );
  return {
    origin,
    ledger: createSqliteLedger(database),
    spool: createSqliteSpool(database),
    recall: async ({ server, collector }) => toMemory(select.get(server, collector)?.memory),
    remember: async ({ server, collector }, memory) => {
      inTransaction(database, () => upsert.run(server, collector, JSON.stringify(memory)));
    },
    backUp,
    close: async () => database.close(),
  };
}

function openMemory(): OpenedFile {
  const database = new DatabaseSync(':memory:');
  migrate(database);
  return { database, origin: { kind: 'usual' }, backUp: async () => undefined };
}

function toMemory(text: unknown): Memory | undefined {
  // The cast is true: only `remember` writes this column.
  return typeof text === 'string' ? (JSON.parse(text) as Memory) : undefined;
}
