import { createQueue } from '../../domain/pause.ts';
import { FencedError, type Lease } from '../shared-state.ts';
import type { Connections, Sql } from './connections.ts';

/** Writes of the owner of one unit in one epoch: one transaction at a time, each fenced. */
export type OwnedUnit = ReturnType<typeof createOwnedUnit>;

type Ownership = Pick<Lease, 'unit' | 'owner' | 'epoch' | 'commits'>;

/**
 * Creates the writes of a unit. Each write locks the lease against a takeover and increments a counter. The counter
 * shows whether the database has lost its last transactions.
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
    // A failed write has no effect. The next write is fenced again.
    write: <Answer>(work: (sql: Sql) => Promise<Answer>): Promise<Answer> => oneAtATime(() => transactFenced(work)),
  };
}

/** Throws unless the given epoch owns the unit. Until the transaction ends, no other replica can acquire the unit. */
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

/** Replaces null characters, because PostgreSQL cannot store them. */
export function toText(text: string): string {
  return text.replaceAll('\0', '\u{fffd}');
}
