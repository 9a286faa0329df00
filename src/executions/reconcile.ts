import type { Execution } from '../domain/execution.ts';
import { isSameRun, type RunTimes } from '../domain/same-run.ts';
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
  readonly ids: IdHours;
  /** Since when ids count as they do now; what started before takes no part in comparing them. */
  readonly epochStartedAtMs: number;
  /** Whether configuration includes a job, by its path. */
  readonly isWanted: (path: string) => boolean;
};

export type Finished = Execution & { readonly endedAtMs: number };

export type Reconciled = {
  /** What becomes known, counted or not. */
  readonly entries: readonly Entry[];
  readonly counted: readonly Finished[];
  readonly imported: number;
  /** When ids began to start again, where they do: an id that had another start before, or one far behind old ones. */
  readonly newEpochAtMs: number | undefined;
  /** Since when ids count as they do now, of all that is known by now. */
  readonly epochStartedAtMs: number;
  /** The hours that changed; of a new epoch all there are. */
  readonly idHours: readonly IdHour[];
};

/** Which of the rows that were read are new and count; pure, whatever was read before, twice or out of order. */
export function reconcile(input: ReconcileInput): Reconciled {
  const { project, rows, known, countedFromMs, ids, isWanted } = input;
  let { epochStartedAtMs } = input;
  const entries: Entry[] = [];
  const counted: Finished[] = [];
  const regular: Entry[] = [];
  const seen = new Map<number, RunTimes[]>();
  let imported = 0;
  // Most rounds bring nothing new.
  let order: IdOrder | undefined;
  let newEpochAtMs: number | undefined;
  for (const row of rows) {
    if (!isFinished(row) || row.endedAtMs < countedFromMs) continue;
    const { id, startedAtMs, endedAtMs } = row;
    const entry = { id, startedAtMs, endedAtMs };
    if (isOneOf(seen.get(id), entry)) continue;
    seen.set(id, [...(seen.get(id) ?? []), entry]);
    const earlier = known.get(id);
    if (isOneOf(earlier, entry)) continue;
    entries.push(entry);
    order ??= createIdOrder(ids);
    // Their ids are given long before they start.
    const isOneTime = row.type === 'user-scheduled' || row.status === 'scheduled';
    if (!isOneTime && order.isImported(entry)) {
      imported += 1;
      continue;
    }
    // What is read first of an epoch need not be the first of it: this one began before, with an id that is given again.
    if (!isOneTime && earlier?.every((run) => run.startedAtMs < startedAtMs) === true) {
      epochStartedAtMs = Math.min(epochStartedAtMs, startedAtMs);
    }
    if (!isOneTime && startedAtMs >= epochStartedAtMs) {
      regular.push(entry);
      // An id of a database before this one comes back once for each of its executions, and tells nothing new.
      const isTakenAgain = earlier?.some((run) => run.startedAtMs >= epochStartedAtMs) === true;
      if (isTakenAgain || order.startsAgain(entry)) {
        newEpochAtMs = Math.min(newEpochAtMs ?? startedAtMs, startedAtMs);
      }
    }
    if (isWanted(toJobPath(project, toJobName(row)))) counted.push(row);
  }
  const idHours =
    newEpochAtMs === undefined
      ? withIds(ids, regular)
      : withIds(
          new Map(),
          regular.filter(({ startedAtMs }) => startedAtMs >= newEpochAtMs),
        );
  return { entries, counted, imported, newEpochAtMs, epochStartedAtMs: newEpochAtMs ?? epochStartedAtMs, idHours };
}

function isFinished(row: Execution): row is Finished {
  return row.endedAtMs !== undefined;
}

function isOneOf(runs: readonly RunTimes[] | undefined, entry: Entry): boolean {
  return runs?.some((run) => isSameRun(run, entry)) === true;
}
