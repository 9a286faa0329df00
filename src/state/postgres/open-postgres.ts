import type { Clock } from '../../domain/clock.ts';
import type { Memory } from '../../domain/memory.ts';
import type { Replica, SharedState } from '../shared-state.ts';
import type { State } from '../state.ts';
import { createConnections, type PostgresSettings } from './connections.ts';
import { createOwnedUnit, type OwnedUnit, requireLease } from './owned-unit.ts';
import { createPostgresLeases } from './postgres-leases.ts';
import { createPostgresLedger } from './postgres-ledger.ts';
import { readSegments, writeSegments } from './postgres-segments.ts';
import { createPostgresSpool } from './postgres-spool.ts';
import { prepareSchema } from './schema.ts';

export type PostgresOptions = {
  readonly settings: PostgresSettings;
  readonly replica: Replica;
  readonly clock: Pick<Clock, 'after' | 'random'>;
};

/** Opens the state that replicas share in one database, whose tables are created or brought up to date. */
export async function openPostgresState({ settings, replica, clock }: PostgresOptions): Promise<SharedState> {
  const connections = createConnections(settings, clock);
  // Of their own: a lease must be renewed however much there is to write.
  const forLeases = createConnections({ ...settings, connections: 2 }, clock);
  const close = async (): Promise<void> => {
    await Promise.all([connections.close(), forLeases.close()]);
  };
  try {
    await prepareSchema(connections, settings.schema);
  } catch (error) {
    await close();
    throw error;
  }
  return {
    leases: createPostgresLeases(forLeases, replica),
    segments: {
      write: (unit, epoch, families) =>
        connections.transact(async (sql) => {
          await requireLease(sql, { unit, epoch, owner: replica.owner });
          await writeSegments(sql, { unit, epoch }, families);
        }),
      read: (after) => readSegments(connections.sql, after),
    },
    owned: (unit, { epoch, commits }) =>
      toState(createOwnedUnit(connections, { unit, owner: replica.owner, epoch, commits })),
    close,
  };
}

/** The state of a unit, as its owner uses it. */
export function toState(owned: OwnedUnit): State {
  return {
    origin: { kind: 'usual' },
    ledger: createPostgresLedger(owned),
    spool: createPostgresSpool(owned),
    ...createPostgresMemories(owned),
    // Copies, and what they cost, are the business of the database.
    backUp: async () => undefined,
    bytes: () => 0,
    close: async () => undefined,
  };
}

function createPostgresMemories({ unit, sql, write }: OwnedUnit): Pick<State, 'recall' | 'remember'> {
  return {
    recall: async ({ collector }) => {
      const [row] = await sql<{ memory: string }>(
        'SELECT memory FROM collector_memory WHERE unit = $1 AND collector = $2',
        [unit, collector],
      );
      // The cast is true: only `remember` writes this column.
      return row === undefined ? undefined : (JSON.parse(row.memory) as Memory);
    },
    remember: async ({ collector }, memory) => {
      await write((sql) =>
        sql(
          `INSERT INTO collector_memory (unit, collector, memory) VALUES ($1, $2, $3)
           ON CONFLICT (unit, collector) DO UPDATE SET memory = excluded.memory`,
          [unit, collector, JSON.stringify(memory)],
        ),
      );
    },
  };
}
