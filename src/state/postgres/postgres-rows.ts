import type { Memory, MemoryKey } from '../../domain/memory.ts';
import { batchSizes, type MemoryRow, type StateRows } from '../copy-state.ts';
import type { LedgerDocument, LedgerEntry } from '../ledger.ts';
import type { SpooledTrace } from '../spool.ts';
import { type State, toOwner } from '../state.ts';
import type { Sql } from './connections.ts';
import type { OwnedUnit } from './owned-unit.ts';

type SpoolRow = Omit<SpooledTrace, 'bytes'> & {
  position: number;
  bytes: Buffer;
  reason: string | null;
  atMs: number | null;
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
    memories: async (unit) => {
      const rows = await sql<Omit<MemoryRow, 'server'>>(
        'SELECT collector, memory FROM collector_memory WHERE unit = $1',
        [unit],
      );
      return rows
        .map(({ collector: kept, memory }) => ({ ...toMemoryKey(unit, kept), memory }))
        .sort((one, other) => compareTexts(one.server, other.server) || compareTexts(one.collector, other.collector));
    },
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

/** Compares texts by bytes, as both databases compare names of servers and collectors. */
function compareTexts(one: string, other: string): number {
  return one < other ? -1 : Number(one > other);
}

/** Removes all rows of a unit except its lease, in several transactions of limited size. */
export async function clearUnit({ unit, write }: OwnedUnit): Promise<void> {
  for (const [table, key, most] of [
    ['ledger_entry', 'unit, id, started_at', batchSizes.entries],
    ['ledger_document', 'unit, kind, digest', batchSizes.documents],
    ['collector_memory', 'unit, collector', batchSizes.documents],
    ['spooled_trace', 'unit, key', batchSizes.traces],
    ['spool_sums', 'unit', 1],
  ] as const) {
    const some = `DELETE FROM ${table}
      WHERE (${key}) IN (SELECT ${key} FROM ${table} WHERE unit = $1 LIMIT ${most}) RETURNING 1`;
    for (let gone = 1; gone > 0; ) gone = await write(async (sql) => (await sql(some, [unit])).length);
  }
}

export function createPostgresMemories({ unit, sql, write }: OwnedUnit): Pick<State, 'recall' | 'remember'> {
  return {
    recall: async (key) => {
      const [row] = await sql<{ memory: string }>(
        'SELECT memory FROM collector_memory WHERE unit = $1 AND collector = $2',
        [unit, toColumn(key)],
      );
      // This cast is safe: only `remember` writes this column.
      return row === undefined ? undefined : (JSON.parse(row.memory) as Memory);
    },
    remember: async (key, memory) => {
      await write((within) =>
        within(
          `INSERT INTO collector_memory (unit, collector, memory) VALUES ($1, $2, $3)
           ON CONFLICT (unit, collector) DO UPDATE SET memory = excluded.memory`,
          [unit, toColumn(key), JSON.stringify(memory)],
        ),
      );
    },
  };
}

/** Joins collector and member with a space, because names of collectors contain none. */
function toColumn({ server, collector }: MemoryKey): string {
  const { member } = toOwner(server);
  return member === undefined ? collector : `${collector} ${member}`;
}

function toMemoryKey(unit: string, column: string): MemoryKey {
  const space = column.indexOf(' ');
  if (space < 0) return { server: unit, collector: column };
  return { server: `${unit}/${column.slice(space + 1)}`, collector: column.slice(0, space) };
}
