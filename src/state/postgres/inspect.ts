import type { Clock } from '../../domain/clock.ts';
import { type Connections, createConnections, type PostgresSettings } from './connections.ts';

/** The properties of a database that are important for the state. */
type PostgresFacts = {
  readonly version: string;
  readonly latencyMs: number;
  /** Settings that are off, so that commits may not survive a crash. */
  readonly unsafe: readonly string[];
  readonly isReadOnly: boolean;
  /** True if tables can be created in the schema. If the schema is missing, the user must be able to create it. */
  readonly mayCreate: boolean;
};

/** Inspects a database without writing. Throws a `StateError` if the database cannot be used. */
export async function inspectPostgres(
  settings: PostgresSettings,
  clock: Pick<Clock, 'after' | 'random' | 'ticks'>,
): Promise<PostgresFacts> {
  const connections = createConnections({ ...settings, connections: 1 }, clock);
  const { sql } = connections;
  try {
    const [facts] = await sql<Omit<PostgresFacts, 'latencyMs' | 'unsafe'>>(
      `SELECT current_setting('server_version') AS version,
         pg_is_in_recovery() OR current_setting('default_transaction_read_only') = 'on' AS "isReadOnly",
         CASE WHEN EXISTS (SELECT 1 FROM pg_namespace WHERE nspname = $1)
           THEN has_schema_privilege($1::text, 'CREATE') AND has_schema_privilege($1::text, 'USAGE')
           ELSE has_database_privilege(current_database(), 'CREATE') END AS "mayCreate"`,
      [settings.schema],
    );
    const unsafe = await sql<{ name: string }>(
      `SELECT name FROM pg_settings
       WHERE name IN ('fsync', 'full_page_writes', 'synchronous_commit') AND setting = 'off' ORDER BY name`,
    );
    const { version = 'unknown', isReadOnly = false, mayCreate = false } = facts ?? {};
    const latencyMs = await measureLatency(connections, clock);
    return { version, isReadOnly, mayCreate, latencyMs, unsafe: unsafe.map(({ name }) => name) };
  } finally {
    await connections.close();
  }
}

async function measureLatency({ sql }: Connections, clock: Pick<Clock, 'ticks'>): Promise<number> {
  const times: number[] = [];
  for (let asked = 0; asked < 5; asked += 1) {
    const startedAt = clock.ticks();
    await sql('SELECT 1');
    times.push(clock.ticks() - startedAt);
  }
  return times.toSorted((one, other) => one - other)[2] ?? Number.NaN;
}
