import type { DatabaseSync } from 'node:sqlite';
import type { SetAsideTrace, Spool, SpoolBounds, SpooledTrace, SpoolSize, WhySetAside } from './spool.ts';
import { inTransaction } from './sqlite-transaction.ts';

/** The spool in the embedded database. Its sums are kept by triggers, so that asking for them never reads the line. */
export function createSqliteSpool(database: DatabaseSync): Spool {
  const line = database.prepare(
    `SELECT key, server, execution AS executionId, started_at AS startedAtMs, spooled_at AS spooledAtMs, encoding, spans, bytes
     FROM spooled_trace WHERE reason IS NULL ORDER BY position LIMIT ?`,
  );
  const aside = database.prepare(
    `SELECT key, server, execution AS executionId, started_at AS startedAtMs, spooled_at AS spooledAtMs, encoding, spans,
       size, reason, set_aside_at AS atMs
     FROM spooled_trace WHERE reason IS NOT NULL ORDER BY set_aside_at, position LIMIT ?`,
  );
  const sums = database.prepare(
    `SELECT traces, bytes, set_aside AS setAside, set_aside_bytes AS setAsideBytes,
       (SELECT spooled_at FROM spooled_trace WHERE reason IS NULL ORDER BY position LIMIT 1) AS oldestMs
     FROM spool_sums`,
  );
  const remove = database.prepare('DELETE FROM spooled_trace WHERE key = ?');
  const mark = database.prepare('UPDATE spooled_trace SET reason = ?, set_aside_at = ? WHERE key = ?');
  const unmark = database.prepare(
    'UPDATE spooled_trace SET reason = NULL, set_aside_at = NULL WHERE key = ? AND reason IS NOT NULL',
  );
  const drop = database.prepare('DELETE FROM spooled_trace WHERE key = ? AND reason IS NOT NULL');

  // The casts are true: the columns are named and typed by the schema.
  function readSums(): SpoolSize {
    const { oldestMs, ...rest } = sums.get() as Omit<SpoolSize, 'oldestMs'> & { oldestMs: number | null };
    return { ...rest, oldestMs: oldestMs ?? undefined };
  }
  function dropBeyond({ maxTraces, maxBytes }: SpoolBounds): readonly SetAsideTrace[] {
    const dropped: SetAsideTrace[] = [];
    for (;;) {
      const { setAside, setAsideBytes } = readSums();
      if (setAside <= maxTraces && setAsideBytes <= maxBytes) return dropped;
      const [first] = aside.all(1) as unknown as SetAsideTrace[];
      if (first === undefined) return dropped;
      remove.run(first.key);
      dropped.push({ ...first });
    }
  }
  function countChanges(statement: typeof drop, keys: readonly string[]): number {
    let changes = 0;
    inTransaction(database, () => {
      for (const key of keys) changes += Number(statement.run(key).changes);
    });
    return changes;
  }

  return {
    next: async ({ maxBytes, maxTraces }) => {
      const traces: SpooledTrace[] = [];
      let bytes = 0;
      for (const row of line.iterate(maxTraces)) {
        const trace = row as unknown as SpooledTrace;
        bytes += trace.bytes.length;
        if (traces.length > 0 && bytes > maxBytes) break;
        traces.push({ ...trace });
      }
      return traces;
    },
    remove: async (keys) => {
      countChanges(remove, keys);
    },
    setAside: async (key: string, { reason, atMs }: WhySetAside, bounds: SpoolBounds) => {
      let dropped: readonly SetAsideTrace[] = [];
      inTransaction(database, () => {
        mark.run(reason, atMs, key);
        dropped = dropBeyond(bounds);
      });
      return dropped;
    },
    // SQLite reads a negative limit as none.
    setAsides: async () => (aside.all(-1) as unknown as SetAsideTrace[]).map((trace) => ({ ...trace })),
    retry: async (keys) => countChanges(unmark, keys),
    drop: async (keys) => countChanges(drop, keys),
    size: async () => readSums(),
    hasRoom: async ({ maxBytes, maxTraces }) => {
      const { traces, bytes } = readSums();
      return traces < maxTraces && bytes < maxBytes;
    },
  };
}

/** Puts traces at the end of the line, within the transaction of whoever calls it. */
export function createSpoolWriter(database: DatabaseSync): (traces: readonly SpooledTrace[]) => void {
  const insert = database.prepare(
    `INSERT INTO spooled_trace (key, server, execution, started_at, spooled_at, encoding, spans, size, bytes)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (key) DO NOTHING`,
  );
  return (traces) => {
    for (const { key, server, executionId, startedAtMs, spooledAtMs, encoding, spans, bytes } of traces) {
      insert.run(key, server, executionId, startedAtMs, spooledAtMs, encoding, spans, bytes.length, bytes);
    }
  };
}
