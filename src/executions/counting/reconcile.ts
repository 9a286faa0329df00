import { type Execution, type Finished, isSameRun, type RunTimes } from '../../domain/execution.ts';
import { createIdOrder, type IdHour, type IdHours, type IdOrder, withIds } from './id-hours.ts';
import { type JobName, toJobName } from './naming.ts';

/** The fields of a finished execution that the ledger stores to recognize it. */
export type Entry = { readonly id: number; readonly startedAtMs: number; readonly endedAtMs: number };

export type KnownRuns = ReadonlyMap<number, readonly Required<RunTimes>[]>;

export type ReconcileInput = {
  readonly project: string;
  /** The rows as the server listed them: unsorted, possibly repeated or unfinished. */
  readonly rows: readonly Execution[];
  readonly known: KnownRuns;
  /** The start of counting. Executions that ended earlier are not counted. */
  readonly countedFromMs: number;
  /** Runs with ids up to `throughId` that ended before `untilMs` are earlier runs and do not count. */
  readonly earlier?: { readonly untilMs: number; readonly throughId: number } | undefined;
  readonly ids: IdHours;
  /** The ids of one-time runs; rows of finished runs may lack the type. */
  readonly oneTimeIds?: ReadonlySet<number>;
  /** The lags of known clocks that are more than a day behind. */
  readonly slowByMs?: readonly number[];
  readonly seenAtMs: number;
  /** The later of the server time and the exporter's time. A row with a later date comes from a clock that was ahead. */
  readonly latestMs: number;
  /** The start of the current epoch. Ids of runs that started earlier are not compared. */
  readonly epochStartedAtMs: number;
  /** Known runs that started up to this time may belong to an earlier epoch, because the clock may have been set back. */
  readonly formerThroughMs?: number | undefined;
  /** The greatest id of the previous epoch. */
  readonly formerThroughId?: number | undefined;
  readonly formerEpochs?: number;
  readonly isWanted: (job: JobName) => boolean;
};

export type Reconciled = {
  /** Executions to add to the ledger, counted or not. */
  readonly entries: readonly Entry[];
  readonly counted: readonly Finished[];
  readonly ofEpochBefore: ReadonlySet<Finished>;
  readonly imported: number;
  /** The start of a new epoch, if ids started again: an id had a different start before, or is much smaller than older ids. */
  readonly newEpochAtMs: number | undefined;
  /** The start of the current epoch once the rows are included. */
  readonly epochStartedAtMs: number;
  /** The changed hours; all hours if a new epoch began. */
  readonly idHours: readonly IdHour[];
};

/** Decides which rows are new, and which new rows count. Accepts repeated and unsorted rows. */
export function reconcile(input: ReconcileInput): Reconciled {
  const { known, ids, oneTimeIds, seenAtMs, latestMs, isWanted, formerEpochs = Number.POSITIVE_INFINITY } = input;
  const { formerThroughMs = Number.NEGATIVE_INFINITY, formerThroughId = Number.POSITIVE_INFINITY } = input;
  let epochStartedAtMs = Math.min(input.epochStartedAtMs, latestMs);
  const entries: Entry[] = [];
  const ofSlowClock = new Set<Finished>();
  const counted: Finished[] = [];
  const regular: Entry[] = [];
  let imported = 0;
  // An id order is built only if a row is new.
  let present: IdOrder | undefined;
  let later: IdOrder | undefined;
  let newEpochAtMs: number | undefined;
  const toFormerThroughMs = (id: number): number => (id > formerThroughId ? Number.NEGATIVE_INFINITY : formerThroughMs);
  for (const row of toNew(input)) {
    const entry = toEntry(row);
    const { id, startedAtMs } = entry;
    entries.push(entry);
    const isOrdered = hasOrder(row, oneTimeIds);
    const isComparable = isOrdered && startedAtMs <= seenAtMs + maxAheadMs;
    // If the server clock is behind, an import may have started after the server time and before the exporter's time.
    const isBetween = isOrdered && !isComparable && startedAtMs <= latestMs;
    const order = isBetween ? (later ??= toLaterOrder(input)) : (present ??= createIdOrder(ids, seenAtMs));
    if ((isComparable || isBetween) && order.isImported(entry)) {
      if (!order.isOfSlowClock(entry, input.slowByMs ?? [])) {
        imported += 1;
        continue;
      }
      ofSlowClock.add(row);
    }
    const earlier = known.get(id);
    // The epoch begins with the earliest run that reuses an id.
    if (isComparable && !ofSlowClock.has(row) && earlier?.every((run) => toBegin(run) < startedAtMs) === true) {
      epochStartedAtMs = Math.min(epochStartedAtMs, startedAtMs);
    }
    if (isOrdered && startedAtMs >= epochStartedAtMs && !ofSlowClock.has(row)) {
      if (isComparable) regular.push(entry);
      // A new database uses each id once, so an id that repeats within the current epoch starts a new epoch.
      const isTakenAgain =
        (earlier?.length ?? 0) > formerEpochs ||
        earlier?.some((run) => toBegin(run) >= epochStartedAtMs && toBegin(run) > toFormerThroughMs(id)) === true;
      if (isTakenAgain || (isComparable && order.startsAgain(entry))) {
        const beganMs = isComparable ? startedAtMs : latestMs;
        newEpochAtMs = Math.min(newEpochAtMs ?? beganMs, beganMs);
      }
    }
    if (isWanted(toJobName(row))) counted.push(row);
  }
  const since = newEpochAtMs ?? epochStartedAtMs;
  const former = formerEpochs + Number(newEpochAtMs !== undefined);
  // Each epoch uses an id once. A run with an id that every former epoch has used belongs to the current epoch. After the clock
  // was set back, runs of former epochs may have later starts than the current epoch.
  const isTaken = ({ id }: Finished): boolean =>
    (known.get(id) ?? []).filter((run) => toBegin(run) < since || toBegin(run) <= toFormerThroughMs(id)).length >=
    former;
  const before = newEpochAtMs === undefined ? ids : new Map<number, IdHour>();
  const ofEpoch = newEpochAtMs === undefined ? regular : regular.filter(({ startedAtMs }) => startedAtMs >= since);
  const idHours = withIds(before, ofEpoch, { seenAtMs, latestMs });
  return {
    entries,
    counted,
    ofEpochBefore: toEpochBefore(
      counted.filter((run) => !ofSlowClock.has(run) && !isTaken(run)),
      since,
      [...before.values(), ...idHours],
    ),
    imported,
    newEpochAtMs,
    epochStartedAtMs: since,
    idHours,
  };
}

