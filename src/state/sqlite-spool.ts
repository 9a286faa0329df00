import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type {
  QuarantinedTrace,
  QuarantineReason,
  Spool,
  SpoolBounds,
  SpooledSignal,
  SpooledTrace,
  SpoolSize,
} from './spool.ts';
import type { Commit } from './sqlite-commits.ts';
import { toChecksum } from './state.ts';

type SpoolOptions = { commit: Commit; nowMs: () => number; onDamage: (what: string) => void };

/** Creates the spool in SQLite. Triggers update the sums of the spool, because computing them would read the whole queue. */
export function createSqliteSpool(database: DatabaseSync, { commit, nowMs, onDamage }: SpoolOptions): Spool {
  const { line, logs, aside, sums, remove, mark, unmark, markDamaged, drop } = prepareStatements(database);
  const begins = createBegins(database);

  // These casts are safe: the columns are named and typed by the schema.
  function readSums(): SpoolSize {
    const { oldestMs, ...rest } = sums.get() as Omit<SpoolSize, 'oldestMs'> & { oldestMs: number | null };
    return { ...rest, oldestMs: oldestMs ?? undefined };
  }
  /** Quarantines damaged traces. The trace backend would refuse damaged traces for ever, or read them as other traces. */
  function leaveOut(damaged: readonly Row[]): void {
    commit(() => {
      for (const { position } of damaged) markDamaged.run('the stored trace is damaged', nowMs(), position);
    });
    for (const { executionId, server } of damaged) onDamage(`the trace of execution ${executionId} of ${server}`);
  }
  function countChanges(statement: StatementSync, keys: readonly string[]): number {
    let changes = 0;
    commit(() => {
      for (const key of keys) changes += Number(statement.run(key).changes);
    });
    return changes;
  }

  return {
    next: async ({ maxBytes, maxTraces }, but = [], signal = 'traces') => {
      const traces: SpooledTrace[] = [];
      const damaged: Row[] = [];
      let bytes = 0;
      let first: number | undefined;
      for (const row of line.iterate(begins.of(signal), JSON.stringify(but), Number(signal === 'logs'), maxTraces)) {
        // This cast is safe: the columns are named and typed by the schema.
        const { position, size, checksum, ...trace } = row as unknown as Row;
        first ??= position;
        if (checksum !== toTraceChecksum(trace, size)) {
          damaged.push({ position, size, checksum, ...trace });
          continue;
        }
        bytes += trace.bytes.length;
        if (traces.length > 0 && bytes > maxBytes) break;
        traces.push(trace);
      }
      if (but.length === 0) begins.note(signal, first);
      if (damaged.length > 0) leaveOut(damaged);
      return traces;
    },
    remove: async (keys) => {
      countChanges(remove, keys);
    },
    quarantine: async (key: string, { reason, atMs }: QuarantineReason, bounds: SpoolBounds) => {
      let dropped: readonly QuarantinedTrace[] = [];
      commit(() => {
        mark.run(reason, atMs, key);
        dropped = dropBeyond({ aside, remove, readSums }, bounds);
      });
      return dropped;
    },
    // A negative limit means no limit in SQLite.
    quarantined: async () => (aside.all(-1) as unknown as QuarantinedTrace[]).map((trace) => ({ ...trace })),
    retry: async (keys) => {
      begins.forget();
      return countChanges(unmark, keys);
    },
    drop: async (keys) => countChanges(drop, keys),
    size: async () => readSums(),
    // This cast is safe: the columns are named and typed by the schema.
    sizeOfLogs: async () => ({ ...logs.get(begins.of('logs')) }) as Awaited<ReturnType<Spool['sizeOfLogs']>>,
    hasRoom: async ({ maxBytes, maxTraces }) => {
      const { traces, bytes } = readSums();
      return traces < maxTraces && bytes < maxBytes;
    },
  };
}

type Dropping = Record<'aside' | 'remove', StatementSync> & { readonly readSums: () => SpoolSize };

function dropBeyond(
  { aside, remove, readSums }: Dropping,
  { maxTraces, maxBytes }: SpoolBounds,
): readonly QuarantinedTrace[] {
  const dropped: QuarantinedTrace[] = [];
  for (;;) {
    const { quarantinedTraces, quarantinedBytes } = readSums();
    if (quarantinedTraces <= maxTraces && quarantinedBytes <= maxBytes) return dropped;
    const [first] = aside.all(1) as unknown as QuarantinedTrace[];
    if (first === undefined) return dropped;
    remove.run(first.key);
    dropped.push({ ...first });
  }
}

