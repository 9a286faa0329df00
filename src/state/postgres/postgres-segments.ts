import type { FamilySegment, Segment } from '../shared-state.ts';
import type { Sql } from './connections.ts';

type SegmentRow = Omit<Segment, 'bytes'> & { readonly bytes: Buffer };

/**
 * Writes families within the caller's transaction. Their version is the time of the database where that is further: after lost
 * transactions it does not take a number that readers have seen.
 */
export async function writeSegments(
  sql: Sql,
  { unit, epoch }: { readonly unit: string; readonly epoch: number },
  families: readonly FamilySegment[],
): Promise<void> {
  const [row] = await sql<{ version: number }>(
    `UPDATE unit SET segment_version = greatest(
       segment_version + 1, (extract(epoch FROM clock_timestamp()) * 1000)::bigint
     ) WHERE unit = $1 RETURNING segment_version AS version`,
    [unit],
  );
  await sql('DELETE FROM segment WHERE unit = $1 AND epoch < $2', [unit, epoch]);
  for (const { family, bytes } of families) {
    await sql(
      `INSERT INTO segment (unit, family, epoch, version, bytes) VALUES ($1, $2, $3, $4, $5)
       ON CONFLICT (unit, family) DO UPDATE SET
         epoch = excluded.epoch, version = excluded.version, bytes = excluded.bytes`,
      [unit, family, epoch, row?.version ?? 1, Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)],
    );
  }
}

/** Reads the epochs of the units that are owned, or were so until this time ago. */
export async function readEpochs(sql: Sql, expiredMs: number): Promise<ReadonlyMap<string, number>> {
  const rows = await sql<{ unit: string; epoch: number }>(
    `SELECT unit, epoch FROM lease WHERE expires > clock_timestamp() - $1::bigint * interval '1 millisecond'`,
    [expiredMs],
  );
  return new Map(rows.map(({ unit, epoch }) => [unit, epoch]));
}

/** Reads what changed after the given versions. */
export async function readSegments(sql: Sql, after: ReadonlyMap<string, number>): Promise<readonly Segment[]> {
  const rows = await sql<SegmentRow>(
    `SELECT segment.unit, family, epoch, segment.version, bytes
     FROM segment LEFT JOIN unnest($1::text[], $2::bigint[]) AS seen (unit, version) ON seen.unit = segment.unit
     WHERE seen.version IS NULL OR segment.version > seen.version ORDER BY segment.unit, family`,
    [[...after.keys()], [...after.values()]],
  );
  return rows.map(({ bytes, ...rest }) => ({
    ...rest,
    bytes: new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length),
  }));
}
