import type { Api } from '../api/client.ts';
import { ApiError } from '../api/errors.ts';
import type { Window } from '../api/paging.ts';
import { runLimited } from '../domain/pause.ts';
import { noteOneTimeRuns } from './ledger/count-executions.ts';
import type { ProjectState } from './ledger/project-state.ts';
import { noteSlowClocks } from './ledger/upkeep.ts';
import type { OpenRound } from './open-round.ts';
import type { ExecutionsOptions } from './options.ts';
import type { Activities } from './reading/activities.ts';
import type { createActivityHint } from './reading/activity-hint.ts';
import type { Narrowing } from './reading/narrowing.ts';
import { type PlanInput, type PlannedRead, planReads, planSearch } from './reading/plan-reads.ts';
import { type createReadNotes, toActiveMs } from './reading/read-notes.ts';
import type { RoundFaults } from './reading/round-faults.ts';
import type { createRunningReader, Running } from './reading/running-reader.ts';
import type { ServerTime } from './reading/server-clock.ts';
import type { Visibility } from './reading/visibility.ts';
import type { WatchedProjects } from './reading/watched-projects.ts';
import type { OddRows } from './reading/window-reader.ts';
import type { Showing } from './series/show.ts';

export type RoundTools = {
  readonly options: ExecutionsOptions;
  readonly projectList: WatchedProjects;
  readonly activities: Activities;
  readonly activityHint: ReturnType<typeof createActivityHint>;
  readonly narrowing: Narrowing;
  readonly oddRows: OddRows;
  readonly visibility: Visibility;
  readonly readRunning: ReturnType<typeof createRunningReader>;
  readonly notes: ReturnType<typeof createReadNotes>;
  readonly showing: Showing;
};

/** The server state at the time of a round. */
export type RoundNow = {
  readonly running: Running['executions'];
  readonly readTicks: Running['readTicks'];
  readonly nowMs: number;
  readonly isDoubtful: boolean;
  readonly sinceTicks: number;
};

type Round = RoundTools & {
  readonly found: OpenRound;
  readonly faults: RoundFaults;
  readonly signal: AbortSignal;
  readonly startedTicks: number;
};

/** Runs a round: reads running executions, server time, finished executions and backlogs. Publishes even after an error. */
export async function playRound(tools: RoundTools, of: Omit<Round, keyof RoundTools>, onNow: (now: RoundNow) => void) {
  const round: Round = { ...tools, ...of };
  const { signal, showing, projectList, visibility, found } = round;
  const running = await readRunningOnce(round);
  const time = found.serverClock.now(running.serverMs);
  // The server time and the running executions may come from members with different clocks.
  found.overlap.noteClocks([time.nowMs, running.serverMs ?? time.nowMs], time.nowMs);
  const sinceTicks = tools.options.clock.ticks();
  const { nowMs, doubtedMs } = time;
  const isDoubtful = doubtedMs !== undefined;
  const now = { running: running.executions, readTicks: running.readTicks, nowMs, isDoubtful, sinceTicks };
  onNow(now);
  visibility.noteRunning(running);
  try {
    await followClock(round, time);
    await readEnds(round, now);
    await readBack(round, now.nowMs);
  } finally {
    if (!signal.aborted) await showing.show(found, { ...now, names: projectList.names() });
  }
  // The round does not wait for a slow list of jobs. The next round publishes changes of the list.
  const { clock, everyMs } = tools.options;
  const untilTicks = clock.ticks() + timeForLists * everyMs;
  const mayGoOn = (): boolean => !signal.aborted && clock.ticks() < untilTicks;
  await found.jobLists.look(() => within(round), now.nowMs, mayGoOn);
}

async function readRunningOnce(round: Round): Promise<Running> {
  const { faults, readRunning, projectList, found } = round;
  let running: Running = { executions: undefined, serverMs: undefined };
  await faults.ask(async () => {
    running = await readRunning((lane) => within(round, lane), projectList.names());
  });
  if (found.serverClock.isOld(running.serverMs)) await faults.ask(() => found.serverClock.ask(within(round, 'vital')));
  return running;
}

/** Rewinds if the server clock was set back. Reads further back if the clock was set ahead. */
async function followClock({ found, activities, activityHint, options }: Round, time: ServerTime): Promise<void> {
  if (time.wasUnseen) found.overlap.noteUnseen();
  // A change of the clock is recorded in memory before it is stored, because storing may fail.
  const latestMs = time.reachedMs ?? time.doubtedMs;
  if (latestMs !== undefined) found.overlap.noteReached(latestMs);
  const ownMs = options.clock.now();
  const { leap, wasBehindMs, keep } = found.followSkew({ ...time, ownMs });
  const reachedMs = (await found.rewind({ ...time, ownMs })) ?? time.reachedMs;
  if (reachedMs !== undefined) {
    activities.rewind(time.nowMs);
    activityHint.rewind();
    found.reading.rewind();
    found.overlap.noteReached(reachedMs);
  }
  found.overlap.noteLeap(leap);
  // Slow clocks are recorded first. With unknown slow clocks, executions would look like imports.
  const serverTimes = [time.doubtedMs ?? time.nowMs - wasBehindMs];
  await noteSlowClocks(found.cache, { serverTimes, nowMs: time.nowMs, ownMs });
  await keep(found.overlap.reachedMs(time.nowMs));
}

