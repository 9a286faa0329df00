import type { LedgerDocument, LedgerEntry } from '../ledger.ts';
import type { SpooledTrace } from '../spool.ts';
import { batchSizes, type MemoryRow, type StateRows } from '../state-rows.ts';
import type { Sql } from './connections.ts';

type SpoolRow = Omit<SpooledTrace, 'bytes'> & {
  readonly position: number;
  readonly bytes: Buffer;
  readonly reason: string | null;
  readonly atMs: number | null;
};

/** The rows of a database that replicas share. */
export function createPostgresRows(sql: Sql): StateRows {
  return {
    units: async () => {
      const rows = await sql<{ unit: string }>(
        `SELECT unit FROM ledger_entry UNION SELECT unit FROM ledger_document
         UNION SELECT unit FROM collector_memory UNION SELECT unit FROM spooled_trace ORDER BY unit`,
      );
      return rows.map(({ unit }) => unit);
    },
    documents: (unit) =>
      sql<LedgerDocument>('SELECT kind, key, body FROM ledger_document WHERE unit = $1 ORDER BY kind, key', [unit]),
    memories: (unit) =>
      sql<MemoryRow>('SELECT collector, memory FROM collector_memory WHERE unit = $1 ORDER BY collector', [unit]),
    entries: (unit, after) =>
      sql<LedgerEntry>(
        `SELECT project, id, started_at AS "startedAtMs", ended_at AS "endedAtMs" FROM ledger_entry
         WHERE unit = $1 AND (id, started_at) > ($2, $3) ORDER BY id, started_at LIMIT $4`,
        [unit, after?.id ?? lowest, after?.startedAtMs ?? lowest, batchSizes.entries],
      ),
    traces: async (unit, after) => {
      const rows = await sql<SpoolRow>(
        `SELECT position, key, server, execution AS "executionId", started_at AS "startedAtMs",
           spooled_at AS "spooledAtMs", encoding, spans, bytes, reason, set_aside_at AS "atMs"
         FROM spooled_trace WHERE unit = $1 AND position > $2 ORDER BY position LIMIT $3`,
        [unit, after, batchSizes.traces],
      );
      return rows.map(({ position, reason, atMs, bytes, ...rest }) => ({
        place: position,
        trace: { ...rest, bytes: new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length) },
        why: reason === null ? undefined : { reason, atMs: atMs ?? 0 },
      }));
    },
  };
}

const lowest = Number.MIN_SAFE_INTEGER;

/** Forgets everything of a unit but its lease, within the caller's transaction. */
export async function clearUnit(sql: Sql, unit: string): Promise<void> {
  for (const table of [
    'ledger_entry',
    'ledger_document',
    'collector_memory',
    'spooled_trace',
    'spool_sums',
    'segment',
  ]) {
    await sql(`DELETE FROM ${table} WHERE unit = $1`, [unit]);
  }
}
