import type { LedgerDocument } from '../../state/ledger.ts';
import type { Area, Fields } from './deciding/areas.ts';
import type { Change } from './deciding/change.ts';
import type { CommonCause } from './deciding/common-cause.ts';
import { emptyJournal, type Journal, type JournalStep, type Total } from './deciding/journal.ts';
import type { JobRuns } from './deciding/runs.ts';

/** The document kinds of the journal of changes. */
export const keptKinds = [
  'change-area',
  'change-reads',
  'change-sheet',
  'change-totals',
  'change-secret',
  'change-run',
  'change-cause',
] as const;

/** The stored journal, and the areas in their last known state. */
export type Kept = {
  readonly areas: ReadonlyMap<string, Area>;
  readonly journal: Journal;
  readonly runs: ReadonlyMap<string, JobRuns>;
  /** The cause that failed jobs shared; absent if there was none. */
  readonly cause: CommonCause | undefined;
  /** The key of all hashes; undefined before the first start. */
  readonly secret: string | undefined;
};

export function readKept(documents: readonly LedgerDocument[]): Kept {
  const areas = new Map<string, Area>();
  const sheets = new Map<number, readonly Change[]>();
  const runs = new Map<string, JobRuns>();
  let counts: StoredTotals = { totals: [], dropped: emptyJournal.dropped };
  let reads: StoredReads = [];
  let secret: string | undefined;
  let cause: CommonCause | undefined;
  for (const { kind, key, body = 'null' } of documents) {
    // These casts are safe: only this file writes documents of these kinds.
    if (kind === 'change-area') {
      const { things, ...area } = JSON.parse(body) as StoredArea;
      areas.set(key, { ...area, things: new Map(things) });
    }
    if (kind === 'change-sheet') sheets.set(Number(key), JSON.parse(body) as Change[]);
    if (kind === 'change-totals') counts = JSON.parse(body) as StoredTotals;
    if (kind === 'change-reads') reads = JSON.parse(body) as StoredReads;
    if (kind === 'change-run') runs.set(key, JSON.parse(body) as JobRuns);
    if (kind === 'change-cause') cause = JSON.parse(body) as CommonCause;
    if (kind === 'change-secret') secret = JSON.parse(body) as string;
  }
  for (const [key, readMs, lastReadMs] of reads) {
    const area = areas.get(key);
    if (area !== undefined && readMs > area.readMs) areas.set(key, { ...area, readMs, lastReadMs });
  }
  const totals = new Map(counts.totals.map((total) => [`${total.kind} ${total.project}`, total]));
  const byEnd = [...runs].sort(([, one], [, other]) => toEndMs(one) - toEndMs(other));
  return { areas, journal: { sheets, totals, dropped: counts.dropped }, runs: new Map(byEnd), cause, secret };
}

function toEndMs({ last, success }: JobRuns): number {
  return last?.endedAtMs ?? success?.startedAtMs ?? 0;
}

type StoredArea = Omit<Area, 'things'> & { readonly things: readonly (readonly [string, Fields])[] };
type StoredTotals = { readonly totals: readonly Total[]; readonly dropped: number };
type StoredReads = readonly (readonly [area: string, readMs: number, lastReadMs: number])[];

export function toAreaDocument(key: string, area: Area | undefined): LedgerDocument {
  return { kind: 'change-area', key, body: area && JSON.stringify({ ...area, things: [...area.things] }) };
}

/** When areas were last read; most readings change nothing else. */
export function toReadsDocument(areas: ReadonlyMap<string, Area>): LedgerDocument {
  const reads: StoredReads = [...areas].map(([key, { readMs, lastReadMs = readMs }]) => [key, readMs, lastReadMs]);
  return { kind: 'change-reads', key: '', body: JSON.stringify(reads) };
}

export function toJournalDocuments({ journal, written, forgotten }: JournalStep): readonly LedgerDocument[] {
  if (written.length + forgotten.length === 0) return [];
  return [
    ...written.map((number) => toSheet(number, JSON.stringify(journal.sheets.get(number)))),
    ...forgotten.map((number) => toSheet(number, undefined)),
    toTotalsDocument(journal),
  ];
}

export function toTotalsDocument({ totals, dropped }: Journal): LedgerDocument {
  return { kind: 'change-totals', key: '', body: JSON.stringify({ totals: [...totals.values()], dropped }) };
}

function toSheet(number: number, body: string | undefined): LedgerDocument {
  return { kind: 'change-sheet', key: String(number), body };
}

export function toRunDocument(job: string, runs: JobRuns | undefined): LedgerDocument {
  return { kind: 'change-run', key: job, body: runs && JSON.stringify(runs) };
}

export function toCauseDocument(cause: CommonCause | undefined): LedgerDocument {
  return { kind: 'change-cause', key: '', body: cause && JSON.stringify(cause) };
}

export function toSecretDocument(secret: string): LedgerDocument {
  return { kind: 'change-secret', key: '', body: JSON.stringify(secret) };
}
