import type { DatabaseSync } from 'node:sqlite';
import { explainFault } from './explain-fault.ts';
import { StateError } from './state.ts';

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