/**
 * Returns an id order that includes these rows. If the clock was set back, these rows may have the only known ids after the
 * server time.
 */
function toLaterOrder({ rows, ids, oneTimeIds, latestMs, epochStartedAtMs }: ReconcileInput): IdOrder {
  const ordered = rows.filter(
    (row) => hasOrder(row, oneTimeIds) && row.startedAtMs >= epochStartedAtMs && row.startedAtMs <= latestMs,
  );
  const changed = withIds(ids, ordered, { seenAtMs: latestMs, latestMs });
  return createIdOrder(new Map([...ids, ...changed.map((hour) => [hour.hour, hour] as const)]), latestMs);
}

/** Returns each finished execution that may count and is not in the ledger, once. */
function toNew({ rows, known, countedFromMs, earlier }: ReconcileInput): Finished[] {
  const seen = new Map<number, Entry[]>();
  const isEarlier = ({ id, endedAtMs }: Finished): boolean =>
    endedAtMs < countedFromMs || (earlier !== undefined && endedAtMs < earlier.untilMs && id <= earlier.throughId);
  return rows.filter((row): row is Finished => {
    if (!isFinished(row) || isEarlier(row)) return false;
    const entry = toEntry(row);
    const sameId = seen.get(row.id) ?? [];
    if (isOneOf(sameId, entry)) return false;
    seen.set(row.id, [...sameId, entry]);
    return !isOneOf(known.get(row.id), entry);
  });
}

function toEntry({ id, startedAtMs, endedAtMs }: Finished): Entry {
  return { id, startedAtMs, endedAtMs };
}

/** Returns the earlier of start and end: some runs start days after their end. */
export function toBegin({ startedAtMs, endedAtMs = startedAtMs }: RunTimes): number {
  return Math.min(startedAtMs, endedAtMs);
}

/** Reports whether ids show the order of starts. One-time runs get ids long before they start; some rows have no start. */
function hasOrder({ id, type, status, lacksStart }: Execution, oneTimeIds: ReadonlySet<number> | undefined): boolean {
  const isOneTime = type === 'user-scheduled' || status === 'scheduled' || oneTimeIds?.has(id) === true;
  return !isOneTime && lacksStart !== true;
}

/**
 * Returns the runs of the previous epoch, which started before the current one. A run that started less than a day before the
 * current epoch belongs to the current epoch if its id is smaller than all ids of that epoch.
 */
function toEpochBefore(runs: readonly Finished[], sinceMs: number, hours: readonly IdHour[]): Set<Finished> {
  const early = runs.filter(({ startedAtMs }) => startedAtMs < sinceMs);
  if (early.length === 0) return new Set();
  const leastId = Math.min(...hours.map((hour) => hour.leastId ?? Number.POSITIVE_INFINITY));
  return new Set(early.filter(({ id, startedAtMs }) => id > leastId || sinceMs - startedAtMs > dayMs));
}

const dayMs = 86_400_000;
/** The maximum difference between the clocks of cluster members. */
const maxAheadMs = 3_600_000;

function isFinished(row: Execution): row is Finished {
  return row.endedAtMs !== undefined;
}

function isOneOf(runs: readonly RunTimes[] | undefined, entry: Entry): boolean {
  return runs?.some((run) => isSameRun(run, entry)) === true;
}
