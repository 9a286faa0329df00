import type { DatabaseSync } from 'node:sqlite';
import { UnfinishedCopyError } from './shared-state.ts';

/** Marks a state file as the target of an unfinished `migrate`, or as complete. */
export function markCopy(database: DatabaseSync, isUnderWay: boolean): void {
  database.exec(`PRAGMA application_id = ${isUnderWay ? underWay : whole}`);
}

export function hasUnfinishedCopy(database: DatabaseSync): boolean {
  return database.prepare('PRAGMA application_id').get()?.['application_id'] === underWay;
}

/** The application id in the file's header: it changes within a transaction, like rows. */
const [whole, underWay] = [0, 0x68616c66];

/** Refuses to use an incomplete state. */
export function refuseUnfinishedCopy(place: 'database' | 'directory'): never {
  const [where, target, option] =
    place === 'database'
      ? ['in the database', 'postgres', 'state.postgres.schema']
      : ['in the state directory', 'directory', 'state.dir'];
  throw new UnfinishedCopyError(
    `the state ${where} is incomplete, because \`automation-exporter migrate ${target}\` did not finish; run it again, or choose another \`${option}\``,
  );
}
