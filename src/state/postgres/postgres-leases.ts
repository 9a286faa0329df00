import type { Acquired, Lease, Leases, Replica } from '../shared-state.ts';
import type { Connections, Sql } from './connections.ts';

/** The leases of all units, by the clock of the database; a unit is acquired only where its check passes. */
export function createPostgresLeases(
  { sql, transact }: Connections,
  replica: Replica,
  check: (sql: Sql, unit: string) => Promise<void> = async () => undefined,
): Leases {
  const { owner, address } = replica;
  return {
    acquire: (unit, ttlMs, knownEpoch = 0) =>
      transact(async (within) => {
        await check(within, unit);
        return acquire(within, { unit, ttlMs, knownEpoch, ...replica });
      }),
    renew: async (unit, epoch, ttlMs) => {
      const renewed = await sql(
        `UPDATE lease SET address = $4, expires = clock_timestamp() + $5::bigint * interval '1 millisecond'
         WHERE unit = $1 AND owner = $2 AND epoch = $3 RETURNING 1`,
        [unit, owner, epoch, address, ttlMs],
      );
      return renewed.length > 0;
    },
    release: async (unit, epoch) => {
      await sql(
        `UPDATE lease SET expires = clock_timestamp() - interval '1 millisecond'
         WHERE unit = $1 AND owner = $2 AND epoch = $3`,
        [unit, owner, epoch],
      );
    },
    list: () => sql<Lease>(`${leases} ORDER BY unit`),
  };
}

const leases = `SELECT lease.unit, lease.owner, lease.address, lease.epoch, coalesce(unit.commits, 0) AS commits,
    ceil(extract(epoch FROM lease.expires - clock_timestamp()) * 1000)::bigint AS "remainingMs"
  FROM lease LEFT JOIN unit ON unit.unit = lease.unit`;

type Wanted = Replica & { readonly unit: string; readonly ttlMs: number; readonly knownEpoch: number };

/**
 * Waits for the writes that are under way: each holds the lease until it has ended. An epoch is never given twice, even after
 * somebody deleted the lease.
 */
async function acquire(sql: Sql, { unit, ttlMs, knownEpoch, owner, address }: Wanted): Promise<Acquired> {
  const [taken] = await sql<{ epoch: number }>(
    `INSERT INTO lease (unit, owner, address, epoch, expires)
     VALUES ($1, $2, $3, 1 + greatest((SELECT last_epoch FROM unit WHERE unit = $1), $5::bigint),
       clock_timestamp() + $4::bigint * interval '1 millisecond')
     ON CONFLICT (unit) DO UPDATE SET owner = excluded.owner, address = excluded.address, epoch = 1 + greatest(lease.epoch, $5::bigint),
       expires = clock_timestamp() + $4::bigint * interval '1 millisecond'
     WHERE lease.expires < clock_timestamp() OR lease.owner = excluded.owner
     RETURNING epoch`,
    [unit, owner, address, ttlMs, knownEpoch],
  );
  if (taken !== undefined) {
    await sql(
      `INSERT INTO unit (unit, last_epoch, commits, segment_version) VALUES ($1, $2, 0, 0)
       ON CONFLICT (unit) DO UPDATE SET last_epoch = excluded.last_epoch`,
      [unit, taken.epoch],
    );
  }
  const [lease] = await sql<Lease>(`${leases} WHERE lease.unit = $1`, [unit]);
  if (lease === undefined) throw new Error(`the lease of ${unit} was deleted just now`);
  return { isOurs: taken !== undefined, lease };
}
