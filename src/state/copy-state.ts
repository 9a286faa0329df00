import type { DatabaseSync } from 'node:sqlite';
import type { Memory, MemoryKey } from '../domain/memory.ts';
import type { LedgerDocument, LedgerEntry } from './ledger.ts';
import { UnfinishedCopyError } from './shared-state.ts';
import type { QuarantineReason, SpooledTrace } from './spool.ts';
import { type State, toChecksum } from './state.ts';

export type UnitSummary = {
  readonly unit: string;
  readonly documents: number;
  readonly memories: number;
  readonly entries: number;
  readonly traces: number;
  readonly checksum: number;
};

type Copy = { from: StateRows; unit: string; to: State };

/** Copies all rows of a unit into a state that has no rows of the unit. */
export async function copyUnit({ from, unit, to }: Copy): Promise<void> {
  for await (const entries of readEntries(from, unit)) await to.ledger.commit(unit, { entries });
  const documents = await from.documents(unit);
  for (let done = 0; done < documents.length; done += batchSizes.documents) {
    await to.ledger.commit(unit, { documents: documents.slice(done, done + batchSizes.documents) });
  }
  for (const { memory, ...key } of await from.memories(unit)) {
    // This cast is safe: every engine writes memories as JSON.
    await to.remember(key, JSON.parse(memory) as Memory);
  }
  for await (const rows of readTraces(from, unit)) {
    await to.ledger.commit(unit, { spooled: rows.map(({ trace }) => trace) });
    for (const { trace, why } of rows) if (why !== undefined) await to.spool.quarantine(trace.key, why, unbounded);
  }
}

const unbounded = { maxBytes: Number.MAX_SAFE_INTEGER, maxTraces: Number.MAX_SAFE_INTEGER };

/** Reads all rows of a unit. Equal rows have the same summary in both engines. */
export async function summarizeUnit(rows: StateRows, unit: string): Promise<UnitSummary> {
  const parts: (string | number)[] = [];
  const documents = await rows.documents(unit);
  for (const { kind, key, body } of documents) parts.push(kind, key, body ?? '');
  const memories = await rows.memories(unit);
  for (const { server, collector, memory } of memories) parts.push(server, collector, memory);
  let checksum = toChecksum(parts);
  let entries = 0;
  for await (const batch of readEntries(rows, unit)) {
    entries += batch.length;
    checksum = toChecksum([checksum, ...batch.flatMap(toEntryParts)]);
  }
  let traces = 0;
  for await (const batch of readTraces(rows, unit)) {
    traces += batch.length;
    checksum = toChecksum([checksum, ...batch.map(toTraceChecksum)]);
  }
  return { unit, documents: documents.length, memories: memories.length, entries, traces, checksum };
}

function toEntryParts({ project, id, startedAtMs, endedAtMs }: LedgerEntry): readonly (string | number)[] {
  return [project, id, startedAtMs, endedAtMs];
}

function toTraceChecksum({ trace, why }: TraceRow): number {
  const { key, server, executionId, startedAtMs, spooledAtMs, encoding, spans, bytes } = trace;
  const kept = [key, server, executionId, startedAtMs, spooledAtMs, encoding, spans, bytes];
  return toChecksum([...kept, why?.reason ?? '', why?.atMs ?? 0]);
}

async function* readEntries(rows: StateRows, unit: string): AsyncGenerator<readonly LedgerEntry[]> {
  let last: LedgerEntry | undefined;
  for (;;) {
    const batch = await rows.entries(unit, last);
    last = batch.at(-1);
    if (last === undefined) return;
    yield batch;
  }
}

async function* readTraces(rows: StateRows, unit: string): AsyncGenerator<readonly TraceRow[]> {
  let after = 0;
  for (;;) {
    const batch = await rows.traces(unit, after);
    const last = batch.at(-1);
    if (last === undefined) return;
    after = last.place;
    yield batch;
  }
}

/** All rows of an engine, in batches and in the order of the engine, for copies between engines. */
export type StateRows = {
  readonly units: () => Promise<readonly string[]>;
  readonly documents: (unit: string) => Promise<readonly LedgerDocument[]>;
  /** Returns the memories of a unit and its members, sorted by server and collector. */
  readonly memories: (unit: string) => Promise<readonly MemoryRow[]>;
  /** Returns the entries after the given entry, sorted by id and start. */
  readonly entries: (unit: string, after: LedgerEntry | undefined) => Promise<readonly LedgerEntry[]>;
  /** Returns the traces after a position of the queue, including quarantined traces. */
  readonly traces: (unit: string, after: number) => Promise<readonly TraceRow[]>;
};

/** The stored value of a collector as JSON. `server` names a unit or one of its members. */
export type MemoryRow = MemoryKey & { readonly memory: string };

export type TraceRow = {
  readonly place: number;
  readonly trace: SpooledTrace;
  readonly why: QuarantineReason | undefined;
};

/** The maximum number of rows to read, write or delete at once. The number limits the size of transactions. */
export const batchSizes = { entries: 2000, documents: 500, traces: 100 } as const;

/** Marks a state file as complete, or as the target of a `migrate` that is not finished. */
export function markCopy(database: DatabaseSync, isUnderWay: boolean): void {
  database.exec(`PRAGMA application_id = ${isUnderWay ? underWay : whole}`);
}

export function hasUnfinishedCopy(database: DatabaseSync): boolean {
  return database.prepare('PRAGMA application_id').get()?.['application_id'] === underWay;
}

/** The application id in the header of the file. A change of the id is part of the transaction. */
const [whole, underWay] = [0, 0x68616c66];

/** Throws, because the state is incomplete. */
export function refuseUnfinishedCopy(place: 'database' | 'directory'): never {
  const [where, target, option] =
    place === 'database'
      ? ['in the database', 'postgres', 'state.postgres.schema']
      : ['in the state directory', 'directory', 'state.dir'];
  throw new UnfinishedCopyError(
    `the state ${where} is incomplete, because \`automation-exporter migrate ${target}\` did not finish; run it again, or choose another \`${option}\``,
  );
}
