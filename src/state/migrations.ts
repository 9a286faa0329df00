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
