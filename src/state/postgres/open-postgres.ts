import type { Clock } from '../../domain/clock.ts';
import { refuseUnfinishedCopy } from '../copy-state.ts';
import type { Replica, SharedState } from '../shared-state.ts';
import type { State } from '../state.ts';
import { createConnections, type PostgresSettings, type Sql } from './connections.ts';
import { createOwnedUnit, type OwnedUnit } from './owned-unit.ts';
import { createPostgresLeases } from './postgres-leases.ts';
import { createPostgresLedger } from './postgres-ledger.ts';
import { createPostgresMemories } from './postgres-rows.ts';
import { createPostgresSpool } from './postgres-spool.ts';
import { prepareSchema } from './schema.ts';

type PostgresOptions = {
  readonly settings: PostgresSettings;
  readonly replica: Replica;
  readonly clock: Pick<Clock, 'after' | 'random'>;
  /** The units that this replica may own. The database stays closed while one of the units is being copied. */
  readonly units: readonly string[];
};

/** Opens the state that replicas share in one database. Creates or updates the tables of the database. */
export async function openPostgresState({ settings, replica, clock, units }: PostgresOptions): Promise<SharedState> {
  const breaks = { count: 0 };
  const connections = createConnections(settings, clock, breaks);
  const forLeases = createConnections({ ...settings, connections: 2 }, clock, breaks);
  // Renewals have connections of their own, because they must not wait for writes or for acquisitions.
  const forRenewals = createConnections({ ...settings, connections: 2 }, clock, breaks);
  const close = async (): Promise<void> => {
    await Promise.all([connections.close(), forLeases.close(), forRenewals.close()]);
  };
  try {
    await prepareSchema(connections, settings.schema);
    await refuseHalf(connections.sql, units);
  } catch (error) {
    await close();
    throw error;
  }
  const leases = createPostgresLeases(forLeases, replica, (sql, unit) => refuseHalf(sql, [unit]));
  const renewals = createPostgresLeases(forRenewals, replica);
  return {
    leases: {
      ...leases,
      renew: renewals.renew,
      configure: (digest, address) => {
        leases.configure(digest, address);
        renewals.configure(digest, address);
      },
    },
    owned: (unit, { epoch, commits }) =>
      toState(createOwnedUnit(connections, { unit, owner: replica.owner, epoch, commits })),
    close,
  };
}

/** Throws if `migrate` has started to copy one of the given units (by default any unit) and has not finished. */
export async function refuseHalf(sql: Sql, units?: readonly string[]): Promise<void> {
  const unfinished = await readUnfinished(sql);
  if (unfinished.some((unit) => units?.includes(unit) !== false)) refuseUnfinishedCopy('database');
}

/** Returns the units that `migrate` has started to copy and has not finished. */
export async function readUnfinished(sql: Sql): Promise<readonly string[]> {
  const rows = await sql<{ unit: string }>('SELECT unit FROM unfinished_copy ORDER BY unit');
  return rows.map(({ unit }) => unit);
}

export function toState(owned: OwnedUnit): State {
  return {
    origin: { kind: 'usual' },
    ledger: createPostgresLedger(owned),
    spool: createPostgresSpool(owned),
    ...createPostgresMemories(owned),
    // Backups and disk space are managed with the database.
    backUp: async () => undefined,
    bytes: () => 0,
    close: async () => undefined,
  };
}
