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
  { unit, epoch, last, isLastKnown, timeline }: SegmentWrite,
  families: readonly FamilySegment[],
): Promise<number> {
  const [before] = await sql<{ version: number; next: number }>(
    `SELECT segment_version AS version,
       greatest(segment_version + 1, (extract(epoch FROM clock_timestamp()) * 1000)::bigint) AS next
     FROM unit WHERE unit = $1 FOR UPDATE`,
    [unit],
  );
  const { version: found = 0, next: version = 1 } = before ?? {};
  if (found < last || (isLastKnown && found !== last))
    throw new FencedError(`the database has lost series of ${unit}: nothing was written`, 'behind');
  await sql('UPDATE unit SET segment_version = $2, segment_timeline = $3 WHERE unit = $1', [
    unit,
    version,
    timeline === null ? null : `${timeline}/${version}`,
  ]);
  await sql('DELETE FROM segment WHERE unit = $1 AND epoch < $2', [unit, epoch]);
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
  /** The version that the last acknowledged write of this epoch has left; 0 if there is none. */
  readonly last: number;
  /** False where another write may have followed it: one that failed may have happened. */
  readonly isLastKnown: boolean;
  readonly timeline: Timeline;
};

/**
 * Reads the owners of the units that are owned, or were so until this time ago, but of those whose segments were last written on
 * another timeline. A server that says no timeline has left none, and a release that knows none leaves that of an older write.
 */
export async function readOwners(
  sql: Sql,
  timeline: Timeline,
  expiredMs: number,
): Promise<ReadonlyMap<string, SegmentOwner>> {
  const rows = await sql<SegmentOwner & { unit: string }>(
    `SELECT unit, owner, epoch, (extract(epoch FROM expires) * 1000)::bigint - segment_version AS "unwrittenMs",
       split_part(segment_timeline, '/', 1) AS timeline
     FROM lease JOIN unit USING (unit) WHERE expires > clock_timestamp() - $1::bigint * interval '1 millisecond'
       AND coalesce(
         segment_timeline = $2::text || '/' || segment_version OR split_part(segment_timeline, '/', 2) <> segment_version::text,
         true
       )`,
    [expiredMs, timeline],
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
