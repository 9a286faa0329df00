import { DatabaseError } from 'pg';
import type { Sql } from './connections.ts';

/**
 * An expression of SQL: the name of the history of writes that a server of PostgreSQL continues. It changes when a standby takes
 * over, which may lack the last transactions. The name is the first part of the names of its log files.
 */
export type Timeline = typeof ofPostgres | typeof none;

const ofPostgres = 'left(pg_walfile_name(pg_current_wal_lsn()), 8)';

/** Engines that have no such function do not lose what they have acknowledged. */
const none = `''`;

/** Chooses the expression that this database knows, and this user may use. */
export async function chooseTimeline(sql: Sql): Promise<Timeline> {
  try {
    await sql(`SELECT ${ofPostgres}`);
    return ofPostgres;
  } catch (error) {
    if (isRefused(error)) return none;
    throw error;
  }
}

/** There is no such function; it is not supported here; this user may not call it. */
const refusals: readonly (string | undefined)[] = ['42883', '0A000', '42501'];

function isRefused(error: unknown): boolean {
  const { cause } = error as { readonly cause?: unknown };
  return cause instanceof DatabaseError && refusals.includes(cause.code);
}
