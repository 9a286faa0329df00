import type { Api } from '../api/client.ts';
import { ApiError } from '../api/errors.ts';
import type { Window } from '../api/paging.ts';
import type { Execution } from '../domain/execution.ts';
import type { Acceptance, ExecutionsObserver } from './accept.ts';
import type { Book } from './book.ts';
import type { OddRows } from './odd-rows.ts';
import type { Overlap } from './overlap.ts';
import type { PlannedRead } from './plan.ts';
import { type Hold, resume } from './project-state.ts';
import { readNewest, readProjectWindow, readTotal, type WindowReading } from './reader.ts';
import type { Finished } from './reconcile.ts';

type ProjectReadingOptions = {
  readonly book: Book;
  readonly accept: (acceptance: Acceptance) => Promise<readonly Finished[]>;
  readonly overlap: Overlap;
  readonly catchUpLimitMs: number;
  readonly observe: Pick<ExecutionsObserver, 'skipped'>;
  readonly oddRows: OddRows;
  readonly tell?: ((message: string) => void) | undefined;
};

/** What one read of a project came to. */
export type ReadResult = {
  readonly counted: number;
  /** Rows that the server counts in the window, and how many of them it showed. */
  readonly total: number;
  readonly shown: number;
  /** Rows that the total counts and that were not shown. */
  readonly hidden: number;
  /** Whether the project itself may not be read. */
  readonly isDenied: boolean;
  /** Whether the total counts rows and not one of them was shown. */
  readonly isUnshown: boolean;
  readonly serverTimes: readonly number[];
};

export type ProjectReading = {
  /** Reads what was planned; a project that can not be read is held where it is. */
  readonly read: (api: Api, planned: PlannedRead, nowMs: number) => Promise<ReadResult>;
  /** Reads a past window once more. */
  readonly readAgain: (api: Api, project: string, window: Window, nowMs: number) => Promise<void>;
  readonly hold: (project: string, hold: Hold, nowMs: number) => Promise<void>;
};

type TakeIn = {
  readonly project: string;
  readonly seenAtMs: number;
  readonly lateBeforeMs: number;
  /** What becomes of the project once all up to a time is in, the whole window where none is said. */
  readonly advance?: (hasShown: boolean, throughMs?: number) => Acceptance['advance'];
};

type Taken = { readonly counted: readonly Finished[]; readonly shown: number };

/** Rows that are taken in at once, at least: while they are written nobody else has a turn. */
const batch = 500;

