import { closeSync, constants, openSync, readFileSync, writeSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import { explainFault } from './explain-fault.ts';
import { StateError } from './state.ts';

/** Runs work as one transaction, and increments the count in the database and in the file beside it. */
export type Commit = (work: () => void) => void;

export function createCommit(database: DatabaseSync, file?: Pick<CommitFile, 'note'>): Commit {
  const count = database.prepare('UPDATE state_identity SET commits = commits + 1 RETURNING id, commits');
  return (work) => {
    let counted: CommitCount | undefined;
    inTransaction(database, () => {
      work();
      // This cast is safe: the columns are named and typed by the schema.
      counted = count.get() as CommitCount | undefined;
    });
    if (counted !== undefined) file?.note(counted);
  };
}

/** Returns the number of commits of a database before it is closed. */
export function readLastCommits(database: DatabaseSync): CommitCount | undefined {
  try {
    return readCommits(database);
  } catch {
    return undefined;
  }
}

/** Returns the number of committed transactions; undefined for a database of an older release. */
export function readCommits(database: DatabaseSync): CommitCount | undefined {
  const has = database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'state_identity'").get() !== undefined;
  // This cast is safe: the columns are named and typed by the schema.
  return has ? (database.prepare('SELECT id, commits FROM state_identity').get() as CommitCount) : undefined;
}

export function inTransaction(database: DatabaseSync, work: () => void): void {
  try {
    database.exec('BEGIN IMMEDIATE');
    work();
    database.exec('COMMIT');
  } catch (error) {
    // After some errors, SQLite has already ended the transaction.
    if (database.isTransaction) database.exec('ROLLBACK');
    throw new StateError(`the state cannot be written: ${explainFault(error)}`, { cause: error });
  }
}

/** The number of transactions that a database has committed, with the id of the database. */
export type CommitCount = { readonly id: string; readonly commits: number };

/** The last recorded commit, and whether the database was then closed properly. */
type NotedCommit = CommitCount & { readonly isClosed: boolean };

type CommitFile = ReturnType<typeof openCommitFile>;

/**
 * Stores the number of the last commit in a file beside the database, to find lost commits: a database with a smaller number
 * has lost some. The file is not synced, but survives the end of the process. After a power loss, it may be behind the
 * database, whose log is synced, but never ahead of it.
 */
export function openCommitFile(path: string) {
  let descriptor: number | undefined;
  function write({ id, commits }: CommitCount, mark: 'open  ' | 'closed'): void {
    try {
      descriptor ??= openSync(path, constants.O_RDWR | constants.O_CREAT | constants.O_NOFOLLOW, 0o600);
      // The length is constant, so that writing in place works on a full disk.
      writeSync(descriptor, `${id} ${String(commits).padStart(16, '0')} ${mark}\n`, 0);
    } catch {
      // The transaction is committed; the file only helps to notice a later loss.
    }
  }
  return {
    note: (count: CommitCount) => write(count, 'open  '),
    /**
     * Records that the database was closed properly. After suspected damage, records that the next start must check the
     * database.
     */
    close: (count: CommitCount | undefined, isSuspect = false): void => {
      if (count !== undefined) write(count, isSuspect ? 'open  ' : 'closed');
      if (descriptor !== undefined) closeSync(descriptor);
      descriptor = undefined;
    },
  };
}

/** Returns the last record; undefined if it cannot be read. */
export function readCommitFile(path: string): NotedCommit | undefined {
  try {
    const found = /^([0-9a-f]{16}) (\d{16}) (open {2}|closed)\n$/.exec(readFileSync(path, 'latin1')) ?? [];
    const [, id, commits, mark] = found;
    return id === undefined ? undefined : { id, commits: Number(commits), isClosed: mark === 'closed' };
  } catch {
    return undefined;
  }
}
