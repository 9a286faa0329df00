import type { QuarantinedTrace, Spool, SpoolBounds, SpoolEncoding, SpooledTrace, SpoolSize } from '../spool.ts';
import type { Sql } from './connections.ts';
import { type OwnedUnit, toText } from './owned-unit.ts';

/** Creates the spool of one unit. Sums are updated with each trace, because computing them would read the whole queue. */
export function createPostgresSpool({ unit, sql, write }: OwnedUnit): Spool {
  const readSize = async (): Promise<SpoolSize> => toSize(await sql<SumsRow>(sumsAndOldest, [unit]));

  return {
    next: async ({ maxBytes, maxTraces }, but = [], signal = 'traces') => {
      const rows = await sql<TraceRow>(line, [unit, but, maxTraces, maxBytes, signal === 'logs']);
      return rows.map(({ bytes, ...rest }) => ({ ...rest, bytes: toBytes(bytes) }));
    },
    remove: async (keys) => {
      if (keys.length > 0) await write((within) => removeTraces(within, unit, keys, ''));
    },
    quarantine: async (key, { reason, atMs }, bounds) =>
      write(async (within) => {
        const before = await sumOf(within, unit, [key], '');
        await within('UPDATE spooled_trace SET reason = $3, set_aside_at = $4 WHERE unit = $1 AND key = $2', [
          unit,
          key,
          toText(reason),
          atMs,
        ]);
        const after = await sumOf(within, unit, [key], '');
        await addToSums(within, unit, toDifference(after, before));
        return dropBeyond(within, unit, bounds);
      }),
    quarantined: async () => {
      const rows = await sql<QuarantinedTrace>(`${aside} WHERE unit = $1 AND reason IS NOT NULL ${asideOrder}`, [unit]);
      return rows;
    },
    retry: async (keys) =>
      write(async (within) => {
        const before = await sumOf(within, unit, keys, 'AND reason IS NOT NULL');
        await within(
          `UPDATE spooled_trace SET reason = NULL, set_aside_at = NULL
           WHERE unit = $1 AND key = ANY ($2::text[]) AND reason IS NOT NULL`,
          [unit, keys],
        );
        await addToSums(within, unit, {
          traces: before.set_aside,
          bytes: before.set_aside_bytes,
          set_aside: -before.set_aside,
          set_aside_bytes: -before.set_aside_bytes,
        });
        return before.set_aside;
      }),
    drop: async (keys) => write((within) => removeTraces(within, unit, keys, 'AND reason IS NOT NULL')),
    size: readSize,
    sizeOfLogs: async () => {
      const [found] = await sql<Pick<Sums, 'traces' | 'bytes'>>(
        `SELECT count(*) AS traces, coalesce(sum(size), 0)::bigint AS bytes
         FROM spooled_trace WHERE unit = $1 AND reason IS NULL AND encoding LIKE 'logs-%'`,
        [unit],
      );
      return found ?? nothing;
    },
    hasRoom: async ({ maxBytes, maxTraces }) => {
      const { traces, bytes } = await readSize();
      return traces < maxTraces && bytes < maxBytes;
    },
  };
}

type TraceRow = Omit<SpooledTrace, 'bytes' | 'encoding'> & { encoding: SpoolEncoding; bytes: Buffer };

type Sums = { traces: number; bytes: number; set_aside: number; set_aside_bytes: number };

type SumsRow = Sums & { oldest: number | null };

const nothing: Sums = { traces: 0, bytes: 0, set_aside: 0, set_aside_bytes: 0 };

/** Returns the first traces of the queue up to both bounds, but at least one. */
const line = `SELECT key, server, "executionId", "startedAtMs", "spooledAtMs", encoding, spans, bytes
  FROM (
    SELECT key, server, execution AS "executionId", started_at AS "startedAtMs", spooled_at AS "spooledAtMs", encoding, spans,
      bytes, position, sum(size) OVER (ORDER BY position) - size AS before, sum(size) OVER (ORDER BY position) AS through
    FROM (
      SELECT * FROM spooled_trace WHERE unit = $1 AND reason IS NULL AND NOT (key = ANY ($2::text[]))
        AND (encoding LIKE 'logs-%') = $5::boolean
      ORDER BY position LIMIT $3
    ) AS first
  ) AS summed
  WHERE before = 0 OR through <= $4 ORDER BY position`;

const aside = `SELECT key, server, execution AS "executionId", started_at AS "startedAtMs", spooled_at AS "spooledAtMs",
    encoding, spans, size, reason, set_aside_at AS "atMs"
  FROM spooled_trace`;
const asideOrder = 'ORDER BY set_aside_at, position';

