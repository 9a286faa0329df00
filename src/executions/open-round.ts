import type { Api } from '../api/client.ts';
import { ApiError } from '../api/errors.ts';
import { runLimited } from '../domain/pause.ts';
import { createNewSeriesHold } from '../metrics/new-series.ts';
import { createCountExecutions, type ExecutionsObserver } from './ledger/count-executions.ts';
import type { Failures } from './ledger/failures.ts';
import { type LedgerCache, openLedgerCache } from './ledger/ledger-cache.ts';
import { type ProjectState, type Skip, toNextWindow } from './ledger/project-state.ts';
import { createRestoreGap } from './ledger/restore-gap.ts';
import { createFollowSkew, createRewind } from './ledger/rewind.ts';
import { beginNatives, createForgetMissing, rebucket, release } from './ledger/upkeep.ts';
import type { ExecutionsOptions } from './options.ts';
import type { Activities } from './reading/activities.ts';
import { createJobLists } from './reading/job-lists.ts';
import { createOverlap } from './reading/overlap.ts';
import { planExcluded } from './reading/plan-projects.ts';
import { isCaughtUpWith } from './reading/plan-reads.ts';
import { createProjectReading, type ProjectReading } from './reading/project-reading.ts';
import type { RoundFaults } from './reading/round-faults.ts';
import { createServerClock } from './reading/server-clock.ts';
import type { ReadResult } from './reading/take-in.ts';
import { type OddRows, readTotal } from './reading/window-reader.ts';
import { createRecount } from './recount/recount.ts';
import { createSeriesFit } from './series/fit-series.ts';

export type OpenRound = Awaited<ReturnType<typeof openRound>>;

/** Creates the parts of rounds that need the ledger of the server. */
export async function openRound(
  options: ExecutionsOptions,
  activities: Activities,
  oddRows: OddRows,
  failures: Failures,
) {
  const { server, ledger, settings, observe, clock } = options;
  const cache = await openLedgerCache(ledger, server, { nowMs: clock.now(), failures });
  const { isWantedProject: isWanted, isWantedJob, buckets, catchUpLimitMs, backfillMs } = settings;
  const keepMs = Math.max(minKeptMs, catchUpLimitMs, backfillMs) + dayMs;
  const room = createSeriesFit(cache, settings);
  const countExecutions = createCountExecutions({ ...options, cache, rules: { buckets }, isWantedJob, keepMs });
  const { reachedMs } = cache.facts();
  const overlap = createOverlap(settings.overlapMs, { isPastUnknown: cache.states.size > 0, reachedMs });
  const reading = createProjectReading({ cache, countExecutions, overlap, catchUpLimitMs, oddRows });
  const recount = createRecount({ ...options, cache, activities, reading, overlap });
  const restoreGap = createRestoreGap(cache, failures);
  await restoreGap.open(options.isRestored === true);
  // Excluded projects are put on hold before the first round. A reload may include excluded projects again before the
  // first response of the server.
  const nowMs = Math.floor(clock.now() + (cache.facts().skewMs ?? 0));
  await cache.update(async () => planExcluded({ states: cache.states, facts: cache.facts(), nowMs, isWanted }));
  // The slots must be planned before counting, because runs of a job without a slot count for `__other__`.
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
    serverClock: createServerClock(clock, cache.facts()),
    reading,
    readPast: createCatchUp({ cache, activities, reading }),
    countSkips: createSkips({ cache, observe, tell: options.tell }),
    recount,
    room,
    jobLists: createJobLists({ ...options, cache, ticks: clock.ticks }),
    /** Failed executions that are not counted by class yet. */
    failures,
    hold: createNewSeriesHold(settings.holdNewSeriesMs),
    release: (keys: readonly string[]) => release(cache, keys, clock),
  };
}

const dayMs = 86_400_000;
const minKeptMs = 8 * dayMs;

type PastOptions = {
  readonly cache: Pick<LedgerCache, 'states'>;
  readonly activities: Activities;
  readonly reading: Pick<ProjectReading, 'readPast'>;
};

type PastRound = {
  readonly api: () => Api;
  readonly nowMs: number;
  readonly mayGoOn: () => boolean;
  readonly attempt: RoundFaults['attempt'];
  readonly noteRead: (project: string, read: ReadResult) => void;
};