/** Reads the ends of one project within a window, takes them in, and says how far it has been read. */
export function createProjectReading(options: ProjectReadingOptions): ProjectReading {
  const { book, accept, overlap, catchUpLimitMs, observe, oddRows, tell } = options;

  /** Takes in parts as they come, each time with how far that brings it; what was read before a fault is not read again. */
  async function takeIn(reading: WindowReading, how: TakeIn): Promise<Taken> {
    const { project, seenAtMs, lateBeforeMs, advance = () => undefined } = how;
    const counted: Finished[] = [];
    const ids = new Set<number>();
    const shown = (): number => ids.size + reading.oddRows().length;
    let rows: Execution[] = [];
    const acceptRows = async (throughMs?: number): Promise<void> => {
      const step = advance(shown() > 0, throughMs);
      counted.push(
        ...(await accept({ project, rows, seenAtMs, lateBeforeMs, ...(step === undefined ? {} : { advance: step }) })),
      );
      rows = [];
    };
    try {
      for await (const part of reading.parts) {
        rows.push(...part);
        for (const { id } of part) ids.add(id);
        if (rows.length >= batch) await acceptRows(reading.readThroughMs());
      }
    } catch (error) {
      if (error instanceof ApiError && rows.length > 0) await acceptRows(reading.readThroughMs());
      throw error;
    } finally {
      oddRows.note(project, reading.oddRows());
    }
    await acceptRows();
    return { counted, shown: shown() };
  }

  async function hold(project: string, held: Hold, nowMs: number): Promise<void> {
    await book.update(async () => {
      const state = book.states.get(project);
      if (state === undefined || state.hold === held) return undefined;
      // What is kept of a project that is missing is kept from then on.
      const heldSinceMs = held === 'missing' ? nowMs : (state.heldSinceMs ?? nowMs);
      return { states: [{ ...state, hold: held, heldSinceMs }] };
    });
  }

  async function read(api: Api, { project, window, purpose }: PlannedRead, nowMs: number): Promise<ReadResult> {
    const before = book.states.get(project);
    if (before === undefined) return nothingRead;
    if (purpose === 'probe') {
      // Of what is not shown one page is enough to know, however much it has become.
      const { total, shown } = await readNewest(api, project, window);
      if (total > 0 && shown === 0) return { ...nothingRead, total, hidden: total, isUnshown: true };
    }
    const { state, skipped } = resume(before, nowMs, catchUpLimitMs);
    const skippedRuns = skipped === undefined ? 0 : await readTotal(api, project, skipped);
    const beginMs = Math.max(window.beginMs, state.countedFromMs);
    // What is skipped may reach beyond the whole window: then it is moved.
    const movedEndMs = Math.min(beginMs + window.endMs - window.beginMs, nowMs);
    const endMs = skipped === undefined ? window.endMs : Math.max(window.endMs, movedEndMs);
    const reading = readProjectWindow(api, project, { beginMs, endMs });
    const advance: TakeIn['advance'] = (hasShown, throughMs = endMs) => {
      // Rows that are counted and not shown may be shown once they are permitted: nothing of them has been read.
      if ((!hasShown && reading.total() > 0) || throughMs < beginMs) return undefined;
      return (latest) => {
        const { hold: _hold, heldSinceMs: _since, ...rest } = latest;
        return {
          ...rest,
          countedFromMs: Math.max(latest.countedFromMs, state.countedFromMs),
          rereadThroughMs: Math.max(latest.rereadThroughMs, state.rereadThroughMs),
          // A part may end where all had been read before; only the whole window rewinds.
          scannedThroughMs: throughMs < endMs ? Math.max(throughMs, latest.scannedThroughMs) : throughMs,
        };
      };
    };
    const fromMs = Math.min(before.scannedThroughMs, nowMs);
    const lateBeforeMs = purpose === 'rotation' ? fromMs - overlap.ms(nowMs) : Number.NEGATIVE_INFINITY;
    const { counted, shown } = await takeIn(reading, { project, seenAtMs: nowMs, lateBeforeMs, advance }).finally(
      () => {
        const isSkipped = (book.states.get(project)?.countedFromMs ?? 0) >= state.countedFromMs;
        if (skippedRuns === 0 || !isSkipped) return;
        observe.skipped(before.hold ?? 'outage', skippedRuns);
        tell?.(`${project}: ${skippedRuns} executions ended too long ago to be caught up with, and are skipped`);
      },
    );
    for (const { endedAtMs } of counted) overlap.noteLateness(fromMs - endedAtMs, nowMs);
    const total = reading.total();
    const hidden = Math.max(0, total - shown);
    const isUnshown = shown === 0 && total > 0;
    const serverTimes = reading.serverTimes();
    return { counted: counted.length, total, shown, hidden, isUnshown, isDenied: false, serverTimes };
  }

  return {
    read: async (api, planned, nowMs) => {
      try {
        return await read(api, planned, nowMs);
      } catch (error) {
        const held = toHold(error);
        if (held === undefined) throw error;
        await hold(planned.project, held, nowMs);
        return { ...nothingRead, isDenied: held === 'hidden' };
      }
    },
    readAgain: async (api, project, window, nowMs) => {
      await takeIn(readProjectWindow(api, project, window), {
        project,
        seenAtMs: nowMs,
        lateBeforeMs: Number.POSITIVE_INFINITY,
      });
    },
    hold,
  };
}

const nothingRead: ReadResult = {
  counted: 0,
  total: 0,
  shown: 0,
  hidden: 0,
  isUnshown: false,
  isDenied: false,
  serverTimes: [],
};

/** What an answer says of a project that can not be read; undefined where it says nothing of it. */
function toHold(error: unknown): Hold | undefined {
  if (!(error instanceof ApiError)) return undefined;
  const { kind, details } = error;
  if (kind === 'forbidden') return 'hidden';
  if (kind !== 'not_found' || details.isOfService !== true) return undefined;
  return details.errorCode === 'api.error.project.disabled' ? 'disabled' : 'missing';
}
