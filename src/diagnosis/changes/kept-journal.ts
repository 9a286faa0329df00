import { createHmac, randomBytes } from 'node:crypto';
import type { Ledger, LedgerDocument } from '../../state/ledger.ts';
import type { SpooledTrace } from '../../state/spool.ts';
import { type Area, noteReading, type Reading } from './deciding/areas.ts';
import type { Change } from './deciding/change.ts';
import { addChanges, emptyJournal, type Journal, type JournalStep, maxAgeMs } from './deciding/journal.ts';
import { areas as areaNames, type ListedJob, toChanges } from './deciding/kinds.ts';
import type { JobRuns } from './deciding/runs.ts';
import {
  type Kept,
  keptKinds,
  readKept,
  restored,
  toAreaDocument,
  toJournalDocuments,
  toReadDocument,
  toSecretDocument,
  toTotalsDocument,
  withoutOldReads,
} from './documents.ts';

export type ToSpooled = (changes: readonly Change[]) => Promise<readonly SpooledTrace[]>;

type Options = {
  readonly server: string;
  /** True if the state is a restored backup. Changes since the backup are lost, so counters start again at 0. */
  readonly isRestored: boolean;
  readonly ledger: Pick<Ledger, 'load'>;
  readonly commit: (make: () => readonly LedgerDocument[], spooled?: readonly SpooledTrace[]) => Promise<void>;
  /** Makes the events for changes in the same transaction; undefined if no events are sent. */
  readonly toSpooled?: ToSpooled | undefined;
  readonly serverNowMs: () => number;
  /** Returns a change in its stored form; undefined if it is not stored. */
  readonly toKept: (change: Change) => Change | undefined;
  readonly onLoaded: (kept: Pick<Kept, 'runs' | 'cause'>) => void;
};

/** Stores the journal of a server, and the areas that readings are compared with. A change is visible only after its commit. */
export function createKeptJournal(options: Options) {
  const { server, ledger, commit, serverNowMs, toKept } = options;
  const areas = new Map<string, Area>();
  const runs = new Map<string, JobRuns>();
  let journal: Journal = emptyJournal;
  let opened: Promise<void> | undefined;
  let hash: ((text: string) => string) | undefined;

  async function load(): Promise<void> {
    const kept = readKept(await ledger.load(server, keptKinds));
    const secret = kept.secret ?? randomBytes(32).toString('base64');
    if (kept.secret === undefined) await commit(() => [toSecretDocument(secret)]);
    const isRestored = options.isRestored || kept.isRestored;
    const found = isRestored ? { ...kept.journal, totals: emptyJournal.totals } : kept.journal;
    if (kept.hasOldReads) await commit(() => withoutOldReads(kept));
    if (isRestored) await commit(() => [toTotalsDocument(found), { ...restored, body: undefined }]);
    for (const [key, area] of kept.areas) areas.set(key, area);
    for (const [job, known] of kept.runs) runs.set(job, known);
    options.onLoaded(kept);
    journal = found;
    hash = (text) => createHmac('sha256', secret).update(text).digest('base64url').slice(0, hashLength);
  }

  return {
    /** Loads the stored state. The function may be called again after an error. */
    open: (): Promise<void> => {
      opened ??= load().catch((error: unknown) => {
        opened = undefined;
        throw error;
      });
      return opened;
    },
    /** Compares readings with the known areas and stores the changes. Only one call at a time is permitted. */
    take: async (readings: readonly Reading[], more: readonly Change[]): Promise<void> => {
      const { next, changed, same, found } = compareAll(areas, readings);
      const kept = [...found, ...more].flatMap((change) => toKept(change) ?? []);
      const step: JournalStep = addChanges(journal, kept, serverNowMs());
      const spooled = await options.toSpooled?.(kept);
      const gone = listGone(next, serverNowMs());
      for (const key of gone) next.delete(key);
      const documents = [
        ...toJournalDocuments(step),
        ...toAreaDocuments(next, [...changed, ...gone]),
        ...[...same, ...gone].map((key) => toReadDocument(key, next.get(key))),
      ];
      await commit(() => documents, spooled);
      for (const key of gone) areas.delete(key);
      for (const [key, area] of next) areas.set(key, area);
      ({ journal } = step);
    },
    journal: (): Journal => journal,
    areas,
    runs,
    /** Hashes a text that may be secret; undefined before the stored state is loaded. */
    hash: (): ((text: string) => string) | undefined => hash,
    jobOf: (id: string): ListedJob | undefined => findJob(areas, id),
  };
}

export type KeptJournal = ReturnType<typeof createKeptJournal>;

const hashLength = 16;

function compareAll(areas: ReadonlyMap<string, Area>, readings: readonly Reading[]) {
  const next = new Map(areas);
  const changed = new Set<string>();
  const same = new Set<string>();
  const found = readings.flatMap((reading) => {
    const { area, differences, isChanged } = noteReading(next.get(reading.area), reading);
    next.set(reading.area, area);
    (isChanged ? changed : same).add(reading.area);
    const jobOf = (id: string) => findJob(next, id);
    const wasRead = (name: string, byMs: number) => (next.get(name)?.sinceMs ?? Number.POSITIVE_INFINITY) <= byMs;
    return toChanges(reading.area, { ...area, jobOf, wasRead }, differences);
  });
  return { next, changed, same, found };
}

function findJob(areas: ReadonlyMap<string, Area>, id: string): ListedJob | undefined {
  const prefix = areaNames.jobsOf('');
  for (const [key, { things }] of areas) {
    const fields = key.startsWith(prefix) ? things.get(id) : undefined;
    if (fields === undefined) continue;
    const edit = areas.get(areaNames.editOf(id))?.things.get('') ?? {};
    const isLater = Number(edit['.modified'] ?? 0) > Number(fields['.modified'] ?? 0);
    return {
      project: key.slice(prefix.length),
      path: fields['path'] ?? '',
      fields: isLater ? { ...fields, ...edit } : fields,
    };
  }
  return undefined;
}

/**
 * Lists the areas of jobs and projects that have not been listed for long. The definition of a listed job may be read seldom.
 */
function listGone(areas: ReadonlyMap<string, Area>, nowMs: number): readonly string[] {
  const old = [...areas].flatMap(([key, { readMs }]) => (ofJobs.test(key) && readMs < nowMs - maxAgeMs ? [key] : []));
  const listed = new Set<string>();
  for (const [key, { things }] of old.length === 0 ? [] : areas)
    if (key.startsWith(areaNames.jobsOf(''))) for (const id of things.keys()) listed.add(areaNames.definitionOf(id));
  return old.filter((key) => !listed.has(key));
}

const ofJobs = /^(?:jobs|modes|nodes|definition|edit) /;

function toAreaDocuments(areas: ReadonlyMap<string, Area>, changed: Iterable<string>): readonly LedgerDocument[] {
  return [...changed].map((key) => toAreaDocument(key, areas.get(key)));
}