/** Reads backlogs a few pages at a time. The project that waited longest comes first, with its oldest window. */
export function createCatchUp({ cache, activities, reading }: PastOptions): (round: PastRound) => Promise<void> {
  /** For each project, the sequence number of its last backlog read. */
  const served = new Map<string, number>();
  let reads = 0;

  function toLine(nowMs: number): string[] {
    const behind = [...cache.states.values()].filter((state) =>
      isCaughtUpWith(state, { activities: activities.all, nowMs }),
    );
    for (const project of served.keys()) if (cache.states.get(project)?.backlog === undefined) served.delete(project);
    const servedAt = (project: string): number => served.get(project) ?? 0;
    return behind
      .toSorted((one, other) => servedAt(one.project) - servedAt(other.project) || toBegin(one) - toBegin(other))
      .map(({ project }) => project);
  }

  return async ({ api, nowMs, mayGoOn, attempt, noteRead }) => {
    const line = toLine(nowMs);
    await runLimited(Array.from({ length: width }), width, async () => {
      for (let project = line.shift(); project !== undefined && mayGoOn(); project = line.shift()) {
        const name = project;
        const before = cache.states.get(name);
        reads += 1;
        served.set(name, reads);
        await attempt(async () => noteRead(name, await reading.readPast(api(), name, nowMs, mayGoOn)));
        const after = cache.states.get(name);
        // A project without progress is not read again in the same round.
        if (after?.backlog !== undefined && after.backlog !== before?.backlog) line.push(name);
      }
    });
  };
}

function toBegin(state: Parameters<typeof toNextWindow>[0]): number {
  return toNextWindow(state)?.beginMs ?? 0;
}

/** The number of projects whose backlogs are read concurrently. */
const width = 3;

type SkipsOptions = {
  readonly cache: Pick<LedgerCache, 'states' | 'update'>;
  readonly observe: Pick<ExecutionsObserver, 'skipped'>;
  readonly tell?: ((message: string) => void) | undefined;
};

/** Counts skipped executions in small steps at the end of each round, so that the count never delays new executions. */
export function createSkips({ cache, observe, tell }: SkipsOptions) {
  const inVain = new Map<string, number>();

  async function note(project: string, skip: Skip, throughMs: number, runs: number | undefined): Promise<void> {
    let told: Skip | undefined;
    await cache.update(async () => {
      const state = cache.states.get(project);
      const [first, ...others] = state?.skips ?? [];
      if (state === undefined || first?.beginMs !== skip.beginMs) return undefined;
      told = {
        ...first,
        runs: (first.runs ?? 0) + (runs ?? 0),
        isUnknown: first.isUnknown === true || runs === undefined,
      };
      const rest = throughMs < first.endMs ? [{ ...told, beginMs: throughMs + 1 }] : [];
      return { states: [withSkips(state, [...rest, ...others])] };
    });
    if (told === undefined) return;
    inVain.delete(project);
    if (runs !== undefined && runs > 0) observe.skipped(skip.reason, runs);
    if (throughMs >= skip.endMs) say(project, told);
  }

  function say(project: string, { runs = 0, isUnknown = false, endMs }: Skip): void {
    if (isUnknown) {
      const until = new Date(endMs + 1).toISOString();
      tell?.(
        `${project}: executions that ended before ${until} were skipped; the server reported only ${runs} of them`,
      );
    } else if (runs > 0) {
      tell?.(`${project}: ${runs} executions were skipped because they ended before the catch-up limit`);
    }
  }

  async function countNext(api: Api, { project, skips: [skip] = [] }: ProjectState): Promise<void> {
    if (skip === undefined) return;
    const { beginMs, endMs } = skip;
    const throughMs = Math.min(endMs, beginMs + weekMs - 1);
    try {
      await note(project, skip, throughMs, await readTotal(api, project, { beginMs, endMs: throughMs }));
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      // The next round retries a request that was not sent.
      if (error.details.unsent === true || error.kind === 'unauthorized') throw error;
      const tries = (inVain.get(project) ?? 0) + 1;
      inVain.set(project, tries);
      if (tries >= maxTries) await note(project, skip, throughMs, undefined);
    }
  }

  return async (api: () => Api, mayGoOn: () => boolean): Promise<void> => {
    for (const { project } of cache.states.values()) {
      for (let asked = 0; asked < maxAtOnce && mayGoOn(); asked += 1) {
        const state = cache.states.get(project);
        if (state?.skips === undefined) break;
        await countNext(api(), state);
      }
    }
  };
}

function withSkips({ skips: _skips, ...state }: ProjectState, skips: readonly Skip[]): ProjectState {
  return skips.length === 0 ? state : { ...state, skips };
}

const weekMs = 7 * 86_400_000;
const maxAtOnce = 5;
const maxTries = 3;