const sumsAndOldest = `SELECT coalesce(traces, 0) AS traces, coalesce(bytes, 0) AS bytes, coalesce(set_aside, 0) AS set_aside,
    coalesce(set_aside_bytes, 0) AS set_aside_bytes,
    (SELECT spooled_at FROM spooled_trace WHERE unit = $1 AND reason IS NULL ORDER BY position LIMIT 1) AS oldest
  FROM (SELECT $1::text AS unit) AS asked LEFT JOIN spool_sums ON spool_sums.unit = asked.unit`;

function toSize([row]: readonly SumsRow[]): SpoolSize {
  const { traces, bytes, set_aside, set_aside_bytes } = row ?? nothing;
  return {
    traces,
    bytes,
    oldestMs: row?.oldest ?? undefined,
    quarantinedTraces: set_aside,
    quarantinedBytes: set_aside_bytes,
  };
}

function toBytes(buffer: Buffer): Uint8Array {
  return new Uint8Array(buffer.buffer, buffer.byteOffset, buffer.length);
}

/** Appends traces to the queue in the transaction of the caller. */
export async function spoolTraces(sql: Sql, unit: string, traces: readonly SpooledTrace[]): Promise<void> {
  const added = { ...nothing };
  for (const trace of traces) {
    const inserted = await sql<{ size: number }>(
      `INSERT INTO spooled_trace (unit, key, server, execution, started_at, spooled_at, encoding, spans, size, bytes)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) ON CONFLICT (unit, key) DO NOTHING RETURNING size`,
      [
        unit,
        trace.key,
        trace.server,
        trace.executionId,
        trace.startedAtMs,
        trace.spooledAtMs,
        trace.encoding,
        trace.spans,
        trace.bytes.length,
        Buffer.from(trace.bytes.buffer, trace.bytes.byteOffset, trace.bytes.length),
      ],
    );
    for (const { size } of inserted) {
      added.traces += 1;
      added.bytes += size;
    }
  }
  await addToSums(sql, unit, added);
}

/** Removes traces and subtracts them from the sums. Returns how many traces were removed. */
async function removeTraces(sql: Sql, unit: string, keys: readonly string[], which: string): Promise<number> {
  const found = await sumOf(sql, unit, keys, which);
  await sql(`DELETE FROM spooled_trace WHERE unit = $1 AND key = ANY ($2::text[]) ${which}`, [unit, keys]);
  await addToSums(sql, unit, toDifference(nothing, found));
  return found.traces + found.set_aside;
}

/** Returns the sums of some traces. The sums cannot change meanwhile, because the owner writes one transaction at a time. */
async function sumOf(sql: Sql, unit: string, keys: readonly string[], which: string): Promise<Sums> {
  const [row] = await sql<Sums>(
    `SELECT count(*) FILTER (WHERE reason IS NULL) AS traces, count(reason) AS set_aside,
       coalesce(sum(size) FILTER (WHERE reason IS NULL), 0)::bigint AS bytes,
       coalesce(sum(size) FILTER (WHERE reason IS NOT NULL), 0)::bigint AS set_aside_bytes
     FROM spooled_trace WHERE unit = $1 AND key = ANY ($2::text[]) ${which}`,
    [unit, keys],
  );
  return row ?? nothing;
}

function toDifference(after: Sums, before: Sums): Sums {
  return {
    traces: after.traces - before.traces,
    bytes: after.bytes - before.bytes,
    set_aside: after.set_aside - before.set_aside,
    set_aside_bytes: after.set_aside_bytes - before.set_aside_bytes,
  };
}

async function addToSums(sql: Sql, unit: string, sums: Sums): Promise<void> {
  await sql(
    `INSERT INTO spool_sums VALUES ($1, $2, $3, $4, $5)
     ON CONFLICT (unit) DO UPDATE SET
       traces = spool_sums.traces + excluded.traces, bytes = spool_sums.bytes + excluded.bytes,
       set_aside = spool_sums.set_aside + excluded.set_aside,
       set_aside_bytes = spool_sums.set_aside_bytes + excluded.set_aside_bytes`,
    [unit, sums.traces, sums.bytes, sums.set_aside, sums.set_aside_bytes],
  );
}

/** Removes the oldest quarantined traces until the others are within the bounds. Returns the removed traces. */
async function dropBeyond(sql: Sql, unit: string, bounds: SpoolBounds): Promise<readonly QuarantinedTrace[]> {
  const dropped: QuarantinedTrace[] = [];
  for (;;) {
    const { quarantinedTraces, quarantinedBytes } = toSize(await sql<SumsRow>(sumsAndOldest, [unit]));
    if (quarantinedTraces <= bounds.maxTraces && quarantinedBytes <= bounds.maxBytes) return dropped;
    const [first] = await sql<QuarantinedTrace>(
      `${aside} WHERE unit = $1 AND reason IS NOT NULL ${asideOrder} LIMIT 1`,
      [unit],
    );
    if (first === undefined) return dropped;
    await removeTraces(sql, unit, [first.key], '');
    dropped.push(first);
  }
}