/** Reads executions that finished recently, in all projects that are due. */
async function readEnds(round: Round, { running = [], nowMs, isDoubtful }: RoundNow) {
  const { found, faults, activities, projectList, options } = round;
  const { cache, overlap, restoreGap } = found;
  const api = (): Api => within(round);
  const before = new Set(projectList.names());
  await faults.attempt(() => projectList.refresh({ cache, overlap, api, nowMs, isDoubtful, running }));
  // A project that is listed again is read in this round, even if it was missing for long.
  for (const project of projectList.names()) {
    if (!before.has(project) && cache.states.get(project)?.hold !== undefined)
      activities.note(project, { readAtMs: 0 }, nowMs);
  }
  await restoreGap.begin(nowMs);
  await noteOneTimeRuns(cache, running);
  await noteSlowClocks(cache, { running, nowMs });
  for (const { project = '', endedAtMs } of running) {
    if (endedAtMs !== undefined || !cache.states.has(project)) continue;
    activities.note(project, { activeUntilMs: nowMs + toActiveMs(options.settings) }, nowMs);
  }
  const plan = toPlanInput(round, nowMs);
  const read = (each: PlannedRead): Promise<void> => faults.ask(() => readOne(round, each, nowMs));
  await runLimited(planReads(plan), toWidth(options), read);
  await faults.attempt(() => checkHint(round, nowMs));
  await searchProjects(round, plan, read);
  await found.forgetMissing(nowMs);
  await found.jobLists.forgetMissing(nowMs);
}

function toPlanInput({ found, options, activities }: Round, nowMs: number): PlanInput {
  const { cache, overlap, restoreGap } = found;
  const { everyMs, requestsPerSecond, settings } = options;
  return {
    states: cache.states,
    activities: activities.all,
    nowMs,
    everyMs,
    overlapMs: overlap.ms(nowMs),
    leap: overlap.leap(),
    maxDelayMs: settings.maxDelayMs,
    sweepBeforeMs: restoreGap.untilMs(),
    sweepQuota: Math.ceil((requestsPerSecond * everyMs) / 2000),
    searchQuota: Math.ceil((timeForSearch * requestsPerSecond * everyMs) / 1000),
  };
}

/** Reads idle projects while the server counts more executions than are known. */
async function searchProjects(round: Round, plan: PlanInput, read: (each: PlannedRead) => Promise<void>) {
  const { activityHint, options, signal, startedTicks } = round;
  const sinceMs = activityHint.searchedSinceMs();
  if (sinceMs === undefined) return;
  const { clock, everyMs } = options;
  const untilTicks = Math.max(startedTicks + timeForSearch * everyMs, clock.ticks() + minForSearch * everyMs);
  const mayGoOn = (): boolean =>
    !signal.aborted && clock.ticks() < untilTicks && activityHint.searchedSinceMs() !== undefined;
  const readAll = (reads: readonly PlannedRead[]): Promise<void> =>
    runLimited(reads, toWidth(options), async (each) => {
      if (mayGoOn()) await read(each);
    });
  await round.faults.attempt(() => readSuspects(round, plan, { readAll, mayGoOn }));
  await readAll(planSearch(plan, sinceMs));
}

/** Reads first the projects whose job totals show a missing execution. */
async function readSuspects(
  round: Round,
  plan: PlanInput,
  { readAll, mayGoOn }: { readAll: (reads: readonly PlannedRead[]) => Promise<void>; mayGoOn: () => boolean },
): Promise<void> {
  const { found, activityHint, narrowing, options } = round;
  if (!activityHint.isQuick()) return;
  const { nowMs, overlapMs } = plan;
  // A window that was read in the round has no missing execution.
  const reads = planSearch({ ...plan, searchQuota: Number.POSITIVE_INFINITY }, nowMs);
  const missing = activityHint.missing();
  const suspects = await narrowing.find(within(round), {
    candidates: reads.map(({ project }) => ({ project, jobIds: found.jobLists.idsOf(project) })),
    missing,
    // The window is short, because known executions of deleted jobs would hide missing executions in a longer window.
    window: toHintWindow(found, nowMs, 2 * overlapMs),
    nowMs,
    countKnown: (projects, window) => options.ledger.countEnds(options.server, { projects: [...projects], ...window }),
    mayGoOn,
  });
  await readAll(reads.filter(({ project }) => suspects.includes(project)));
  if (suspects.length > 0 && mayGoOn() && activityHint.missing() === missing) narrowing.noteVain(nowMs);
}

