import { createAccept } from './accept.ts';
import type { Activities } from './activities.ts';
import { type Book, openBook } from './book.ts';
import { createForgetting } from './forgetting.ts';
import { createGap, type Gap } from './gap.ts';
import { createJobLists, type JobLists } from './job-lists.ts';
import type { OddRows } from './odd-rows.ts';
import type { ExecutionsOptions } from './options.ts';
import { createOverlap, type Overlap } from './overlap.ts';
import { createPast } from './past.ts';
import { createProjectReading, type ProjectReading } from './project-reading.ts';
import { rebucket } from './rebucket.ts';
import { createRelease, type Release } from './release.ts';
import { createSecondLook, type SecondLook } from './second-look.ts';
import { createSeriesRoom, type SeriesRoom } from './series-room.ts';
import { createSkips } from './skips.ts';

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
