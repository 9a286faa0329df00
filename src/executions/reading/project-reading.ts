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
    /** Call after the clock was set back: rows that were read may be future-dated. */
    rewind: () => tools.aheadLeft.clear(),
    /** Reads the newest part of the planned window; the rest becomes backlog. May put the project on hold. */
    read: (api: Api, planned: PlannedRead, nowMs: number): Promise<ReadResult> =>
      orHold(tools, { api, project: planned.project, nowMs }, () => readNew(tools, api, planned, nowMs)),
    /** Reads a project's backlog for as long as `mayGoOn` allows. */
    readPast: (api: Api, project: string, nowMs: number, mayGoOn: () => boolean): Promise<ReadResult> =>
      orHold(tools, { api, project, nowMs }, () => readBacklog(tools, api, project, { nowMs, mayGoOn })),
    /** Reads a past window again, and returns the executions that were unknown. */
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
    /** The future windows that are still to be read; without an entry, the whole future. */
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
  // A clock that was set ahead does not make the outage longer. After a restore, all executions count again, at any age.
  const isRestored = isInRestoreGap(before, cache.facts());
  const limitMs = isRestored ? Number.POSITIVE_INFINITY : catchUpLimitMs + overlap.leaptMs(readThroughMs(before));
  const { countedFromMs } = resume(before, nowMs, limitMs);
  const dueMs = Math.max(sinceMs, countedFromMs);
  const window = { beginMs: Math.max(planned.window.beginMs, countedFromMs), endMs: planned.window.endMs };
  // The time between the last read and the window must be read too, perhaps later.
  const between = dueMs < window.beginMs ? [{ beginMs: dueMs, endMs: window.beginMs - 1 }] : [];
  const fromMs = Math.min(readThroughMs(before), nowMs);
  let pages = 0;
  let isCut = false;
  let ahead: readonly Window[] = [];
  const { counted, result } = await takeIn(api, {
    project,
    // Future-dated rows do not count as read, because the clock has not reached their time.
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
    // If no row was shown, reads a few more pages to look for one.
    mayGoOn: (rest, hasShown) => {
      isCut = rest.some(({ beginMs }) => beginMs < dueMs);
      ahead = rest.flatMap((each) => from(each, nowMs + 1));
      pages += 1;
      return !hasShown && pages < maxUnshownPages;
    },
  });
  // Executions in the backlog are not late.
  const known = before.backlog === undefined ? counted : [];
  for (const { endedAtMs } of known) overlap.noteLateness(fromMs - endedAtMs, nowMs);
  const isInSight = purpose === 'probe';
  // The backlog has no future-dated windows: if the newest page had new rows, the next windows may have some too.
  const left = counted.length > 0 ? undefined : tools.aheadLeft.get(project);
  const windows = left === undefined ? ahead : left.flatMap((each) => from(each, nowMs + 1));
  const more = await readAhead(tools, api, { project, windows, nowMs });
  return { ...result, counted: result.counted + more, isCut, isInSight };
}

/**
 * Reads more future-dated rows, up to the page limit of a project, and keeps the rest for later. Returns how many were counted.
 */
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

/** Returns the number of rows to read if the server shows none of them; otherwise 0. */
async function countUnshown(
  api: Api,
  { project, backlog: [oldest] = [] }: ProjectState,
  { sinceMs, nowMs }: { sinceMs: number; nowMs: number },
): Promise<number> {
  // One page is enough, even for a long window.
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
    // The project is read again in its turn, and may show rows by then.
    if (result.isUnshown && !shownLately.has(project)) return sum;
  }
  return sum;
}

/** Puts a project on hold when a request for it is denied. */
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

/** Releases before 3.3.5 fail if a project is missing; their lists of jobs do not. */
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
    // The facts of a missing project are kept for a time that begins now.
    const heldSinceMs = held === 'missing' ? nowMs : (state.heldSinceMs ?? nowMs);
    return { states: [{ ...state, hold: held, heldSinceMs }] };
  });
}

/** Backlog pages of one project before the next project's turn. */
const maxPagesAtOnce = 20;
/** Pages to read if the first page shows no row. */
const maxUnshownPages = 5;

/** Returns the hold for an error; undefined if the error is not about the project. */
export function toHold(error: unknown): Hold | undefined {
  if (!(error instanceof ApiError)) return undefined;
  const { kind, details } = error;
  if (kind === 'forbidden' || isUnaskable(error)) return 'hidden';
  if (kind !== 'not_found' || details.isOfService !== true) return undefined;
  return details.errorCode === 'api.error.project.disabled' ? 'disabled' : 'missing';
}
