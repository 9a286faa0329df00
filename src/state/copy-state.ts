import type { Memory } from '../domain/memory.ts';
import { toChecksum } from './checksum.ts';
import type { LedgerEntry } from './ledger.ts';
import type { State } from './state.ts';
import { batchSizes, type StateRows, type TraceRow } from './state-rows.ts';

/** The number of rows of a unit, and a checksum over them. */
export type UnitSummary = {
  readonly unit: string;
  readonly documents: number;
  readonly memories: number;
  readonly entries: number;
  readonly traces: number;
  readonly checksum: number;
};

type Copy = { from: StateRows; unit: string; to: State };

/** Copies all rows of a unit into a state that has none of it. */
export async function copyUnit({ from, unit, to }: Copy): Promise<void> {
  for await (const entries of readEntries(from, unit)) await to.ledger.commit(unit, { entries });
  const documents = await from.documents(unit);
  for (let done = 0; done < documents.length; done += batchSizes.documents) {
    await to.ledger.commit(unit, { documents: documents.slice(done, done + batchSizes.documents) });
  }
  for (const { memory, ...key } of await from.memories(unit)) {
    // The cast is true: every engine writes memories as JSON.
    await to.remember(key, JSON.parse(memory) as Memory);
  }
  for await (const rows of readTraces(from, unit)) {
    await to.ledger.commit(unit, { spooled: rows.map(({ trace }) => trace) });
    for (const { trace, why } of rows) if (why !== undefined) await to.spool.quarantine(trace.key, why, unbounded);
  }
}

const unbounded = { maxBytes: Number.MAX_SAFE_INTEGER, maxTraces: Number.MAX_SAFE_INTEGER };

/** Reads all rows of a unit. The same rows have the same summary in both engines. */
export async function summarizeUnit(rows: StateRows, unit: string): Promise<UnitSummary> {
  const parts: (string | number)[] = [];
  const documents = await rows.documents(unit);
  for (const { kind, key, body } of documents) parts.push(kind, key, body ?? '');
  const memories = await rows.memories(unit);
  for (const { server, collector, memory } of memories) parts.push(server, collector, memory);
  let entries = 0;
  for await (const batch of readEntries(rows, unit)) {
    entries += batch.length;
    parts.splice(0, parts.length, toChecksum([...parts, ...batch.flatMap(toEntryParts)]));
  }
  let traces = 0;
  for await (const batch of readTraces(rows, unit)) {
    traces += batch.length;
    parts.splice(0, parts.length, toChecksum([...parts, ...batch.map(toTraceChecksum)]));
  }
  return {
    unit,
    documents: documents.length,
    memories: memories.length,
    entries,
    traces,
    checksum: toChecksum(parts),
  };
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
