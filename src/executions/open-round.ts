import { rebucket } from './counting/rebucket.ts';
import { createAccept } from './ledger/count-executions.ts';
import { createForgetting } from './ledger/forget-missing.ts';
import { type Book, openBook } from './ledger/ledger-cache.ts';
import { createGap, type Gap } from './ledger/restore-gap.ts';
import type { ExecutionsOptions } from './options.ts';
import type { Activities } from './reading/activities.ts';
import { createPast } from './reading/catch-up.ts';
import { createJobLists, type JobLists } from './reading/job-lists.ts';
import type { OddRows } from './reading/odd-rows.ts';
import { createOverlap, type Overlap } from './reading/overlap.ts';
import { createProjectReading, type ProjectReading } from './reading/project-reading.ts';
import { createSecondLook, type SecondLook } from './reading/recount.ts';
import { createSkips } from './reading/skips.ts';
import { createSeriesRoom, type SeriesRoom } from './series/fit-series.ts';
import { createRelease, type Release } from './series/hold-new-series.ts';

export type Parts = {
  readonly book: Book;
  readonly gap: Gap;
  readonly overlap: Overlap;
  readonly reading: ProjectReading;
  /** Reads on in what is behind. */
  readonly readPast: ReturnType<typeof createPast>;
  readonly countSkips: ReturnType<typeof createSkips>;
  readonly secondLook: SecondLook;
  readonly release: Release;
  readonly room: SeriesRoom;
  readonly jobLists: JobLists;
  readonly forgetOld: (nowMs: number) => Promise<void>;
};

/** What the rounds of a server are made of, around what is kept of it. */
export async function openParts(options: ExecutionsOptions, activities: Activities, oddRows: OddRows): Promise<Parts> {
  const { server, ledger, settings, observe, clock } = options;
  const book = await openBook(ledger, server);
  const { isWantedJob, buckets, catchUpLimitMs, backfillMs } = settings;
  const keepMs = Math.max(leastKeptMs, catchUpLimitMs, backfillMs) + dayMs;
  const reconcilePart = options.parts?.reconcile === undefined ? {} : { reconcile: options.parts.reconcile };
  const room = createSeriesRoom(book, settings);
  const accept = createAccept({ ...options, book, rules: { buckets }, isWantedJob, keepMs, ...reconcilePart });
  const overlap = createOverlap(settings.overlapMs);
  const reading = createProjectReading({ book, accept, overlap, catchUpLimitMs, oddRows });
  const secondLook = createSecondLook({ ...options, book, activities, reading, overlap });
  const gap = createGap(book);
  await gap.open(options.isRestored === true);
  // Before anything is counted: a run of a job that has to give its place back belongs to the others.
  await room.fit();
  const changed = rebucket(book.totals.cells.values(), book.facts(), buckets);
  await book.update(async () => changed);
  if ((changed?.cells ?? []).length > 0) options.tell?.('buckets of durations begin anew: their bounds have changed');
  return {
    book,
    gap,
    forgetOld: createForgetting({ server, book, ledger, activities }),
    overlap,
    reading,
    readPast: createPast({ book, activities, reading }),
    countSkips: createSkips({ book, observe, tell: options.tell }),
    secondLook,
    room,
    jobLists: createJobLists({ book, settings, ticks: clock.ticks }),
    release: createRelease(book, settings.holdNewSeriesMs, clock),
  };
}

const dayMs = 86_400_000;
const leastKeptMs = 8 * dayMs;
