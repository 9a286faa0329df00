import { DatabaseSync } from 'node:sqlite';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';

/** What is wrong with a database as it is on disk; undefined where nothing is. Reads all of it. */
export function findDamage(database: DatabaseSync): string | undefined {
  const { quick_check: found } = database.prepare('PRAGMA quick_check(1)').get() ?? {};
  if (found !== 'ok') return String(found);
  // What SQLite can read may still have bits that flipped.
  for (const [table, column] of texts) {
    const has = database.prepare(`SELECT 1 FROM sqlite_schema WHERE name = ?`).get(table) !== undefined;
    if (has && database.prepare(`SELECT 1 FROM ${table} WHERE NOT json_valid(${column}) LIMIT 1`).get() !== undefined)
      return `a text in ${table} can not be read`;
  }
  return undefined;
}

const texts = [
  ['ledger_document', 'body'],
  ['collector_memory', 'memory'],
] as const;

/** The same of a file that nobody uses, on a thread of its own: reading all of it takes its time. */
export async function findDamageOfFile(file: string): Promise<string | undefined> {
  const data: Task = { fileToCheck: file };
  const worker = new Worker(new URL(import.meta.url), { workerData: data });
  return new Promise((resolve, reject) => {
    worker.once('message', resolve);
    worker.once('error', reject);
    worker.once('exit', (code) => reject(new Error(`the check of ${file} ended with ${code}`)));
  });
}

type Task = { readonly fileToCheck: string };

function isTask(data: unknown): data is Task {
  return typeof data === 'object' && data !== null && 'fileToCheck' in data;
}

function checkFile(file: string): string | undefined {
  const database = new DatabaseSync(file, { readOnly: true });
  try {
    return findDamage(database);
  } catch (error) {
    return String(error);
  } finally {
    database.close();
  }
}

// On that thread.
if (!isMainThread && isTask(workerData)) parentPort?.postMessage(checkFile(workerData.fileToCheck));
