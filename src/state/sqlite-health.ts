import { statSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { firstChecked, newestVersion, readVersion, toSchemaChecksum } from './migrations.ts';
import { toChecksum } from './state.ts';

/** Reports whether the parsed body of a document has the shape of its kind. */
export type IsSound = (kind: string, body: unknown) => boolean;

export type HealthOptions = {
  readonly isSound?: IsSound | undefined;
  /**
   * True to compare all entries with their index, which takes a second for a million entries. If false, the entries are
   * compared only if there are fewer than 200,000.
   */
  readonly isThorough: boolean;
};

/** Reads the whole database. Returns a description of damage; undefined if there is none. */
export function findDamage(
  database: DatabaseSync,
  { isSound = () => true, isThorough }: HealthOptions,
): string | undefined {
  const { quick_check: found } = database.prepare('PRAGMA quick_check(1)').get() ?? {};
  if (found !== 'ok') return String(found);
  const wrong = findWrongSchema(database);
  // The content of a newer release cannot be checked.
  if (wrong !== undefined || readVersion(database) > newestVersion) return wrong;
  const comparesEntries = isThorough || countEntries(database) < manyEntries;
  return (
    (comparesEntries ? findWrongEntries(database) : undefined) ??
    findWrongSpool(database) ??
    findWrongText(database, isSound)
  );
}

function findWrongSchema(database: DatabaseSync): string | undefined {
  const version = readVersion(database);
  if (!hasTable(database, 'state_identity')) return version < firstChecked ? undefined : 'the schema is incomplete';
  const identity = database.prepare('SELECT version, schema_checksum AS checksum FROM state_identity').get();
  if (identity?.['version'] !== version) return 'the version of the schema has changed';
  return identity['checksum'] === toSchemaChecksum(database) ? undefined : 'the schema has changed';
}

/**
 * Compares the sums of the entries and of their index, which has all their columns. The comparison is ten times as fast as the
 * check of SQLite. Each project has a number that is part of the sums, so that an entry under a wrong project changes the sums.
 */
function findWrongEntries(database: DatabaseSync): string | undefined {
  if (countEntries(database) === 0) return undefined;
  database.exec(
    `PRAGMA temp_store = MEMORY;
     CREATE TEMP TABLE project_number (server TEXT, project TEXT, number INTEGER, PRIMARY KEY (server, project)) WITHOUT ROWID;
     INSERT INTO project_number
     SELECT server, project, row_number() OVER () FROM (SELECT DISTINCT server, project FROM ledger_entry INDEXED BY ledger_entry_by_end);`,
  );
  const sum = (index: string): string =>
    JSON.stringify(
      database
        .prepare(
          `SELECT count(*), total(id), total(started_at), total(ended_at), total(number * id), total(number * ended_at)
           FROM ledger_entry INDEXED BY ${index} CROSS JOIN project_number USING (server, project)`,
        )
        .get(),
    );
  // The index that represents a table without rowids.
  const isSame = sum('sqlite_autoindex_ledger_entry_1') === sum('ledger_entry_by_end');
  database.exec('DROP TABLE temp.project_number');
  return isSame ? undefined : 'entries differ from their index';
}

const manyEntries = 200_000;

function countEntries(database: DatabaseSync): number {
  if (!hasTable(database, 'ledger_entry')) return 0;
  return Number(database.prepare('SELECT count(*) AS entries FROM ledger_entry').get()?.entries);
}

/** Checks traces without their bytes, which are checked when they are read, so that only a damaged trace is quarantined. */
function findWrongSpool(database: DatabaseSync): string | undefined {
  if (!hasTable(database, 'spooled_trace')) return undefined;
  const { integrity_check: found } = database.prepare('PRAGMA integrity_check(spooled_trace)').get() ?? {};
  return found === 'ok' ? undefined : String(found);
}

function findWrongText(database: DatabaseSync, isSound: IsSound): string | undefined {
  for (const { table, columns, isRight } of texts) {
    if (!hasTable(database, table)) continue;
    const isChecked = readVersion(database) >= firstChecked;
    const select = database.prepare(`SELECT ${columns}${isChecked ? ', checksum' : ''} FROM ${table}`);
    for (const { checksum, ...parts } of select.iterate()) {
      const values = Object.values(parts).map(String);
      if (isChecked && checksum !== toChecksum(values)) return `a row of ${table} has a wrong checksum`;
      if (!isRight(values, isSound)) return `a text of ${table} has an unexpected form`;
    }
  }
  return undefined;
}

type Text = { table: string; columns: string; isRight: (values: readonly string[], isSound: IsSound) => boolean };

const texts: readonly Text[] = [
  {
    table: 'ledger_document',
    columns: 'server, kind, key, body',
    isRight: ([, kind = '', , body = ''], isSound) => {
      const parsed = parse(body);
      return parsed !== undefined && isSound(kind, parsed);
    },
  },
  {
    table: 'collector_memory',
    columns: 'server, collector, memory',
    isRight: ([, , memory = '']) => isMemory(parse(memory)),
  },
];

function hasTable(database: DatabaseSync, table: string): boolean {
  return database.prepare('SELECT 1 FROM sqlite_schema WHERE name = ?').get(table) !== undefined;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isMemory(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.values(value).every((part) => plain.has(typeof part));
}

const plain = new Set(['string', 'number']);

/** Checks a file that is not in use. A large file is checked in a separate thread, because reading it takes long. */
export async function findDamageOfFile(file: string): Promise<string | undefined> {
  if (statSync(file).size < largeBytes) return checkFile(file);
  const data: Task = { fileToCheck: file };
  const worker = new Worker(new URL(import.meta.url), { workerData: data });
  return new Promise((resolve, reject) => {
    worker.once('message', resolve);
    worker.once('error', reject);
    worker.once('exit', (code) => reject(new Error(`the check of ${file} ended with ${code}`)));
  });
}

/** A smaller file is checked in a few milliseconds. Starting a thread takes 100 ms, and seconds on a busy machine. */
const largeBytes = 2 ** 20;

type Task = { fileToCheck: string };

function isTask(data: unknown): data is Task {
  return typeof data === 'object' && data !== null && 'fileToCheck' in data;
}

function checkFile(file: string): string | undefined {
  const database = new DatabaseSync(file, { readOnly: true });
  try {
    return findDamage(database, { isThorough: true });
  } catch (error) {
    return String(error);
  } finally {
    database.close();
  }
}

// The part that runs in the separate thread.
if (!isMainThread && isTask(workerData)) parentPort?.postMessage(checkFile(workerData.fileToCheck));
