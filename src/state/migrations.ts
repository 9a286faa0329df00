import type { DatabaseSync } from 'node:sqlite';
import { StateError } from './state.ts';

/** The schema, one step a version; steps that have shipped never change. */
const migrations: readonly string[] = [
  `CREATE TABLE collector_memory (
     server TEXT NOT NULL,
     collector TEXT NOT NULL,
     memory TEXT NOT NULL,
     PRIMARY KEY (server, collector)
   ) STRICT, WITHOUT ROWID;`,
  `CREATE TABLE ledger_entry (
     server TEXT NOT NULL,
     id INTEGER NOT NULL,
     started_at INTEGER NOT NULL,
     project TEXT NOT NULL,
     ended_at INTEGER NOT NULL,
     PRIMARY KEY (server, id, started_at)
   ) STRICT, WITHOUT ROWID;
   CREATE INDEX ledger_entry_by_end ON ledger_entry (server, project, ended_at);
   CREATE TABLE ledger_document (
     server TEXT NOT NULL,
     kind TEXT NOT NULL,
     key TEXT NOT NULL,
     body TEXT NOT NULL,
     PRIMARY KEY (server, kind, key)
   ) STRICT, WITHOUT ROWID;`,
];

/** Brings the database to the newest schema, each step in a transaction of its own. */
export function migrate(database: DatabaseSync): void {
  const { user_version: version } = database.prepare('PRAGMA user_version').get() as { user_version: number };
  if (version > migrations.length) {
    database.close();
    throw new StateError(
      `the state is of a newer version (${version}, this one knows ${migrations.length}); run that release, or choose another \`state.dir\``,
    );
  }
  for (const [index, step] of migrations.entries()) {
    if (index < version) continue;
    database.exec(`BEGIN IMMEDIATE; ${step} PRAGMA user_version = ${index + 1}; COMMIT;`);
  }
}
