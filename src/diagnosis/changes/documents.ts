import type { LedgerDocument, RestoredMark } from '../../state/ledger.ts';
import type { Area, Fields } from './deciding/areas.ts';
import type { Change } from './deciding/change.ts';
import type { CommonCause } from './deciding/common-cause.ts';
import { emptyJournal, type Journal, type JournalStep, type Total } from './deciding/journal.ts';
import { areas as areaNames } from './deciding/kinds.ts';
import type { JobRuns } from './deciding/runs.ts';

export const keptKinds = [
  'change-area',
  'change-read',
  'change-reads',
  'change-sheet',
  'change-totals',
  'change-secret',
  'change-run',
  'change-cause',
  'restored',
] as const;

/** The mark of a journal that has lost its last changes. */
export const restored: RestoredMark = { kind: 'restored', key: 'changes' };

/** The stored journal, and the areas in their last known state. */
export type Kept = {
  readonly areas: ReadonlyMap<string, Area>;
  readonly journal: Journal;
  readonly runs: ReadonlyMap<string, JobRuns>;
  /** The cause that failed jobs shared; absent if there was none. */
  readonly cause: CommonCause | undefined;
  /** The key of all hashes; undefined before the first start. */
  readonly secret: string | undefined;
  readonly hasOldReads: boolean;
  readonly isRestored: boolean;
};

export function readKept(documents: readonly LedgerDocument[]): Kept {
  const areas = new Map<string, Area>();
  const sheets = new Map<number, readonly Change[]>();
  const runs = new Map<string, JobRuns>();
  let counts: StoredTotals = { totals: [], dropped: emptyJournal.dropped };
  const reads: (readonly [area: string, ...Times])[] = [];
  const oldReads: typeof reads = [];
  let secret: string | undefined;
  let cause: CommonCause | undefined;
  for (const { kind, key, body = 'null' } of documents) {
    // These casts are safe: only this file writes documents of these kinds.
    if (kind === 'change-area') {
      const { things, ...area } = JSON.parse(body) as StoredArea;
      const all = new Map(things);
      // Earlier releases also stored the mode without the UUID, so a server looked like two members.
      if (key === areaNames.server && all.size > 1) all.delete('');
      areas.set(key, { ...area, things: all });
    }
    if (kind === 'change-sheet') sheets.set(Number(key), JSON.parse(body) as Change[]);
    if (kind === 'change-totals') counts = JSON.parse(body) as StoredTotals;
    if (kind === 'change-read') reads.push([key, ...(JSON.parse(body) as Times)]);
    if (kind === 'change-reads') oldReads.push(...(JSON.parse(body) as typeof reads));
    if (kind === 'change-run') runs.set(key, JSON.parse(body) as JobRuns);
    if (kind === 'change-cause') cause = JSON.parse(body) as CommonCause;
    if (kind === 'change-secret') secret = JSON.parse(body) as string;
  }
  for (const [key, readMs, lastReadMs] of [...oldReads, ...reads]) {
    const area = areas.get(key);
    if (area !== undefined && readMs > area.readMs) areas.set(key, { ...area, readMs, lastReadMs });
  }
  const totals = new Map(counts.totals.map((total) => [`${total.kind} ${total.project}`, total]));
  const byEnd = [...runs].sort(([, one], [, other]) => toEndMs(one) - toEndMs(other));
  return {
    areas,
    journal: { sheets, totals, dropped: counts.dropped },
    runs: new Map(byEnd),
    cause,
    secret,
    hasOldReads: oldReads.length > 0,
    isRestored: documents.some(({ kind, key }) => kind === restored.kind && key === restored.key),
  };
}

function toEndMs({ last, success }: JobRuns): number {
  return last?.endedAtMs ?? success?.startedAtMs ?? 0;
}

type StoredArea = Omit<Area, 'things'> & { readonly things: readonly (readonly [string, Fields])[] };
type StoredTotals = { readonly totals: readonly Total[]; readonly dropped: number };
type Times = readonly [readMs: number, lastReadMs: number];

export function toAreaDocument(key: string, area: Area | undefined): LedgerDocument {
  return { kind: 'change-area', key, body: area && JSON.stringify({ ...area, things: [...area.things] }) };
}

/** Returns the document with the time of the last reading of an area, because most readings change nothing else. */
export function toReadDocument(key: string, area: Area | undefined): LedgerDocument {
  if (area === undefined) return { kind: 'change-read', key, body: undefined };
  const { readMs, lastReadMs = readMs } = area;
  return { kind: 'change-read', key, body: JSON.stringify([readMs, lastReadMs]) };
}

/** Removes the document in which the first release stored the times of all areas. */
export function withoutOldReads({ areas }: Pick<Kept, 'areas'>): readonly LedgerDocument[] {
  const reads = [...areas].map(([key, area]) => toReadDocument(key, area));
  return [...reads, { kind: 'change-reads', key: '', body: undefined }];
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
