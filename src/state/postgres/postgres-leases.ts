import type { Acquired, Lease, Leases, Replica } from '../shared-state.ts';
import type { Connections, Sql } from './connections.ts';

/** Creates the leases of all units, by the clock of the database. A unit is acquired only if its check passes. */
export function createPostgresLeases(
  { sql, transact }: Connections,
  replica: Replica,
  check: (sql: Sql, unit: string) => Promise<void> = async () => undefined,
): Leases {
  const { owner } = replica;
  let { address } = replica;
  let configuration: string | undefined;
  const toOwn = (): string | undefined => configuration && `${owner} ${configuration}`;
  return {
    configure: (digest, newAddress) => {
      configuration = digest;
      address = newAddress;
    },
    acquire: (unit, ttlMs, knownEpoch = 0) =>
      transact(async (within) => {
        await check(within, unit);
        return acquire(within, { unit, ttlMs, knownEpoch, configuration: toOwn(), owner, address });
      }),
    renew: async (unit, epoch, ttlMs) => {
      const renewed = await sql(
        `UPDATE lease SET address = $4, expires = clock_timestamp() + $5::bigint * interval '1 millisecond',
           owner_configuration = $6
         WHERE unit = $1 AND owner = $2 AND epoch = $3 RETURNING 1`,
        [unit, owner, epoch, address, ttlMs, toOwn()],
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
    list: async () => (await sql<LeaseRow>(`${leases} ORDER BY unit`)).map(toLease),
  };
}

type LeaseRow = Omit<Lease, 'configuration'> & { described: string | null };

/** Converts a row. After an older release acquired the lease, the row has the previous owner's configuration. */
function toLease({ described, ...lease }: LeaseRow): Lease {
  const name = `${lease.owner} `;
  return { ...lease, configuration: described?.startsWith(name) === true ? described.slice(name.length) : undefined };
}

const leases = `SELECT lease.unit, lease.owner, lease.address, lease.epoch, lease.owner_configuration AS described, coalesce(unit.commits, 0) AS commits,
    ceil(extract(epoch FROM lease.expires - clock_timestamp()) * 1000)::bigint AS "remainingMs"
  FROM lease LEFT JOIN unit ON unit.unit = lease.unit`;

type Wanted = Replica & { unit: string; ttlMs: number; knownEpoch: number; configuration: string | undefined };

/**
 * Acquires a unit after all writes in progress, which lock the lease against a takeover. An epoch is never used twice,
 * even if the lease was deleted.
 */
async function acquire(sql: Sql, wanted: Wanted): Promise<Acquired> {
  const { unit, ttlMs, knownEpoch, configuration, owner, address } = wanted;
  await sql('SELECT 1 FROM lease WHERE unit = $1 FOR UPDATE', [unit]);
  const [taken] = await sql<{ epoch: number }>(
    `INSERT INTO lease (unit, owner, address, epoch, expires, owner_configuration)
     VALUES ($1, $2, $3, 1 + greatest((SELECT last_epoch FROM unit WHERE unit = $1), $5::bigint),
       clock_timestamp() + $4::bigint * interval '1 millisecond', $6)
     ON CONFLICT (unit) DO UPDATE SET owner = excluded.owner, address = excluded.address, epoch = 1 + greatest(lease.epoch, $5::bigint),
       expires = clock_timestamp() + $4::bigint * interval '1 millisecond', owner_configuration = $6
     WHERE lease.expires < clock_timestamp() OR lease.owner = excluded.owner
     RETURNING epoch`,
    [unit, owner, address, ttlMs, knownEpoch, configuration],
  );
  if (taken !== undefined) {
    await sql(
      `INSERT INTO unit (unit, last_epoch, commits) VALUES ($1, $2, 0)
       ON CONFLICT (unit) DO UPDATE SET last_epoch = excluded.last_epoch`,
      [unit, taken.epoch],
    );
  }
  const [row] = await sql<LeaseRow>(`${leases} WHERE lease.unit = $1`, [unit]);
  if (row === undefined) throw new Error(`the lease of ${unit} was deleted just now`);
  return { isOurs: taken !== undefined, lease: toLease(row) };
}
