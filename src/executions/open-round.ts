import { createNewSeriesHold, type NewSeriesHold } from '../metrics/new-series.ts';
import { createCountExecutions } from './ledger/count-executions.ts';
import type { Failures } from './ledger/failures.ts';
import { type LedgerCache, openLedgerCache } from './ledger/ledger-cache.ts';
import { createRestoreGap, type RestoreGap } from './ledger/restore-gap.ts';
import { createFollowSkew, createRewind } from './ledger/rewind.ts';
import { beginNatives, createForgetMissing, rebucket, release } from './ledger/upkeep.ts';
import type { ExecutionsOptions } from './options.ts';
import type { Activities } from './reading/activities.ts';
import { createCatchUp } from './reading/catch-up.ts';
import { createJobLists, type JobLists } from './reading/job-lists.ts';
import type { OddRows } from './reading/odd-rows.ts';
import { createOverlap, type Overlap } from './reading/overlap.ts';
import { createProjectReading, type ProjectReading } from './reading/project-reading.ts';
import { createSkips } from './reading/skips.ts';
import { createRecount, type Recount } from './recount/recount.ts';
import { createSeriesFit, type SeriesFit } from './series/fit-series.ts';

export type OpenRound = {
  readonly cache: LedgerCache;
  readonly restoreGap: RestoreGap;
  readonly overlap: Overlap;
  readonly rewind: ReturnType<typeof createRewind>;
  readonly followSkew: ReturnType<typeof createFollowSkew>;
  readonly reading: ProjectReading;
  readonly readPast: ReturnType<typeof createCatchUp>;
  readonly countSkips: ReturnType<typeof createSkips>;
  readonly recount: Recount;
  /** The failed executions that are not yet counted by class. */
  readonly failures: Failures;
  readonly hold: NewSeriesHold;
  readonly release: (keys: readonly string[]) => Promise<void>;
  readonly room: SeriesFit;
  readonly jobLists: JobLists;
  readonly forgetMissing: (nowMs: number) => Promise<void>;
};

/** Builds the parts of a server's rounds that need its ledger. */
export async function openRound(
  options: ExecutionsOptions,
  activities: Activities,
  oddRows: OddRows,
  failures: Failures,
): Promise<OpenRound> {
  const { server, ledger, settings, observe, clock } = options;
  const cache = await openLedgerCache(ledger, server, { nowMs: clock.now(), failures });
  const { isWantedJob, buckets, catchUpLimitMs, backfillMs } = settings;
  const keepMs = Math.max(minKeptMs, catchUpLimitMs, backfillMs) + dayMs;
  const { reconcile } = options.substitutes ?? {};
  const room = createSeriesFit(cache, settings);
  const countExecutions = createCountExecutions({
    ...options,
    cache,
    rules: { buckets },
    isWantedJob,
    keepMs,
    ...(reconcile === undefined ? {} : { reconcile }),
  });
  const { leap, reachedMs } = cache.facts();
  const overlap = createOverlap(settings.overlapMs, { isPastUnknown: cache.states.size > 0, leap, reachedMs });
  const reading = createProjectReading({ cache, countExecutions, overlap, catchUpLimitMs, oddRows });
  const recount = createRecount({ ...options, cache, activities, reading, overlap });
  const restoreGap = createRestoreGap(cache, failures);
  await restoreGap.open(options.isRestored === true);
  // Before counting: the runs of a job that must give its slot back count for `__other__`.
  await room.fit();
  const changed = rebucket(cache.totals.cells.values(), cache.facts(), buckets);
  await cache.update(async () => beginNatives(changed, cache.facts(), clock.now()));
  if ((changed?.cells ?? []).length > 0)
    options.tell?.('duration histograms were reset because their bucket bounds changed');
  return {
    cache,
    restoreGap,
    forgetMissing: createForgetMissing({ server, cache, ledger, activities }),
    overlap,
    rewind: createRewind(cache),
    followSkew: createFollowSkew(cache),
    reading,
    readPast: createCatchUp({ cache, activities, reading }),
    countSkips: createSkips({ cache, observe, tell: options.tell }),
    recount,
    room,
    jobLists: createJobLists({ ...options, cache, ticks: clock.ticks }),
    failures,
    hold: createNewSeriesHold(settings.holdNewSeriesMs),
    release: (keys) => release(cache, keys, clock),
  };
}

const dayMs = 86_400_000;
const minKeptMs = 8 * dayMs;
