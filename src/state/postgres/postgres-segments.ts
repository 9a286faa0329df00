import { type FamilySegment, FencedError, type Segment, type SegmentOwner } from '../shared-state.ts';
import type { Sql } from './connections.ts';
import type { Timeline } from './timeline.ts';

type SegmentRow = Omit<Segment, 'bytes'> & { readonly bytes: Buffer };

/**
 * Writes families within the caller's transaction. Their version is the time of the database in milliseconds, or the next number
 * where that is more: the last one says when the segments were written. Returns it.
 */
export async function writeSegments(
  sql: Sql,
  { unit, epoch, expected, timeline }: SegmentWrite,
  families: readonly FamilySegment[],
): Promise<number> {
  const [before] = await sql<{ version: number }>(
    'SELECT segment_version AS version FROM unit WHERE unit = $1 FOR UPDATE',
    [unit],
  );
  if (expected !== undefined && before?.version !== expected)
    throw new FencedError(`the database has lost series of ${unit}: nothing was written`, 'behind');
  const [row] = await sql<{ version: number }>(
    `UPDATE unit SET segment_version = greatest(
       segment_version + 1, (extract(epoch FROM clock_timestamp()) * 1000)::bigint
     ), segment_timeline = ${timeline} WHERE unit = $1 RETURNING segment_version AS version`,
    [unit],
  );
  await sql('DELETE FROM segment WHERE unit = $1 AND epoch < $2', [unit, epoch]);
  const version = row?.version ?? 1;
  for (const { family, bytes } of families) {
    await sql(
      `INSERT INTO segment (unit, family, epoch, version, bytes) VALUES ($1, $2, $3, $4, $5)
       ON CONFLICT (unit, family) DO UPDATE SET
         epoch = excluded.epoch, version = excluded.version, bytes = excluded.bytes`,
      [unit, family, epoch, version, Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)],
    );
  }
  return version;
}

export type SegmentWrite = {
  readonly unit: string;
  readonly epoch: number;
  /** The version that the last write has left; undefined if that is not known. */
  readonly expected: number | undefined;
  readonly timeline: Timeline;
};

/**
 * Reads the owners of the units that are owned, or were so until this time ago, but of those whose segments were last written on
 * another timeline. Releases that know no timelines have left none.
 */
export async function readOwners(
  sql: Sql,
  timeline: Timeline,
  expiredMs: number,
): Promise<ReadonlyMap<string, SegmentOwner>> {
  const rows = await sql<SegmentOwner & { unit: string }>(
    `SELECT unit, owner, epoch, (extract(epoch FROM expires) * 1000)::bigint - segment_version AS "unwrittenMs"
     FROM lease JOIN unit USING (unit) WHERE expires > clock_timestamp() - $1::bigint * interval '1 millisecond'
       AND (segment_timeline IS NULL OR segment_timeline = ${timeline})`,
    [expiredMs],
  );
  return new Map(rows.map(({ unit, ...owner }) => [unit, owner]));
}

/** Reads what these epochs have written after these versions. */
export async function readSegments(
  sql: Sql,
  after: ReadonlyMap<string, Pick<Segment, 'epoch' | 'version'>>,
): Promise<readonly Segment[]> {
  const seen = [...after.values()];
  const rows = await sql<SegmentRow>(
    `SELECT segment.unit, family, segment.epoch, segment.version, bytes
     FROM segment JOIN unnest($1::text[], $2::bigint[], $3::bigint[]) AS seen (unit, epoch, version)
       ON seen.unit = segment.unit AND seen.epoch = segment.epoch
     WHERE segment.version > seen.version ORDER BY segment.unit, family`,
    [[...after.keys()], seen.map(({ epoch }) => epoch), seen.map(({ version }) => version)],
  );
  return rows.map(({ bytes, ...rest }) => ({
    ...rest,
    bytes: new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length),
  }));
}
