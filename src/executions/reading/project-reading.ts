import type { Api } from '../../api/client.ts';
import { projectJobs } from '../../api/endpoints/jobs.ts';
import { ApiError, isUnaskable } from '../../api/errors.ts';
import type { Window } from '../../api/paging.ts';
import type { Finished } from '../../domain/execution.ts';
import type { CountRequest } from '../ledger/count-executions.ts';
import type { LedgerCache } from '../ledger/ledger-cache.ts';
import {
  from,
  type Hold,
  type ProjectState,
  readThroughMs,
  resume,
  toNextWindow,
  withNewestRead,
  withNewestReadBehind,
  withPastRead,
} from '../ledger/project-state.ts';
import { isInRestoreGap } from '../ledger/restore-gap.ts';
import type { Overlap } from './overlap.ts';
import type { PlannedRead } from './plan-reads.ts';
import { addResults, createTakeIn, nothingRead, type ReadResult } from './take-in.ts';
import { type OddRows, readNewest } from './window-reader.ts';

type ProjectReadingOptions = {
  readonly cache: LedgerCache;
  readonly countExecutions: (acceptance: CountRequest) => Promise<readonly Finished[]>;
  readonly overlap: Overlap;
  readonly catchUpLimitMs: number;
  readonly oddRows: OddRows;
};

export type ProjectReading = ReturnType<typeof createProjectReading>;

/** Reads finished executions of one project within a window into the ledger, and records the progress. */
export function createProjectReading(options: ProjectReadingOptions) {
  const tools: Tools = { ...options, ...createTakeIn(options), aheadLeft: new Map() };
  return {
    /** Call after the clock was set back, because future-dated windows must be read again. */
    rewind: () => tools.aheadLeft.clear(),
    /** Reads the newest part of the planned window; the rest becomes backlog. Puts the project on hold if it cannot be read. */
    read: (api: Api, planned: PlannedRead, nowMs: number): Promise<ReadResult> =>
      orHold(tools, { api, project: planned.project, nowMs }, () => readNew(tools, api, planned, nowMs)),
    /** Reads a project's backlog until `mayGoOn` returns false. */
    readPast: (api: Api, project: string, nowMs: number, mayGoOn: () => boolean): Promise<ReadResult> =>
      orHold(tools, { api, project, nowMs }, () => readBacklog(tools, api, project, { nowMs, mayGoOn })),
    /** Reads a past window again. Returns the executions that were not known. */
    readAgain: async (api: Api, project: string, window: Window, nowMs: number): Promise<readonly Finished[]> => {
      const lateBeforeMs = Number.POSITIVE_INFINITY;
      const { counted } = await tools.takeIn(api, {
        project,
        window,
        seenAtMs: nowMs,
        lateBeforeMs,
        mayGoOn: () => true,
      });
      return counted;
    },
    hold: (project: string, held: Hold, nowMs: number): Promise<void> => putOnHold(tools, project, held, nowMs),
  };
}

type Tools = ProjectReadingOptions &
  ReturnType<typeof createTakeIn> & {
    /** For each project, the future windows that are unread. Without an entry, the whole future is unread. */
    readonly aheadLeft: Map<string, readonly Window[]>;
  };

async function readNew(tools: Tools, api: Api, planned: PlannedRead, nowMs: number): Promise<ReadResult> {
  const { cache, overlap, catchUpLimitMs, takeIn, shownLately } = tools;
  const { project, sinceMs, purpose } = planned;
  const before = cache.states.get(project);
  if (before === undefined) return nothingRead;
  const unshown = purpose === 'probe' ? await countUnshown(api, before, { sinceMs, nowMs }) : 0;
  if (unshown > 0) return { ...nothingRead, total: unshown, hidden: unshown, isUnshown: true };
  if (purpose === 'probe') shownLately.add(project);
  // The time that the clock skipped when it was set ahead does not count as outage. After a restore, executions of any age
  // count again.
  const isRestored = isInRestoreGap(before, cache.facts());
  const limitMs = isRestored ? Number.POSITIVE_INFINITY : catchUpLimitMs + overlap.leaptMs(readThroughMs(before));
  const { countedFromMs } = resume(before, nowMs, limitMs);
  const dueMs = Math.max(sinceMs, countedFromMs);
  const window = { beginMs: Math.max(planned.window.beginMs, countedFromMs), endMs: planned.window.endMs };
  // The time between the last read and the window becomes backlog.
  const between = dueMs < window.beginMs ? [{ beginMs: dueMs, endMs: window.beginMs - 1 }] : [];
  const fromMs = Math.min(readThroughMs(before), nowMs);
  let pages = 0;
  let isCut = false;
  let ahead: readonly Window[] = [];
  const { counted, result } = await takeIn(api, {
    project,
    // Future-dated rows do not count as read, because the clock has not reached their dates.
    window: { ...window, endMs: Math.max(window.endMs, overlap.untilMs(nowMs)) },
    seenAtMs: nowMs,
    lateBeforeMs: purpose === 'rotation' ? fromMs - overlap.ms(nowMs) : Number.NEGATIVE_INFINITY,
    advance: (state, rest) => {
      const latest = resume(state, nowMs, limitMs);
      const due = [...between, ...rest.flatMap((each) => from(each, dueMs))];
      if (before.backlog === undefined) return withNewestRead(latest, window, due);
      const newFromMs = Math.max(dueMs, fromMs + 1);
      return withNewestReadBehind(latest, window, { rest: due, sinceMs: dueMs, newFromMs });
    },
    // If no row is shown, a few more pages are read to look for a row.
    mayGoOn: (rest, hasShown) => {
      isCut = rest.some(({ beginMs }) => beginMs < dueMs);
      ahead = rest.flatMap((each) => from(each, nowMs + 1));
      pages += 1;
      return !hasShown && pages < maxUnshownPages;
    },
  });
  // Executions of the backlog do not count as late.
  const known = before.backlog === undefined ? counted : [];
  for (const { endedAtMs } of known) overlap.noteLateness(fromMs - endedAtMs, nowMs);
  const isInSight = purpose === 'probe';
  // Future windows are never backlog. If the newest page had new rows, other future windows may have new rows too.
  const left = counted.length > 0 ? undefined : tools.aheadLeft.get(project);
  const windows = left === undefined ? ahead : left.flatMap((each) => from(each, nowMs + 1));
  const more = await readAhead(tools, api, { project, windows, nowMs });
  return { ...result, counted: result.counted + more, isCut, isInSight };
}

