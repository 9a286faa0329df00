import type { Execution } from '../../domain/execution.ts';
import { isSameRun, type RunTimes } from '../../domain/same-run.ts';
import { createIdOrder, type IdHour, type IdHours, type IdOrder, withIds } from './id-hours.ts';
import { toJobName, toJobPath } from './naming.ts';

/** A finished execution as it is kept: enough to know it again. */
export type Entry = { readonly id: number; readonly startedAtMs: number; readonly endedAtMs: number };

/** Runs that are known by their id. */
export type KnownRuns = ReadonlyMap<number, readonly Required<RunTimes>[]>;

export type ReconcileInput = {
  readonly project: string;
  /** As the server listed them: in any order, some of them twice, unfinished ones among them. */
  readonly rows: readonly Execution[];
  readonly known: KnownRuns;
  /** Only what ended in this interval counts: its end lies open. */
  readonly countedFromMs: number;
  /** Runs with these ids that ended before this time are earlier ones, and do not count. */
  readonly earlier?: { readonly untilMs: number; readonly throughId: number } | undefined;
  readonly ids: IdHours;
  /** Runs that were seen waiting for their one time, whatever their row says now. */
  readonly oneTimeIds?: ReadonlySet<number>;
  /** How far clocks are behind that were seen lately, if by more than a day. */
  readonly slowByMs?: readonly number[];
  /** The server's time at which the rows were read. */
  readonly seenAtMs: number;
  /** The later of that time and of ours: whatever is dated after it is of a clock that was ahead. */
  readonly latestMs: number;
  /** The start of the present sequence of ids; runs that started before it are not compared by id. */
  readonly epochStartedAtMs: number;
  /** Reports whether configuration includes a job, by its path. */
  readonly isWanted: (path: string) => boolean;
};

export type Finished = Execution & { readonly endedAtMs: number };

export type Reconciled = {
  /** Executions that become known, counted or not. */
  readonly entries: readonly Entry[];
  readonly counted: readonly Finished[];
  /** Those of the counted that ran before ids started again. */
  readonly ofEpochBefore: ReadonlySet<Finished>;
  readonly imported: number;
  /** When ids began to start again, where they do: an id that had another start before, or one far behind old ones. */
  readonly newEpochAtMs: number | undefined;
  /** The start of the present sequence of ids, as far as is known after these rows. */
  readonly epochStartedAtMs: number;
  /** The hours that changed; of a new epoch all there are. */
  readonly idHours: readonly IdHour[];
};

/** Which of the rows that were read are new and count; pure, whatever was read before, twice or out of order. */
export function reconcile(input: ReconcileInput): Reconciled {
  const { project, known, ids, oneTimeIds, seenAtMs, latestMs, isWanted } = input;
  let epochStartedAtMs = Math.min(input.epochStartedAtMs, latestMs);
  const entries: Entry[] = [];
  const ofSlowClock = new Set<Finished>();
  const counted: Finished[] = [];
  const regular: Entry[] = [];
  let imported = 0;
  // Most rounds bring nothing new.
  let order: IdOrder | undefined;
  let newEpochAtMs: number | undefined;
  for (const row of toNew(input)) {
    const entry = toEntry(row);
    const { id, startedAtMs } = entry;
    entries.push(entry);
    order ??= createIdOrder(ids, seenAtMs);
    // Ids of one-time runs are given long before they start, and some rows lack their start, or have one that is to come.
    const isComparable = !isOneTime(row, oneTimeIds) && row.lacksStart !== true && startedAtMs <= seenAtMs + maxAheadMs;
    if (isComparable && order.isImported(entry)) {
      if (!order.isOfSlowClock(entry, input.slowByMs ?? [])) {
        imported += 1;
        continue;
      }
      ofSlowClock.add(row);
    }
    const earlier = known.get(id);
    // The first run that was read of an epoch may not be its first run: this one began before, with an id that is given again.
    if (isComparable && !ofSlowClock.has(row) && earlier?.every((run) => run.startedAtMs < startedAtMs) === true) {
      epochStartedAtMs = Math.min(epochStartedAtMs, startedAtMs);
    }
    if (isComparable && startedAtMs >= epochStartedAtMs && !ofSlowClock.has(row)) {
      regular.push(entry);
      // An id of an earlier database comes back once for each of its executions, and is not a sign of a new epoch.
      const isTakenAgain = earlier?.some((run) => run.startedAtMs >= epochStartedAtMs) === true;
      if (isTakenAgain || order.startsAgain(entry)) {
        newEpochAtMs = Math.min(newEpochAtMs ?? startedAtMs, startedAtMs);
      }
    }
    if (isWanted(toJobPath(project, toJobName(row)))) counted.push(row);
  }
  const since = newEpochAtMs ?? epochStartedAtMs;
  const before = newEpochAtMs === undefined ? ids : new Map<number, IdHour>();
  const ofEpoch = newEpochAtMs === undefined ? regular : regular.filter(({ startedAtMs }) => startedAtMs >= since);
  const idHours = withIds(before, ofEpoch, { seenAtMs, latestMs });
  return {
    entries,
    counted,
    ofEpochBefore: toEpochBefore(
      counted.filter((run) => !ofSlowClock.has(run)),
      since,
      [...before.values(), ...idHours],
    ),
    imported,
    newEpochAtMs,
    epochStartedAtMs: since,
    idHours,
  };
}

/** Keeps the finished executions that ended after counting began and were not known before, each once. */
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

function isOneTime({ id, type, status }: Finished, oneTimeIds: ReadonlySet<number> | undefined): boolean {
  return type === 'user-scheduled' || status === 'scheduled' || oneTimeIds?.has(id) === true;
}

/**
 * Finds the runs of the previous epoch: those that started before this one, unless shortly before it with an id below all of
 * its ids.
 */
function toEpochBefore(runs: readonly Finished[], sinceMs: number, hours: readonly IdHour[]): Set<Finished> {
  const early = runs.filter(({ startedAtMs }) => startedAtMs < sinceMs);
  if (early.length === 0) return new Set();
  const leastId = Math.min(...hours.map((hour) => hour.leastId ?? Number.POSITIVE_INFINITY));
  return new Set(early.filter(({ id, startedAtMs }) => id > leastId || sinceMs - startedAtMs > dayMs));
}

const dayMs = 86_400_000;
/** Clocks of members differ a little. */
const maxAheadMs = 3_600_000;

function isFinished(row: Execution): row is Finished {
  return row.endedAtMs !== undefined;
}

function isOneOf(runs: readonly RunTimes[] | undefined, entry: Entry): boolean {
  return runs?.some((run) => isSameRun(run, entry)) === true;
}
