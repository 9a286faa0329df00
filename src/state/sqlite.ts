import { chmodSync, mkdirSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Memory } from '../domain/memory.ts';
import { migrate } from './migrations.ts';
import { createSqliteLedger } from './sqlite-ledger.ts';
import { createSqliteSpool } from './sqlite-spool.ts';
import { type State, StateError } from './state.ts';

export type SqliteOptions = { readonly dir: string } | { readonly memory: true };

/** State in one embedded SQLite file, locked by its owner for as long as it is open. */
export function openSqliteState(options: SqliteOptions): State {
  const database = 'dir' in options ? openFile(options.dir) : new DatabaseSync(':memory:');
  if (!('dir' in options)) migrate(database);
  const select = database.prepare('SELECT memory FROM collector_memory WHERE server = ? AND collector = ?');
  const upsert = database.prepare(
    `INSERT INTO collector_memory (server, collector, memory) VALUES (?, ?, ?)
     ON CONFLICT (server, collector) DO UPDATE SET memory = excluded.memory`,
  );
  return {
    ledger: createSqliteLedger(database),
    spool: createSqliteSpool(database),
    recall: async ({ server, collector }) => toMemory(select.get(server, collector)?.memory),
    remember: async ({ server, collector }, memory) => {
      upsert.run(server, collector, JSON.stringify(memory));
    },
    close: async () => database.close(),
  };
}

function openFile(dir: string): DatabaseSync {
  const file = join(dir, 'state.sqlite');
  try {
    makeDirectory(dir);
    const database = new DatabaseSync(file, { timeout: 0 });
    // Before the first write: SQLite gives its other files the mode of this one.
    chmodSync(file, 0o600);
    // The lock is the operating system's: it goes with the process, whatever becomes of it.
    database.exec('PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;');
    database.exec('BEGIN IMMEDIATE; COMMIT;');
    const { quick_check: health } = database.prepare('PRAGMA quick_check(1)').get() ?? {};
    if (health !== 'ok') throw new StateError(`the state directory ${dir} can not be used: ${damaged}`);
    migrate(database);
    return database;
  } catch (error) {
    if (error instanceof StateError) throw error;
    throw new StateError(`the state directory ${dir} can not be used: ${explain(error)}`, { cause: error });
  }
}

const damaged = 'its state.sqlite is damaged; move the file away to start anew';

function explain(error: unknown): string {
  const { code, errcode, message } = error as { code?: string; errcode?: number; message?: string };
  if (errcode === 5) return 'another process uses it; stop that one, or give this one its own `state.dir`';
  if (errcode === 26) return 'its state.sqlite is no database; move the file away to start anew';
  if (errcode === 11) return damaged;
  if (
    code === 'EACCES' ||
    code === 'EPERM' ||
    code === 'EROFS' ||
    code === 'ENOENT' ||
    errcode === 14 ||
    errcode === 8
  ) {
    return 'no permission; give the user of this process write access, or choose another `state.dir`';
  }
  if (code === 'EEXIST' || code === 'ENOTDIR') return 'it is no directory; choose another `state.dir`';
  return message ?? 'unknown error';
}

/** One folder after the other: Node's own recursion never ends where a file system refuses without saying so. */
function makeDirectory(dir: string): void {
  const found = statSync(dir, { throwIfNoEntry: false });
  if (found?.isDirectory()) return;
  if (found !== undefined) throw Object.assign(new Error(`${dir} is no directory`), { code: 'ENOTDIR' });
  makeDirectory(dirname(resolve(dir)));
  mkdirSync(dir, { mode: 0o700 });
}

function toMemory(text: unknown): Memory | undefined {
  // The cast is true: only `remember` writes this column.
  return typeof text === 'string' ? (JSON.parse(text) as Memory) : undefined;
}
