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
  `CREATE TABLE spooled_trace (
     position INTEGER PRIMARY KEY AUTOINCREMENT,
     key TEXT NOT NULL UNIQUE,
     server TEXT NOT NULL,
     execution TEXT NOT NULL,
     started_at INTEGER NOT NULL,
     spooled_at INTEGER NOT NULL,
     encoding TEXT NOT NULL,
     spans INTEGER NOT NULL,
     size INTEGER NOT NULL,
     reason TEXT,
     set_aside_at INTEGER,
     bytes BLOB NOT NULL
   ) STRICT;
   CREATE INDEX spooled_trace_line ON spooled_trace (position) WHERE reason IS NULL;
   CREATE INDEX spooled_trace_aside ON spooled_trace (set_aside_at, position) WHERE reason IS NOT NULL;
   CREATE TABLE spool_sums (
     traces INTEGER NOT NULL,
     bytes INTEGER NOT NULL,
     set_aside INTEGER NOT NULL,
     set_aside_bytes INTEGER NOT NULL
   ) STRICT;
   INSERT INTO spool_sums VALUES (0, 0, 0, 0);
   CREATE TRIGGER spool_sums_insert AFTER INSERT ON spooled_trace BEGIN
     UPDATE spool_sums SET
       traces = traces + (NEW.reason IS NULL), bytes = bytes + (NEW.reason IS NULL) * NEW.size,
       set_aside = set_aside + (NEW.reason IS NOT NULL),
       set_aside_bytes = set_aside_bytes + (NEW.reason IS NOT NULL) * NEW.size;
   END;
   CREATE TRIGGER spool_sums_delete AFTER DELETE ON spooled_trace BEGIN
     UPDATE spool_sums SET
       traces = traces - (OLD.reason IS NULL), bytes = bytes - (OLD.reason IS NULL) * OLD.size,
       set_aside = set_aside - (OLD.reason IS NOT NULL),
       set_aside_bytes = set_aside_bytes - (OLD.reason IS NOT NULL) * OLD.size;
   END;
   CREATE TRIGGER spool_sums_update AFTER UPDATE OF reason ON spooled_trace
   WHEN (OLD.reason IS NULL) <> (NEW.reason IS NULL) BEGIN
     UPDATE spool_sums SET
       traces = traces + (NEW.reason IS NULL) - (OLD.reason IS NULL),
       bytes = bytes + ((NEW.reason IS NULL) - (OLD.reason IS NULL)) * NEW.size,
       set_aside = set_aside + (NEW.reason IS NOT NULL) - (OLD.reason IS NOT NULL),
       set_aside_bytes = set_aside_bytes + ((NEW.reason IS NOT NULL) - (OLD.reason IS NOT NULL)) * NEW.size;
   END;`,
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