/** Stores where a search in each queue begins: a position with no item before it. */
function createBegins(database: DatabaseSync) {
  // Positions are never reused.
  const end = database.prepare('SELECT ifnull(max(position), 0) + 1 AS position FROM spooled_trace');
  let begins = { traces: 0, logs: 0 };
  return {
    of: (signal: SpooledSignal): number => begins[signal],
    /** `first` is the position of the first item in the queue; undefined if the queue is empty. */
    note: (signal: SpooledSignal, first: number | undefined): void => {
      begins[signal] = first ?? Number(end.get()?.['position']);
    },
    forget: (): void => {
      begins = { traces: 0, logs: 0 };
    },
  };
}

/** Prepares the statements of the spool. A quarantined trace has a reason. */
function prepareStatements(database: DatabaseSync) {
  return {
    line: database.prepare(
      `SELECT key, server, execution AS executionId, started_at AS startedAtMs, spooled_at AS spooledAtMs, encoding, spans, bytes,
       position, size, checksum
     FROM spooled_trace WHERE reason IS NULL AND position >= ? AND key NOT IN (SELECT value FROM json_each(?)) AND (encoding LIKE 'logs-%') = ?
     ORDER BY position LIMIT ?`,
    ),
    logs: database.prepare(
      `SELECT count(*) AS traces, ifnull(sum(size), 0) AS bytes
       FROM spooled_trace WHERE reason IS NULL AND position >= ? AND encoding LIKE 'logs-%'`,
    ),
    aside: database.prepare(
      `SELECT key, server, execution AS executionId, started_at AS startedAtMs, spooled_at AS spooledAtMs, encoding, spans,
       size, reason, set_aside_at AS atMs
     FROM spooled_trace WHERE reason IS NOT NULL ORDER BY set_aside_at, position LIMIT ?`,
    ),
    sums: database.prepare(
      `SELECT traces, bytes, set_aside AS quarantinedTraces, set_aside_bytes AS quarantinedBytes,
       (SELECT spooled_at FROM spooled_trace WHERE reason IS NULL ORDER BY position LIMIT 1) AS oldestMs
     FROM spool_sums`,
    ),
    remove: database.prepare('DELETE FROM spooled_trace WHERE key = ?'),
    mark: database.prepare('UPDATE spooled_trace SET reason = ?, set_aside_at = ? WHERE key = ?'),
    unmark: database.prepare(
      'UPDATE spooled_trace SET reason = NULL, set_aside_at = NULL WHERE key = ? AND reason IS NOT NULL',
    ),
    markDamaged: database.prepare('UPDATE spooled_trace SET reason = ?, set_aside_at = ? WHERE position = ?'),
    drop: database.prepare('DELETE FROM spooled_trace WHERE key = ? AND reason IS NOT NULL'),
  };
}

type Row = SpooledTrace & { position: number; size: number; checksum: number };

function toTraceChecksum(trace: SpooledTrace, size: number): number {
  const { key, server, executionId, startedAtMs, spooledAtMs, encoding, spans, bytes } = trace;
  return toChecksum([key, server, executionId, startedAtMs, spooledAtMs, encoding, spans, size, bytes]);
}

/** Computes the sums from the traces again, so that wrong sums need no backup. */
export function healSums(database: DatabaseSync): void {
  database.exec(
    `UPDATE spool_sums SET (traces, bytes, set_aside, set_aside_bytes) = (sound.traces, sound.bytes, sound.aside, sound.aside_bytes)
     FROM (
       SELECT count(*) FILTER (WHERE reason IS NULL) AS traces, ifnull(sum(size) FILTER (WHERE reason IS NULL), 0) AS bytes,
         count(reason) AS aside, ifnull(sum(size) FILTER (WHERE reason IS NOT NULL), 0) AS aside_bytes
       FROM spooled_trace
     ) AS sound
     WHERE (spool_sums.traces, spool_sums.bytes, spool_sums.set_aside, spool_sums.set_aside_bytes)
       IS NOT (sound.traces, sound.bytes, sound.aside, sound.aside_bytes);`,
  );
}

/** Appends traces to the queue in the transaction of the caller. */
export function createSpoolWriter(database: DatabaseSync): (traces: readonly SpooledTrace[]) => void {
  const insert = database.prepare(
    `INSERT INTO spooled_trace (key, server, execution, started_at, spooled_at, encoding, spans, size, bytes, checksum)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (key) DO NOTHING`,
  );
  return (traces) => {
    for (const trace of traces) {
      const { key, server, executionId, startedAtMs, spooledAtMs, encoding, spans, bytes } = trace;
      const values = [key, server, executionId, startedAtMs, spooledAtMs, encoding, spans, bytes.length, bytes];
      insert.run(...values, toTraceChecksum(trace, bytes.length));
    }
  };
}
