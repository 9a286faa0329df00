import type { DatabaseSync } from 'node:sqlite';
import type { CommitCount, CommitFile } from './commit-file.ts';
import { explainFault } from './explain-fault.ts';
import { StateError } from './state.ts';

/** Runs some work as one transaction, which is counted in the database and noted in the file next to it. */
export type Commit = (work: () => void) => void;

export function createCommit(database: DatabaseSync, file?: Pick<CommitFile, 'note'>): Commit {
  const count = database.prepare('UPDATE state_identity SET commits = commits + 1 RETURNING id, commits');
  return (work) => {
    let counted: CommitCount | undefined;
    inTransaction(database, () => {
      work();
      // The cast is true: the columns are named and typed by the schema.
      counted = count.get() as CommitCount | undefined;
    });
    if (counted !== undefined) file?.note(counted);
  };
}

/** The same at the end; undefined also where that cannot be read any longer. */
export function readLastCommits(database: DatabaseSync): CommitCount | undefined {
  try {
    return readCommits(database);
  } catch {
    return undefined;
  }
}

/** Reads the number of committed transactions; undefined for a database of an older release. */
export function readCommits(database: DatabaseSync): CommitCount | undefined {
  const has = database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'state_identity'").get() !== undefined;
  // The cast is true: the columns are named and typed by the schema.
  return has ? (database.prepare('SELECT id, commits FROM state_identity').get() as CommitCount) : undefined;
}

/** Runs some work as one transaction: all of it, or nothing. */
export function inTransaction(database: DatabaseSync, work: () => void): void {
  try {
    database.exec('BEGIN IMMEDIATE');
    work();
    database.exec('COMMIT');
  } catch (error) {
    // Some faults have ended the transaction already.
    if (database.isTransaction) database.exec('ROLLBACK');
    throw new StateError(`the state cannot be written: ${explainFault(error)}`, { cause: error });
  }
}
