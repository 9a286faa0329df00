import { DatabaseError } from 'pg';
import { StateError } from '../state.ts';
import type { Connections, Sql } from './connections.ts';

/**
 * The name of the history of writes that a server of PostgreSQL continues. It changes when a standby takes over, which may lack
 * the last transactions. It is the first part of the names of the server's log files; null where the server does not say it.
 */
export type Timeline = string | null;

/** Runs some work as one transaction of a server that writes, and tells it the server's timeline. */
export type TransactOnTimeline = <Answer>(
  work: (sql: Sql, timeline: Timeline) => Promise<Answer>,
  purpose?: 'read' | 'written',
) => Promise<Answer>;

/** Asks each time: an address may lead to another server at any moment. */
export function createTransactOnTimeline({ transact }: Connections): TransactOnTimeline {
  let isSaid = true;
  return async function transactOnTimeline(work, purpose) {
    try {
      return await transact(async (sql) => work(sql, await readTimeline(sql, isSaid)), purpose);
    } catch (error) {
      if (!(error instanceof UnsaidError)) throw error;
      isSaid = false;
      return transactOnTimeline(work, purpose);
    }
  };
}

/** The server has no timeline to say: it does not lose what it has acknowledged, or nobody can tell. */
class UnsaidError extends StateError {
  override readonly name = 'UnsaidError';
}

async function readTimeline(sql: Sql, isSaid: boolean): Promise<Timeline> {
  const timeline = isSaid ? 'left(pg_walfile_name(pg_current_wal_lsn()), 8)' : 'NULL';
  const isReader = `current_setting('transaction_read_only') = 'on'`;
  // A standby knows no present position of its log, and is not asked for it.
  const text = `SELECT ${isReader} AS "isReader", CASE WHEN ${isReader} THEN NULL ELSE ${timeline} END AS timeline`;
  const [row] = await sql<{ isReader: boolean; timeline: Timeline }>(text).catch((error: unknown) => {
    if (isSaid && isRefused(error)) throw new UnsaidError('the database does not say its timeline', { cause: error });
    throw error;
  });
  // As the server says it of a write. It is not asked again over this connection.
  if (row?.isReader === true) throw Object.assign(new Error('read-only transaction'), { code: '25006' });
  return row?.timeline ?? null;
}

/**
 * The function does not exist; it is not supported here; this user may not call it; or, on Amazon Aurora, nobody may unless logical
 * replication is on.
 */
const refusals: readonly (string | undefined)[] = ['42883', '0A000', '42501', '55000'];

function isRefused(error: unknown): boolean {
  return error instanceof DatabaseError && refusals.includes(error.code);
}
