import type { DatabaseSync } from 'node:sqlite';
import { StateError, toChecksum } from './state.ts';

/** The schema, one step for each version. Never change a published step. */
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
  `ALTER TABLE ledger_document ADD COLUMN checksum INTEGER NOT NULL DEFAULT 0;
   UPDATE ledger_document SET checksum = checksum_of(server, kind, key, body);
   ALTER TABLE collector_memory ADD COLUMN checksum INTEGER NOT NULL DEFAULT 0;
   UPDATE collector_memory SET checksum = checksum_of(server, collector, memory);
   ALTER TABLE spooled_trace ADD COLUMN checksum INTEGER NOT NULL DEFAULT 0;
   UPDATE spooled_trace
   SET checksum = checksum_of(key, server, execution, started_at, spooled_at, encoding, spans, size, bytes);
   CREATE TABLE state_identity (
     id TEXT NOT NULL,
     commits INTEGER NOT NULL,
     version INTEGER NOT NULL,
     schema_checksum INTEGER NOT NULL
   ) STRICT;
   INSERT INTO state_identity VALUES (lower(hex(randomblob(8))), 0, 0, 0);`,
];

export const newestVersion = migrations.length;

/** From this version on, stored bodies have checksums and the database has an identity. */
export const firstChecked = 4;

/** Updates the database to the newest schema. Each step is a transaction of its own. */
export function migrate(database: DatabaseSync): void {
  const version = readVersion(database);
  // Rows of an older release are accepted unchecked; later damage is noticed.
  database.function('checksum_of', { varargs: true }, (...parts) =>
    toChecksum(parts.map((part) => (part instanceof Uint8Array ? part : String(part)))),
  );
  for (const [index, step] of migrations.entries()) {
    if (index < version) continue;
    database.exec(`BEGIN IMMEDIATE; ${step} PRAGMA user_version = ${index + 1};`);
    if (index + 1 >= firstChecked)
      database
        .prepare('UPDATE state_identity SET version = ?, schema_checksum = ?')
        .run(index + 1, toSchemaChecksum(database));
    database.exec('COMMIT;');
  }
}

/** Returns the version of the schema. Throws if the version is newer, because newer data cannot be interpreted. */
export function readVersion(database: DatabaseSync): number {
  const { user_version: version } = database.prepare('PRAGMA user_version').get() as { user_version: number };
  return version;
}

export function refuseNewer(version: number): void {
  if (version <= newestVersion) return;
  throw new StateError(
    `the state is of a newer version (${version}; this release supports ${newestVersion}); run the newer release, or choose another \`state.dir\``,
  );
}

/** Returns a checksum of the schema. The text of a schema never changes. */
export function toSchemaChecksum(database: DatabaseSync): number {
  const rows = database
    .prepare('SELECT type, name, tbl_name, rootpage, sql FROM sqlite_schema ORDER BY type, name')
    .all();
  return toChecksum(rows.flatMap((row) => Object.values(row).map(String)));
}
