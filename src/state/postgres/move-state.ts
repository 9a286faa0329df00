import type { Clock } from '../../domain/clock.ts';
import { copyUnit, summarizeUnit, type UnitSummary } from '../copy-state.ts';
import type { Lease } from '../shared-state.ts';
import { openSqliteState } from '../sqlite.ts';
import { openStateFile } from '../sqlite-file.ts';
import { clearSqlite, createSqliteRows } from '../sqlite-rows.ts';
import { StateError } from '../state.ts';
import type { StateRows } from '../state-rows.ts';
import { type Connections, createConnections, type PostgresSettings } from './connections.ts';
import { toState } from './open-postgres.ts';
import { createOwnedUnit, type OwnedUnit } from './owned-unit.ts';
import { createPostgresLeases } from './postgres-leases.ts';
import { clearUnit, createPostgresRows } from './postgres-rows.ts';
import { prepareSchema } from './schema.ts';

export type Move = {
  readonly to: 'postgres' | 'directory';
  readonly dir: string;
  readonly settings: PostgresSettings;
  /** Forgets what the target has; otherwise a target that has anything is refused. */
  readonly overwrite: boolean;
  /** The name of this process among the owners of leases. */
  readonly owner: string;
  readonly clock: Pick<Clock, 'after' | 'random' | 'now'>;
};

/**
 * Copies the state of every server from the state directory into the database, or back, and compares both. The source stays as
 * it is. No daemon may use either of them: the directory is locked, and the servers are owned meanwhile.
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
  const file = openFile(move);
  try {
    const from = createSqliteRows(file.database);
    const to = createPostgresRows(connections.sql);
    const units = await from.units();
    if (!move.overwrite) refuseRows(await to.units(), units, 'the database');
    return await withUnits(move, connections, units, async (owned) => {
      await owned.write((sql) => clearUnit(sql, owned.unit));
      try {
        await copyUnit({ from, unit: owned.unit, to: toState(owned) });
        return await compare(owned.unit, from, to);
      } catch (error) {
        // Half a state would be taken for a whole one.
        await owned.write((sql) => clearUnit(sql, owned.unit)).catch(() => undefined);
        throw error;
      }
    });
  } finally {
    file.close();
  }
}

async function moveOut(move: Move, connections: Connections): Promise<readonly UnitSummary[]> {
  const from = createPostgresRows(connections.sql);
  const units = await from.units();
  return withUnits(move, connections, units, async ({ unit }, index) => {
    if (index === 0) await emptyDirectory(move);
    const state = openSqliteState({ dir: move.dir }, move.clock);
    try {
      await copyUnit({ from, unit, to: state });
    } finally {
      await state.close();
    }
    const file = openFile(move);
    try {
      return await compare(unit, from, createSqliteRows(file.database));
    } finally {
      file.close();
    }
  });
}

function openFile({ dir, clock }: Move) {
  return openStateFile({ dir, now: clock.now });
}

async function emptyDirectory(move: Move): Promise<void> {
  const file = openFile(move);
  try {
    const units = await createSqliteRows(file.database).units();
    if (!move.overwrite) refuseRows(units, units, 'the state directory');
    clearSqlite(file.database);
  } finally {
    file.close();
  }
}

function refuseRows(found: readonly string[], wanted: readonly string[], place: string): void {
  const both = found.filter((unit) => wanted.includes(unit));
  if (both.length === 0) return;
  throw new StateError(`${place} has a state of ${both.join(', ')} already; to replace it, add \`--overwrite\``);
}

/** Works on one unit after the other, as the owner of all of them. */
async function withUnits(
  { settings, owner, clock }: Move,
  connections: Connections,
  units: readonly string[],
  work: (owned: OwnedUnit, index: number) => Promise<UnitSummary>,
): Promise<readonly UnitSummary[]> {
  const forLeases = createConnections({ ...settings, connections: 1 }, clock);
  const leases = createPostgresLeases(forLeases, { owner, address: '' });
  const held = new Map<string, Lease>();
  const renew = (): void => {
    cancel = clock.after(ttlMs / 3, renew);
    // A lease that is lost fences the next write.
    for (const [unit, { epoch }] of held) leases.renew(unit, epoch, ttlMs).catch(() => false);
  };
  let cancel = clock.after(ttlMs / 3, renew);
  try {
    for (const unit of units) {
      const { isOurs, lease } = await leases.acquire(unit, ttlMs);
      if (!isOurs) throw new StateError(`${lease.owner} owns ${unit}; stop every replica first`);
      held.set(unit, lease);
    }
    const summaries: UnitSummary[] = [];
    for (const [index, lease] of [...held.values()].entries()) {
      summaries.push(await work(createOwnedUnit(connections, { ...lease, owner }), index));
    }
    return summaries;
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
