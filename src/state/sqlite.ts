import { DatabaseSync } from 'node:sqlite';
import type { Clock } from '../domain/clock.ts';
import type { Memory } from '../domain/memory.ts';
import { systemClock } from '../system-clock.ts';
import { toChecksum } from './checksum.ts';
import { migrate } from './migrations.ts';
import { createCommit } from './sqlite-commits.ts';
import { type OpenedFile, openStateFile } from './sqlite-file.ts';
import type { IsSound } from './sqlite-health.ts';
import { createSqliteLedger } from './sqlite-ledger.ts';
import { createSqliteSpool } from './sqlite-spool.ts';
import type { State } from './state.ts';

/** A limit of pages stands for a full disk. */
export type SqliteOptions = Partial<StateRules> &
  ({ readonly dir: string; readonly mostPages?: number } | { readonly memory: true });

type StateRules = {
  /** Whether the parsed body of a document has the shape of its kind; a state with another is damaged. */
  readonly isSound: IsSound;
  /** Called with what was found damaged while the state is in use, and set aside. */
  readonly onDamage: (what: string) => void;
};

/** State in one embedded SQLite file, locked by its owner for as long as it is open. */
export function openSqliteState(options: SqliteOptions, clock: Pick<Clock, 'now'> = systemClock): State {
  const { isSound, onDamage = () => undefined } = options;
  const opened = 'dir' in options ? openStateFile({ dir: options.dir, nowMs: clock.now(), isSound }) : openMemory();
  const { database, origin, commit, backUp, close } = opened;
  if ('dir' in options && options.mostPages !== undefined)
    database.exec(`PRAGMA max_page_count = ${options.mostPages}`);
  const select = database.prepare('SELECT memory FROM collector_memory WHERE server = ? AND collector = ?');
  const upsert = database.prepare(
    `INSERT INTO collector_memory (server, collector, memory, checksum) VALUES (?, ?, ?, ?)
     ON CONFLICT (server, collector) DO UPDATE SET memory = excluded.memory, checksum = excluded.checksum`,
  );
  return {
    origin,
    ledger: createSqliteLedger(database, commit),
    spool: createSqliteSpool(database, { commit, nowMs: clock.now, onDamage }),
    recall: async ({ server, collector }) => toMemory(select.get(server, collector)?.memory),
    remember: async ({ server, collector }, memory) => {
      const text = JSON.stringify(memory);
      commit(() => upsert.run(server, collector, text, toChecksum([server, collector, text])));
    },
    backUp,
    close: async () => close(),
  };
}

function openMemory(): OpenedFile {
  const database = new DatabaseSync(':memory:');
  migrate(database);
  return {
    database,
    origin: { kind: 'usual' },
    commit: createCommit(database),
    backUp: async () => undefined,
    close: () => database.close(),
  };
}

function toMemory(text: unknown): Memory | undefined {
  // The cast is true: only `remember` writes this column.
  return typeof text === 'string' ? (JSON.parse(text) as Memory) : undefined;
}
