import type { Clock } from '../../domain/clock.ts';
import type { Row } from '../../metrics/family.ts';
import { createNewSeriesHold } from '../../metrics/new-series.ts';
import type { Ledger, LedgerDocument } from '../../state/ledger.ts';
import type { Reading } from './deciding/areas.ts';
import type { Change } from './deciding/change.ts';
import { listChanges } from './deciding/journal.ts';
import { changeFamilies } from './families.ts';
import { createKeptJournal } from './kept-journal.ts';
import { type Answer, createToReading } from './readings.ts';

export type ChangesOptions = {
  readonly server: string;
  readonly everyMs: number;
  readonly clock: Pick<Clock, 'awakeTicks'>;
  readonly ledger: Pick<Ledger, 'load'>;
  /** Stores documents in a transaction of the ledger, in turn with counting. */
  readonly commit: (make: () => readonly LedgerDocument[]) => Promise<void>;
  readonly serverNowMs: () => number;
  readonly settings: ChangesSettings;
  readonly publish: (rows: readonly Row[], validForMs: number) => Promise<number>;
  readonly withdraw: () => void;
};

export type ChangesSettings = {
  /** How long a new series is shown as 0, so that Prometheus sees its first increase. */
  readonly holdNewSeriesMs: number;
  /** True if users may be shown. */
  readonly namesUsers: boolean;
  readonly isWantedProject: (project: string) => boolean;
  readonly isWantedJob: (jobPath: string) => boolean;
};

export type Changes = {
  /** Takes in the answers of all polls; `tookMs` is the duration of the request. */
  readonly hear: (answer: Answer, tookMs: number) => void;
  readonly read: (signal: AbortSignal) => Promise<{ readonly result: 'success'; readonly series: number }>;
  readonly withdraw: () => void;
  /** The changes of the last 30 days, newest first. */
  readonly list: () => readonly Change[];
  /** How many were dropped because there were too many. */
  readonly dropped: () => number;
  readonly serverNowMs: () => number;
};

/** Keeps the journal of one server: compares what polls read with what they read before. */
export function createChanges(options: ChangesOptions): Changes {
  const { everyMs, clock, serverNowMs, settings, publish, withdraw } = options;
  const toReading = createToReading();
  const waiting: Reading[] = [];
  const kept = createKeptJournal({ ...options, toKept: (change) => toKept(change, settings) });
  const hold = createNewSeriesHold(settings.holdNewSeriesMs);
  const held = new Set<string>();

  /** Compares what was heard since the last call. */
  async function takeWaiting(): Promise<void> {
    const before = new Set(kept.journal().totals.keys());
    const readings = waiting.splice(0);
    try {
      if (readings.length > 0) await kept.take(readings);
    } catch (error) {
      waiting.unshift(...readings);
      throw error;
    }
    for (const key of kept.journal().totals.keys()) if (!before.has(key)) held.add(key);
  }

  function show(): Promise<number> {
    for (const key of hold.due(clock.awakeTicks())) held.delete(key);
    const rows = [...kept.journal().totals].flatMap(([key, { project, kind, count }]) =>
      changeFamilies.changes.rows(held.has(key) ? 0 : count, { project, kind }),
    );
    hold.noteShown(held, clock.awakeTicks());
    return publish(rows, Math.max(3 * everyMs, minValidMs));
  }

  return {
    hear: (answer, tookMs) => {
      const seen = toReading(answer);
      if (seen === undefined) return;
      const throughMs = serverNowMs();
      waiting.push({ ...seen, fromMs: throughMs - tookMs, throughMs });
      // Changes are then seen later, and dated less exactly.
      if (waiting.length > maxWaiting) waiting.splice(0, waiting.length - maxWaiting);
    },
    read: async () => {
      await kept.open();
      await takeWaiting();
      return { result: 'success', series: await show() };
    },
    withdraw,
    list: () => listChanges(kept.journal(), serverNowMs()),
    dropped: () => kept.journal().dropped,
    serverNowMs,
  };
}

function toKept({ by, ...change }: Change, settings: ChangesSettings): Change | undefined {
  const { kind, project, subject } = change;
  if (project !== '' && !settings.isWantedProject(project)) return undefined;
  if (ofJobs.has(kind) && !settings.isWantedJob(subject)) return undefined;
  return by === undefined || !settings.namesUsers ? change : { ...change, by };
}

const ofJobs = new Set<Change['kind']>(['definition', 'job', 'switch', 'owner', 'run']);
const minValidMs = 60_000;
const maxWaiting = 1000;
