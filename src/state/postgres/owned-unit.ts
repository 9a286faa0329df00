import { createQueue } from '../../domain/pause.ts';
import { FencedError, type Lease } from '../shared-state.ts';
import type { Connections, Sql } from './connections.ts';

/** Writes of one unit by the owner of one epoch: one transaction at a time, each fenced. */
export type OwnedUnit = ReturnType<typeof createOwnedUnit>;

type Ownership = Pick<Lease, 'unit' | 'owner' | 'epoch' | 'commits'>;

/**
 * Each write locks the lease against a takeover, and counts itself. The count shows what the lease cannot: that a database has
 * lost its last transactions, on which this process relies.
 */
export function createOwnedUnit({ sql, transact }: Connections, ownership: Ownership) {
  const { unit } = ownership;
  let { commits } = ownership;
  const oneAtATime = createQueue();

  async function transactFenced<Answer>(work: (sql: Sql) => Promise<Answer>): Promise<Answer> {
    const answer = await transact(async (within) => {
      await requireLease(within, ownership);
      await countCommit(within, unit, commits + 1);
      return work(within);
    });
    commits += 1;
    return answer;
  }

  return {
    unit,
    sql,
    // A failed write has no effect, and the next write is fenced again.
    write: <Answer>(work: (sql: Sql) => Promise<Answer>): Promise<Answer> => oneAtATime(() => transactFenced(work)),
  };
}

/** Throws unless this epoch owns the unit. No other replica can acquire it before the transaction ends. */
export async function requireLease(sql: Sql, { unit, owner, epoch }: Omit<Ownership, 'commits'>): Promise<void> {
  const [lease] = await sql('SELECT 1 FROM lease WHERE unit = $1 AND owner = $2 AND epoch = $3 FOR KEY SHARE', [
    unit,
    owner,
    epoch,
  ]);
  if (lease !== undefined) return;
  throw new FencedError(`epoch ${epoch} no longer owns ${unit}: nothing was written`, 'taken');
}

async function countCommit(sql: Sql, unit: string, expected: number): Promise<void> {
  const [row] = await sql<{ commits: number }>(
    'UPDATE unit SET commits = commits + 1 WHERE unit = $1 RETURNING commits',
    [unit],
  );
  const commits = row?.commits ?? 0;
  if (commits === expected) return;
  throw new FencedError(
    `the database has ${commits - 1} commits of ${unit} instead of ${expected - 1}: nothing was written`,
    'behind',
  );
}

/** PostgreSQL cannot store the null character; the replacement character is stored instead. */
export function toText(text: string): string {
  return text.replaceAll('\0', '\u{fffd}');
}
