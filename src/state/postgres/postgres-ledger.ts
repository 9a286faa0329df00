import { createHash } from 'node:crypto';
import type { Ledger, LedgerChange, LedgerDocument, LedgerEntry } from '../ledger.ts';
import type { Sql } from './connections.ts';
import { type OwnedUnit, toText } from './owned-unit.ts';
import { spoolTraces } from './postgres-spool.ts';

export function createPostgresLedger({ unit, sql, write }: OwnedUnit): Ledger {
  /**
   * The number of entries. Entries are counted once, and the number is then updated, because counting reads the whole table.
   */
  let size: number | undefined;

  async function count(): Promise<number> {
    return toCount(await sql('SELECT count(*) AS count FROM ledger_entry WHERE unit = $1', [unit]));
  }

  return {
    load: async (_server, kinds) =>
      sql<LedgerDocument>(
        `SELECT kind, key, body FROM ledger_document
         WHERE unit = $1 AND ($2::text[] IS NULL OR kind = ANY ($2::text[])) ORDER BY kind, key`,
        [unit, kinds],
      ),
    find: async (_server, ids) =>
      sql<LedgerEntry>(
        `SELECT project, id, started_at AS "startedAtMs", ended_at AS "endedAtMs" FROM ledger_entry
         WHERE unit = $1 AND id = ANY ($2::bigint[]) ORDER BY id, started_at`,
        [unit, ids],
      ),
    countEnds: async (_server, { projects, beginMs, endMs }) =>
      toCount(
        await sql(
          `SELECT count(*) AS count FROM ledger_entry
           WHERE unit = $1 AND project = ANY ($2::text[]) AND ended_at BETWEEN $3 AND $4`,
          [unit, projects.map(toText), beginMs, endMs],
        ),
      ),
    firstEnd: async (_server, project, fromMs) => {
      const [row] = await sql<{ ended_at: number | null }>(
        'SELECT min(ended_at) AS ended_at FROM ledger_entry WHERE unit = $1 AND project = $2 AND ended_at >= $3',
        [unit, toText(project), fromMs],
      );
      return row?.ended_at ?? undefined;
    },
    size: async () => {
      size ??= await count();
      return size;
    },
    commit: async (_server, change) => {
      try {
        const growth = await write((within) => writeChange(within, unit, change));
        if (size !== undefined) size += growth;
      } catch (error) {
        size = undefined;
        throw error;
      }
    },
  };
}

type Count = { readonly count: number };

/** A statement that counts returns one row. */
function toCount([row]: readonly Count[]): number {
  return Number(row?.count);
}

/** Writes a change in the caller's transaction; returns the number of entries by which the ledger grows. */
async function writeChange(sql: Sql, unit: string, change: LedgerChange): Promise<number> {
  const { entries = [], documents = [], spooled = [], prune } = change;
  let growth = 0;
  if (entries.length > 0) growth += await insertEntries(sql, unit, entries);
  if (documents.length > 0) await putDocuments(sql, unit, documents);
  if (spooled.length > 0) await spoolTraces(sql, unit, spooled);
  if (prune === undefined) return growth;
  const pruned = await sql<Count>(
    `WITH pruned AS (DELETE FROM ledger_entry WHERE unit = $1 AND project = $2 AND ended_at < $3 RETURNING 1)
     SELECT count(*) AS count FROM pruned`,
    [unit, toText(prune.project), prune.endedBeforeMs],
  );
  return growth - toCount(pruned);
}

async function insertEntries(sql: Sql, unit: string, entries: readonly LedgerEntry[]): Promise<number> {
  const inserted = await sql<Count>(
    `WITH inserted AS (
       INSERT INTO ledger_entry (unit, project, id, started_at, ended_at)
       SELECT $1, * FROM unnest($2::text[], $3::bigint[], $4::bigint[], $5::bigint[])
       ON CONFLICT (unit, id, started_at) DO NOTHING RETURNING 1
     ) SELECT count(*) AS count FROM inserted`,
    [
      unit,
      entries.map(({ project }) => toText(project)),
      entries.map(({ id }) => id),
      entries.map(({ startedAtMs }) => startedAtMs),
      entries.map(({ endedAtMs }) => endedAtMs),
    ],
  );
  return toCount(inserted);
}

/** Writes documents. Of several documents with the same name, the last is stored. */
async function putDocuments(sql: Sql, unit: string, documents: readonly LedgerDocument[]): Promise<void> {
  const byName = new Map(
    documents.map(({ kind, key, body }) => [JSON.stringify([kind, key]), { kind, key: toText(key), body }]),
  );
  const last = [...byName.values()];
  const gone = last.filter(({ body }) => body === undefined);
  const kept = last.filter(({ body }) => body !== undefined);
  if (gone.length > 0) {
    await sql(
      `DELETE FROM ledger_document USING unnest($2::text[], $3::text[]) AS gone (kind, digest)
       WHERE unit = $1 AND ledger_document.kind = gone.kind AND ledger_document.digest = gone.digest`,
      [unit, gone.map(({ kind }) => kind), gone.map(({ key }) => digestOf(key))],
    );
  }
  if (kept.length === 0) return;
  await sql(
    `INSERT INTO ledger_document (unit, kind, digest, key, body)
     SELECT $1, * FROM unnest($2::text[], $3::text[], $4::text[], $5::text[])
     ON CONFLICT (unit, kind, digest) DO UPDATE SET body = excluded.body`,
    [
      unit,
      kept.map(({ kind }) => kind),
      kept.map(({ key }) => digestOf(key)),
      kept.map(({ key }) => key),
      kept.map(({ body }) => toText(body ?? '')),
    ],
  );
}

/** Returns a digest of a key for the index. The index refuses keys of more than about 2,700 bytes, and job names may be longer. */
function digestOf(key: string): string {
  return createHash('sha256').update(key).digest('base64url');
}
