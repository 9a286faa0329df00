import type { Clock } from '../../domain/clock.ts';
import {
  copyUnit,
  hasUnfinishedCopy,
  markCopy,
  type StateRows,
  summarizeUnit,
  type UnitSummary,
} from '../copy-state.ts';
import type { Lease } from '../shared-state.ts';
import { openSqliteState } from '../sqlite.ts';
import { hasState, openStateFile } from '../sqlite-file.ts';
import { clearSqlite, createSqliteRows } from '../sqlite-rows.ts';
import { StateError } from '../state.ts';
import { type Connections, createConnections, type PostgresSettings, type Sql } from './connections.ts';
import { readUnfinished, refuseHalf, toState } from './open-postgres.ts';
import { createOwnedUnit, type OwnedUnit, requireLease } from './owned-unit.ts';
import { createPostgresLeases } from './postgres-leases.ts';
import { clearUnit, createPostgresRows } from './postgres-rows.ts';
import { prepareSchema } from './schema.ts';

type Move = {
  readonly to: 'postgres' | 'directory';
  readonly dir: string;
  readonly settings: PostgresSettings;
  /** True to replace the content of the target. If false, a target with content is refused. */
  readonly overwrite: boolean;
  /** The name of this process as an owner of leases. */
  readonly owner: string;
  readonly clock: Pick<Clock, 'after' | 'random' | 'now'>;
};

/**
 * Copies the state of every server from the state directory to the database, or back, and compares the two. The source does not
 * change. Locks the directory and owns the servers, so that no daemon uses either. Daemons refuse a target with the mark of an
 * incomplete copy.
 */
export async function moveState(move: Move): Promise<readonly UnitSummary[]> {
  const connections = createConnections(move.settings, move.clock);
  try {
    await prepareSchema(connections, move.settings.schema);
    return await (move.to === 'postgres' ? moveIn(move, connections) : moveOut(move, connections));
  } finally {
    await connections.close();
  }
}

async function moveIn(move: Move, connections: Connections): Promise<readonly UnitSummary[]> {
  const noState = `${move.dir} has no state; set \`state.dir\` to the directory of the daemon`;
  if (!hasState(move.dir)) throw new StateError(noState);
  const file = openFile(move);
  try {
    const from = createSqliteRows(file.database);
    const to = createPostgresRows(connections.sql);
    const units = await from.units();
    if (units.length === 0) throw new StateError(noState);
    const unfinished = await readUnfinished(connections.sql);
    // Rows of an earlier, incomplete copy are replaced.
    const whole = (await to.units()).filter((unit) => !unfinished.includes(unit));
    if (!move.overwrite) refuseRows(whole, units, 'the database');
    const all = [...new Set([...unfinished, ...units])];
    return await withUnits(move, connections, all, async (owned) => {
      await connections.transact(async (sql) => {
        await sql('INSERT INTO unfinished_copy SELECT unnest($1::text[]) ON CONFLICT DO NOTHING', [all]);
      });
      const summaries: UnitSummary[] = [];
      for (const each of owned) {
        await clearUnit(each);
        if (!units.includes(each.unit)) continue;
        await copyUnit({ from, unit: each.unit, to: toState(each) });
        summaries.push(await compare(each.unit, from, to));
      }
      // The mark must be the last write, so that an incomplete copy is never used.
      await connections.transact(async (sql) => {
        await requireLeases(sql, owned);
        await sql('DELETE FROM unfinished_copy WHERE unit = ANY($1::text[])', [all]);
      });
      return summaries;
    });
  } finally {
    file.close();
  }
}

async function moveOut(move: Move, connections: Connections): Promise<readonly UnitSummary[]> {
  await refuseHalf(connections.sql);
  const from = createPostgresRows(connections.sql);
  const units = await from.units();
  return withUnits(move, connections, units, async (owned) => {
    if (units.length === 0) throw new StateError('the database has no state');
    await emptyDirectory(move);
    const state = openSqliteState({ dir: move.dir, isCopying: true }, move.clock);
    try {
      for (const unit of units) await copyUnit({ from, unit, to: state });
    } finally {
      await state.close();
    }
    return finishDirectory(move, from, units, () => connections.transact((sql) => requireLeases(sql, owned)));
  });
}

function openFile({ dir, clock }: Move, isCopying = false) {
  return openStateFile({ dir, now: clock.now, isCopying });
}

async function emptyDirectory(move: Move): Promise<void> {
  const file = openFile(move, true);
  try {
    const units = await createSqliteRows(file.database).units();
    if (!move.overwrite && !hasUnfinishedCopy(file.database)) refuseRows(units, units, 'the state directory');
    markCopy(file.database, true);
    clearSqlite(file.database);
  } finally {
    file.close();
  }
}

async function requireLeases(sql: Sql, owned: readonly Held[]): Promise<void> {
  for (const { lease } of owned) await requireLease(sql, lease);
}

/**
 * Removes the mark from a complete copy, and writes the backup. Fails if another replica may have changed the source after the
 * copy began.
 */
async function finishDirectory(
  move: Move,
  from: StateRows,
  units: readonly string[],
  requireOwned: () => Promise<void>,
): Promise<readonly UnitSummary[]> {
  const file = openFile(move, true);
  try {
    const summaries: UnitSummary[] = [];
    for (const unit of units) summaries.push(await compare(unit, from, createSqliteRows(file.database)));
    await requireOwned();
    markCopy(file.database, false);
    await file.backUp();
    return summaries;
  } finally {
    file.close();
  }
}

function refuseRows(found: readonly string[], wanted: readonly string[], place: string): void {
  const both = found.filter((unit) => wanted.includes(unit));
  if (both.length === 0) return;
  throw new StateError(`${place} has a state of ${both.join(', ')} already; to replace it, add \`--overwrite\``);
}

type Held = OwnedUnit & { lease: Lease };

async function withUnits(
  { settings, owner, clock }: Move,
  connections: Connections,
  units: readonly string[],
  work: (owned: readonly Held[]) => Promise<readonly UnitSummary[]>,
): Promise<readonly UnitSummary[]> {
  const forLeases = createConnections({ ...settings, connections: 1 }, clock);
  const leases = createPostgresLeases(forLeases, { owner, address: '' });
  const held = new Map<string, Lease>();
  const renew = (): void => {
    cancel = clock.after(ttlMs / 3, renew);
    // After a lease is lost, the next write is fenced.
    for (const [unit, { epoch }] of held) leases.renew(unit, epoch, ttlMs).catch(() => false);
  };
  let cancel = clock.after(ttlMs / 3, renew);
  try {
    for (const unit of units) {
      const { isOurs, lease } = await leases.acquire(unit, ttlMs);
      if (!isOurs) throw new StateError(`${lease.owner} owns ${unit}; stop every replica first`);
      held.set(unit, lease);
    }
    return await work([...held.values()].map((lease) => ({ ...createOwnedUnit(connections, lease), lease })));
  } finally {
    cancel();
    for (const [unit, { epoch }] of held) await leases.release(unit, epoch).catch(() => undefined);
    await forLeases.close();
  }
}

const ttlMs = 30_000;

async function compare(unit: string, from: StateRows, to: StateRows): Promise<UnitSummary> {
  const before = await summarizeUnit(from, unit);
  const after = await summarizeUnit(to, unit);
  if (before.checksum === after.checksum) return after;
  throw new StateError(`the copy of ${unit} differs from its source: keep using the source`);
}