async function readOne(round: Round, planned: PlannedRead, nowMs: number): Promise<void> {
  const { found, activities, notes } = round;
  const { project } = planned;
  const { readAtMs = 0 } = activities.all.get(project) ?? {};
  activities.note(project, { readAtMs: nowMs }, nowMs);
  const read = await found.reading.read(within(round), planned, nowMs).catch((error: unknown) => {
    // A project is due in the next round if its request was not sent.
    if (error instanceof ApiError && error.details.isOwnLimit === true) activities.note(project, { readAtMs }, nowMs);
    throw error;
  });
  const isGone = notes.noteNewest(planned, read, found.cache.states.get(project), nowMs);
  if (isGone) await found.reading.hold(project, 'hidden', nowMs);
  found.overlap.noteClocks([nowMs, ...read.serverTimes], nowMs);
}

async function checkHint(round: Round, nowMs: number): Promise<void> {
  const { found, activities, activityHint, options } = round;
  await activityHint.check(within(round), {
    nowMs,
    activities,
    projects: toWatched(found).map(({ project }) => project),
    window: toHintWindow(found, nowMs, options.settings.maxDelayMs),
    countKnown: (window) =>
      options.ledger.countEnds(options.server, { projects: [...found.cache.states.keys()], ...window }),
  });
}

function toWatched({ cache }: OpenRound): readonly ProjectState[] {
  return [...cache.states.values()].filter(({ hold }) => hold !== 'excluded');
}

/** Returns the window to compare. Unlike the ledger, the server counts executions before the start of counting. */
function toHintWindow(found: OpenRound, nowMs: number, lengthMs: number): Window {
  const beginMs = Math.max(nowMs - lengthMs, ...toWatched(found).map(({ countedFromMs }) => countedFromMs));
  return { beginMs: Math.min(beginMs, nowMs), endMs: nowMs };
}

/** Reads backlogs, then missed, skipped and hidden executions, for a limited time in each round. */
async function readBack(round: Round, nowMs: number): Promise<void> {
  const { found, faults, notes, visibility, projectList, options, signal, startedTicks } = round;
  const { clock, everyMs } = options;
  const api = (): Api => within(round);
  const untilTicks = Math.max(startedTicks + timeForPast * everyMs, clock.ticks() + minForPast * everyMs);
  const mayGoOn = (): boolean => !signal.aborted && clock.ticks() < untilTicks;
  const { attempt } = faults;
  await found.readPast({
    api,
    nowMs,
    mayGoOn,
    attempt,
    noteRead: (project, read) => notes.notePast(project, read, nowMs),
  });
  const lookUntilTicks = Math.max(untilTicks, clock.ticks() + minForLooks * everyMs);
  const mayLook = (): boolean => !signal.aborted && clock.ticks() < lookUntilTicks;
  await attempt(() => found.recount.look(api, nowMs, mayLook));
  await attempt(() => found.countSkips(api, mayLook));
  const { states } = found.cache;
  await attempt(() => visibility.look(api, { names: projectList.names(), nowMs, states, reading: found.reading }));
}

function within({ options, signal }: Round, lane: 'vital' | 'normal' = 'normal'): Api {
  return options.client.within({ lane, forMs: options.timeoutMs, signal });
}

/** Returns the number of concurrent reads. With a small budget, concurrent reads would time out. */
function toWidth({ requestsPerSecond, timeoutMs }: ExecutionsOptions): number {
  return Math.max(1, Math.min(3, Math.floor((requestsPerSecond * timeoutMs) / 2000)));
}

/** Backlog reads start only within the share `timeForPast` of the interval, but always get `minForPast`. */
const timeForPast = 0.7;
/** A search stops after the share `timeForSearch` of the interval, but always gets `minForSearch`. */
const timeForSearch = 0.8;
const minForSearch = 0.3;
const minForPast = 0.3;
const minForLooks = 0.1;
const timeForLists = 0.2;

/** A round with the last known running executions. */
export type ReadNow = RoundNow & { readonly lastRead?: LastRead };
type LastRead = { readonly running: NonNullable<RoundNow['running']>; readonly seenMs: number } | undefined;

export function joinLastRead(now: RoundNow, before: ReadNow | undefined): ReadNow {
  if (now.running !== undefined || before === undefined) return now;
  const { running, nowMs: seenMs } = before;
  return { ...now, lastRead: running === undefined ? before.lastRead : { running, seenMs } };
}

export function toSeen(latest: ReadNow | undefined) {
  return { running: latest?.running ?? [], seenMs: latest?.nowMs, lastRead: latest?.lastRead };
}
