import type { DatabaseSync } from 'node:sqlite';
import { batchSizes, type MemoryRow, type StateRows, type TraceRow } from './copy-state.ts';
import type { LedgerDocument, LedgerEntry } from './ledger.ts';
import type { SpooledTrace } from './spool.ts';

type SpoolRow = SpooledTrace & { position: number; reason: string | null; atMs: number | null };

export function createSqliteRows(database: DatabaseSync): StateRows {
  // These casts are safe: the columns are named and typed by the schema.
  return {
    units: async () =>
      database
        .prepare(
          `SELECT server FROM ledger_entry UNION SELECT server FROM ledger_document
           UNION SELECT iif(instr(server, '/') > 0, substr(server, 1, instr(server, '/') - 1), server) FROM collector_memory
           UNION SELECT server FROM spooled_trace ORDER BY server`,
        )
        .all()
        .map(({ server }) => String(server)),
    documents: async (unit) =>
      database
        .prepare('SELECT kind, key, body FROM ledger_document WHERE server = ? ORDER BY kind, key')
        .all(unit) as unknown as LedgerDocument[],
    memories: async (unit) =>
      database
        .prepare(
          `SELECT server, collector, memory FROM collector_memory
           WHERE server = :unit OR substr(server, 1, length(:unit) + 1) = :unit || '/' ORDER BY server, collector`,
        )
        .all({ unit }) as unknown as MemoryRow[],
    entries: async (unit, after) =>
      database
        .prepare(
          `SELECT project, id, started_at AS startedAtMs, ended_at AS endedAtMs FROM ledger_entry
           WHERE server = ? AND (id, started_at) > (?, ?) ORDER BY id, started_at LIMIT ?`,
        )
        .all(unit, after?.id ?? lowest, after?.startedAtMs ?? lowest, batchSizes.entries) as unknown as LedgerEntry[],
    traces: async (unit, after) =>
      database
        .prepare(
          `SELECT position, key, server, execution AS executionId, started_at AS startedAtMs, spooled_at AS spooledAtMs,
             encoding, spans, bytes, reason, set_aside_at AS atMs
           FROM spooled_trace WHERE server = ? AND position > ? ORDER BY position LIMIT ?`,
        )
        .all(unit, after, batchSizes.traces)
        .map((row) => toTraceRow(row as unknown as SpoolRow)),
  };
}

const lowest = Number.MIN_SAFE_INTEGER;

function toTraceRow({ position, reason, atMs, ...trace }: SpoolRow): TraceRow {
  return { place: position, trace, why: reason === null ? undefined : { reason, atMs: atMs ?? 0 } };
}

/** Removes all rows, so that another state can replace them. */
export function clearSqlite(database: DatabaseSync): void {
  for (const [table, key, most] of [
    ['ledger_entry', 'server, id, started_at', batchSizes.entries],
    ['ledger_document', 'server, kind, key', batchSizes.documents],
    ['collector_memory', 'server, collector', batchSizes.documents],
    ['spooled_trace', 'position', batchSizes.traces],
  ] as const) {
    const some = database.prepare(`DELETE FROM ${table} WHERE (${key}) IN (SELECT ${key} FROM ${table} LIMIT ${most})`);
    while (some.run().changes > 0);
  }
}
