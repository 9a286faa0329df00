import { type Execution, type Finished, isSameRun, type RunTimes } from '../../domain/execution.ts';
import { createIdOrder, type IdHour, type IdHours, type IdOrder, withIds } from './id-hours.ts';
import { type JobName, toJobName } from './naming.ts';

/** A finished execution as the ledger keeps it: enough to recognize it. */
export type Entry = { readonly id: number; readonly startedAtMs: number; readonly endedAtMs: number };

export type KnownRuns = ReadonlyMap<number, readonly Required<RunTimes>[]>;

export type ReconcileInput = {
  readonly project: string;
  /** The rows as the server listed them: in any order, possibly repeated or unfinished. */
  readonly rows: readonly Execution[];
  readonly known: KnownRuns;
  /** The start of the interval that counts; it has no end. */
  readonly countedFromMs: number;
  /** Runs with ids up to `throughId` that ended before `untilMs` are earlier runs and do not count. */
  readonly earlier?: { readonly untilMs: number; readonly throughId: number } | undefined;
  readonly ids: IdHours;
  /** The ids of runs that were once one-time runs, even if their rows no longer show it. */
  readonly oneTimeIds?: ReadonlySet<number>;
  /** The lags of clocks that were recently seen to be more than a day behind. */
  readonly slowByMs?: readonly number[];
  readonly seenAtMs: number;
  /** The later of the server time and the exporter's time: a row with a later date comes from a clock that was ahead. */
  readonly latestMs: number;
  /** The start of the present epoch; runs that started before it are not compared by id. */
  readonly epochStartedAtMs: number;
  /** Known runs that started up to this time may be of an earlier epoch, because the clock may have been set back. */
  readonly formerThroughMs?: number | undefined;
  /** The greatest id of that earlier epoch. */
  readonly formerThroughId?: number | undefined;
  /** How many epochs were before the present one. */
  readonly formerEpochs?: number;
  readonly isWanted: (job: JobName) => boolean;
};

export type Reconciled = {
  /** Executions that become known, counted or not. */
  readonly entries: readonly Entry[];
  readonly counted: readonly Finished[];
  /** Counted runs of the previous epoch. */
  readonly ofEpochBefore: ReadonlySet<Finished>;
  readonly imported: number;
  /** When ids started again: an id had another start before, or is far below older ids. */
  readonly newEpochAtMs: number | undefined;
  /** The start of the present epoch, as known after these rows. */
  readonly epochStartedAtMs: number;
  /** The changed hours; all hours if the epoch is new. */
  readonly idHours: readonly IdHour[];
};

/** Decides which rows are new and count. Pure; rows may be repeated or out of order. */
export function reconcile(input: ReconcileInput): Reconciled {
  const { known, ids, oneTimeIds, seenAtMs, latestMs, isWanted } = input;
  const { formerThroughMs = Number.NEGATIVE_INFINITY, formerThroughId = Number.POSITIVE_INFINITY } = input;
  let epochStartedAtMs = Math.min(input.epochStartedAtMs, latestMs);
  const entries: Entry[] = [];
  const ofSlowClock = new Set<Finished>();
  const counted: Finished[] = [];
  const regular: Entry[] = [];
  let imported = 0;
  // Built only when needed: most rounds have no new rows.
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
    // While the server clock is behind the exporter's, the date of an import may be in between.
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
    // An epoch may begin before its first known run: this run started earlier, and reuses an id too.
    if (isComparable && !ofSlowClock.has(row) && earlier?.every((run) => toBegin(run) < startedAtMs) === true) {
      epochStartedAtMs = Math.min(epochStartedAtMs, startedAtMs);
    }
    if (isOrdered && startedAtMs >= epochStartedAtMs && !ofSlowClock.has(row)) {
      if (isComparable) regular.push(entry);
      // An id that is reused again starts no new epoch: a new database reuses each id once.
      const isTakenAgain =
        earlier?.some((run) => toBegin(run) >= epochStartedAtMs && toBegin(run) > toFormerThroughMs(id)) === true;
      if (isTakenAgain || (isComparable && order.startsAgain(entry))) {
        const beganMs = isComparable ? startedAtMs : latestMs;
        newEpochAtMs = Math.min(newEpochAtMs ?? beganMs, beganMs);
      }
    }
    if (isWanted(toJobName(row))) counted.push(row);
  }
  const since = newEpochAtMs ?? epochStartedAtMs;
  const former = (input.formerEpochs ?? Number.POSITIVE_INFINITY) + Number(newEpochAtMs !== undefined);
  // An epoch has each id once: if all former epochs have had this id, the run is of the present epoch. If the clock was set back, those
  // runs may have begun after it.
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

/** Compares also with these rows: nothing may be known of the time before the clock was set back. */
function toLaterOrder({ rows, ids, oneTimeIds, latestMs, epochStartedAtMs }: ReconcileInput): IdOrder {
  const ordered = rows.filter(
    (row) => hasOrder(row, oneTimeIds) && row.startedAtMs >= epochStartedAtMs && row.startedAtMs <= latestMs,
  );
  const changed = withIds(ids, ordered, { seenAtMs: latestMs, latestMs });
  return createIdOrder(new Map([...ids, ...changed.map((hour) => [hour.hour, hour] as const)]), latestMs);
}

/** Returns the finished executions that count and are not known, each only once. */
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

/** Some runs start days after their end. */
function toBegin({ startedAtMs, endedAtMs = startedAtMs }: RunTimes): number {
  return Math.min(startedAtMs, endedAtMs);
}

/** One-time runs get their ids long before they start, and some rows have no start. */
function hasOrder({ id, type, status, lacksStart }: Execution, oneTimeIds: ReadonlySet<number> | undefined): boolean {
  const isOneTime = type === 'user-scheduled' || status === 'scheduled' || oneTimeIds?.has(id) === true;
  return !isOneTime && lacksStart !== true;
}

/**
 * Returns the runs of the previous epoch, which started before the present one. A run that started shortly before the present
 * epoch belongs to it if its id is below all ids of the previous epoch.
 */
function toEpochBefore(runs: readonly Finished[], sinceMs: number, hours: readonly IdHour[]): Set<Finished> {
  const early = runs.filter(({ startedAtMs }) => startedAtMs < sinceMs);
  if (early.length === 0) return new Set();
  const leastId = Math.min(...hours.map((hour) => hour.leastId ?? Number.POSITIVE_INFINITY));
  return new Set(early.filter(({ id, startedAtMs }) => id > leastId || sinceMs - startedAtMs > dayMs));
}

const dayMs = 86_400_000;
/** The clocks of cluster members differ a little. */
const maxAheadMs = 3_600_000;

function isFinished(row: Execution): row is Finished {
  return row.endedAtMs !== undefined;
}

function isOneOf(runs: readonly RunTimes[] | undefined, entry: Entry): boolean {
  return runs?.some((run) => isSameRun(run, entry)) === true;
}