/** Reads more future-dated rows, up to the page limit. Stores which windows are left. Returns the number of counted runs. */
async function readAhead(
  { takeIn, aheadLeft }: Tools,
  api: Api,
  { project, windows, nowMs }: { project: string; windows: readonly Window[]; nowMs: number },
): Promise<number> {
  let sum = 0;
  let pages = 0;
  aheadLeft.set(project, windows);
  for (const [index, window] of windows.entries()) {
    if (pages >= maxPagesAtOnce) return sum;
    const { counted } = await takeIn(api, {
      project,
      window,
      seenAtMs: nowMs,
      lateBeforeMs: Number.NEGATIVE_INFINITY,
      mayGoOn: (rest) => {
        pages += 1;
        aheadLeft.set(project, [...rest, ...windows.slice(index + 1)]);
        return pages < maxPagesAtOnce;
      },
    });
    sum += counted.length;
  }
  return sum;
}

/** Returns the number of rows in unread windows if all of them are hidden; otherwise 0. */
async function countUnshown(
  api: Api,
  { project, backlog: [oldest] = [] }: ProjectState,
  { sinceMs, nowMs }: { sinceMs: number; nowMs: number },
): Promise<number> {
  // One page is enough for a window of any length.
  const beginMs = Math.min(sinceMs, oldest?.beginMs ?? sinceMs);
  const { total, shown } = await readNewest(api, project, { beginMs, endMs: nowMs });
  return shown === 0 ? total : 0;
}

async function readBacklog(
  { cache, takeIn, shownLately }: Tools,
  api: Api,
  project: string,
  { nowMs, mayGoOn }: { nowMs: number; mayGoOn: () => boolean },
): Promise<ReadResult> {
  let sum = nothingRead;
  let pages = 0;
  while (pages < maxPagesAtOnce) {
    const state = cache.states.get(project);
    const window = state && toNextWindow(state);
    if (window === undefined || state?.hold !== undefined || !mayGoOn()) return sum;
    let taken = 0;
    const { result } = await takeIn(api, {
      project,
      window,
      seenAtMs: nowMs,
      lateBeforeMs: Number.NEGATIVE_INFINITY,
      advance: (latest, rest) => withPastRead(latest, window, rest),
      hasShown: shownLately.has(project),
      mayGoOn: (_rest, hasShown) => {
        taken += 1;
        const most = hasShown || shownLately.has(project) ? maxPagesAtOnce : maxUnshownPages;
        return pages + taken < most && mayGoOn();
      },
    });
    pages += taken;
    sum = addResults(sum, result);
    // The next regular read of the project may show rows.
    if (result.isUnshown && !shownLately.has(project)) return sum;
  }
  return sum;
}

/** Puts the project on hold if a request for it is denied. */
async function orHold(
  tools: Pick<Tools, 'cache'>,
  { api, project, nowMs }: { api: Api; project: string; nowMs: number },
  work: () => Promise<ReadResult>,
): Promise<ReadResult> {
  try {
    return await work();
  } catch (error) {
    const isUnlisted = tools.cache.states.get(project)?.hold !== undefined;
    const held = toHold(error) ?? (isUnlisted ? await findMissing(api, project, error) : undefined);
    if (held === undefined) throw error;
    await putOnHold(tools, project, held, nowMs);
    return { ...nothingRead, isDenied: held === 'hidden' };
  }
}

/** Releases before 3.3.5 return an error if a project is missing. A request for the jobs shows whether the project is missing. */
async function findMissing(api: Api, project: string, error: unknown): Promise<Hold | undefined> {
  if (!(error instanceof ApiError) || error.details.status !== 500) return undefined;
  const listing = api.get(projectJobs, { path: { project } });
  const held = await listing.then(() => undefined, toHold);
  return held === 'missing' ? held : undefined;
}

async function putOnHold({ cache }: Pick<Tools, 'cache'>, project: string, held: Hold, nowMs: number): Promise<void> {
  await cache.update(async () => {
    const state = cache.states.get(project);
    if (state === undefined || state.hold === held) return undefined;
    // From now on, facts of the missing project are kept for a limited time.
    const heldSinceMs = held === 'missing' ? nowMs : (state.heldSinceMs ?? nowMs);
    return { states: [{ ...state, hold: held, heldSinceMs }] };
  });
}

/** The maximum number of backlog pages of a project in one turn. */
const maxPagesAtOnce = 20;
/** The number of pages to read if the first page shows no row. */
const maxUnshownPages = 5;

/** Returns the hold that an error causes; undefined if the error does not concern the project. */
export function toHold(error: unknown): Hold | undefined {
  if (!(error instanceof ApiError)) return undefined;
  const { kind, details } = error;
  if (kind === 'forbidden' || isUnaskable(error)) return 'hidden';
  if (kind !== 'not_found' || details.isOfService !== true) return undefined;
  return details.errorCode === 'api.error.project.disabled' ? 'disabled' : 'missing';
}
