import { areReadAfter, findCause, isOffSince, mayBeOff, ownerSilenceMs, toOffFact } from './cause.ts';
import { type Doubt, findDoubt, toMostAtOnce } from './doubts.ts';
import { closeGap, judgeGap } from './gap.ts';
import { isLeaptOver, takeBack } from './leaps.ts';
import { keepRuns } from './notes.ts';
import { isProjectOff, isProjectOffAt, type Sources } from './sources.ts';
import type { Timetable } from './timetable.ts';
import {
  addMisses,
  isOff,
  type Judged,
  type Missed,
  openTimes,
  ownerAt,
  type SeenRun,
  type Verdict,
  type WatchedJob,
} from './watched-job.ts';

type DecideInput = {
  readonly nowMs: number;
  readonly marginMs: number;
  readonly catchUpLimitMs: number;
  /** The time before which all started runs of the project are known, whether finished or not. */
  readonly clearMs: number;
  /** How far the clock of the member that runs the job is ahead of `nowMs` and of the readings. */
  readonly aheadMs?: number;
  /** How far the clock of the member may be behind other clocks. */
  readonly behindMs?: number;
  /** Runs that ended before this time are unknown. */
  readonly countedFromMs: number;
  readonly running: readonly SeenRun[];
  readonly sources: Sources;
};

type Decided = Judged & {
  /** True if a missed run is decided only after a later response about the schedule. */
  readonly needsAnswer: boolean;
  /** The requests that must be answered before a missed run is decided. */
  readonly doubt: Doubt | undefined;
};

/** Decides the expected times of a job in order, up to the first time that needs more facts. */
export function decide(before: WatchedJob, input: DecideInput): Decided {
  const job = takeBack(before, input);
  const times = job.timetable?.timesMs ?? [];
  const runs = joinRuns(job.runs, input.running);
  const used = new Set<number>();
  const { held, settled } = settleHeld(job, input);
  const verdicts: Verdict[] = [...settled];
  const waiting = [...held];
  let decidedMs = job.decidedMs;
  let needsAnswer = false;
  const { gap } = job.timetable ?? {};
  const gapIs = gap && judgeGap(job, gap, input.nowMs);
  let doubt: Doubt | undefined;
  let isWaiting = false;
  for (const time of openTimes(job)) {
    // Start times in the gap are decided first.
    if (gap !== undefined && time > gap.afterMs) break;
    // The start windows of expected times do not overlap, so no run matches two of the times.
    const step = decideOne(
      { ...job, ...toOwner(job, time), runs },
      { ...input, expectedMs: time, index: times.indexOf(time) },
    );
    isWaiting = step.is === 'wait';
    if (step.is === 'wait') ({ needsAnswer = false, doubt } = step);
    if (step.is === 'wait') break;
    if (step.is === 'ran') used.add(step.runId);
    if (step.is === 'held') waiting.push(step.miss);
    else if (step.is !== 'skipped') verdicts.push(step);
    decidedMs = time;
  }
  needsAnswer ||= waiting.length > 0;
  if (gapIs === 'ask') doubt = 'past';
  const isLost = gap !== undefined && gapIs === 'lost' && !isWaiting;
  const closed = isLost ? closeGap(job, gap, input.sources) : { job, verdicts: [] };
  verdicts.push(...closed.verdicts);
  if (closed.job === job && verdicts.length === 0 && decidedMs === job.decidedMs)
    return { job, verdicts, needsAnswer, doubt };
  return { job: toDecided(closed.job, verdicts, { decidedMs, used, held: waiting }), verdicts, needsAnswer, doubt };
}

/** Decides the held missed runs for which a response about the schedule has arrived or is not needed. */
function settleHeld(
  { held = [], timetable, goneAtMs }: WatchedJob,
  { nowMs, catchUpLimitMs, aheadMs = 0 }: DecideInput,
) {
  const settled: Verdict[] = [];
  const left = held.filter((miss) => {
    const { expectedMs } = miss;
    if ((timetable?.confirmedMs ?? -Infinity) > expectedMs) settled.push(miss);
    else if (goneAtMs !== undefined) settled.push({ is: 'undecided', expectedMs, why: 'gone' });
    else if (nowMs + aheadMs - expectedMs > catchUpLimitMs)
      settled.push({ is: 'undecided', expectedMs, why: 'unconfirmed' });
    else return true;
    return false;
  });
  return { held: left, settled };
}

function toOwner(job: WatchedJob, atMs: number): Pick<WatchedJob, 'ownerUuid'> {
  const ownerUuid = ownerAt(job, atMs);
  return ownerUuid === undefined ? {} : { ownerUuid };
}

type OneInput = DecideInput & { readonly expectedMs: number; readonly index: number };

type Step = Verdict | Held | Wait | { readonly is: 'skipped' };
type Wait = { readonly is: 'wait'; readonly needsAnswer?: boolean; readonly doubt?: Doubt };
type Held = { readonly is: 'held'; readonly miss: Missed };

function decideOne(job: WatchedJob, input: OneInput): Step {
  const { expectedMs, index, countedFromMs, catchUpLimitMs, sources, aheadMs = 0, behindMs = 0 } = input;
  const nowMs = input.nowMs + aheadMs;
  const clearMs = input.clearMs - behindMs;
  const { timetable, runs, off, decided } = job;
  if (decided !== undefined && expectedMs > decided.afterMs && expectedMs <= decided.throughMs)
    return { is: 'skipped' };
  const window = toStartWindow(timetable ?? noTimes, index, input.marginMs);
  const run = findNearest(runs, 'scheduled', expectedMs, window);
  if (run !== undefined) {
    const delayMs = Math.max(0, run.startedAtMs - expectedMs);
    // A late run may belong to the next expected time, which is unknown.
    const isAlone = timetable?.source === 'forecast' && timetable.timesMs.length === 1;
    if (isAlone && delayMs > maxSureDelayMs && nowMs <= expectedMs + maxWaitMs)
      return { is: 'wait', needsAnswer: true };
    return { is: 'ran', expectedMs, delayMs, runId: run.id };
  }
  // If the next expected time is unknown, the end of the start window is also unknown.
  if (expectedMs > nowMs) return wait;
  if (job.hiddenMs !== undefined) {
    return expectedMs > job.hiddenMs ? { is: 'skipped' } : { is: 'undecided', expectedMs, why: 'hidden' };
  }
  const marginMs = window.throughMs - expectedMs;
  const period = off.find(({ sinceMs, untilMs = Infinity }) => sinceMs <= expectedMs && expectedMs < untilMs);
  if (
    expectedMs < countedFromMs ||
    expectedMs <= (job.lostRunsMs ?? -Infinity) ||
    nowMs - expectedMs > catchUpLimitMs
  ) {
    return { is: 'undecided', expectedMs, why: 'unread' };
  }
  if (clearMs < window.throughMs) return wait;
  if (period !== undefined && !isOffSince(period, expectedMs, marginMs)) {
    return { is: 'off', expectedMs, what: period.what, facts: [toOffFact(period)] };
  }
  if (off.some((each) => mayBeOff(each, expectedMs))) return { is: 'undecided', expectedMs, why: 'switched' };
  const { unsure, gap } = timetable ?? {};
  if (unsure !== undefined && expectedMs > unsure.afterMs && expectedMs <= unsure.throughMs) {
    const isSureSoon = gap !== undefined && judgeGap(job, gap, input.nowMs) !== 'lost';
    return isSureSoon ? wait : { is: 'undecided', expectedMs, why: 'unsure' };
  }
  const isRefused = findNearest(runs, 'missed', expectedMs, window) !== undefined;
  // A window that counts as read may lack runs.
  const isInDoubt = behindMs > maxBehindMs || isLeaptOver(sources, window);
  if (isInDoubt && !isRefused) return { is: 'undecided', expectedMs, why: 'clock' };
  const isOwnerSettled = job.ownerUuid === undefined || nowMs > expectedMs + ownerSilenceMs;
  if (!isOwnerSettled) return wait;
  const given = { expectedMs, atMs: expectedMs - aheadMs, marginMs, runs, sources };
  const strict = findCause({ ...given, job: { ...job, mostAtOnce: 1 } });
  const isOverlap = strict.reason === 'overlap';
  const cause = isOverlap ? findCause({ ...given, job: { ...job, mostAtOnce: toMostAtOnce(job) } }) : strict;
  const isLate = nowMs > window.throughMs + maxWaitMs;
  const doubt = isRefused ? undefined : findDoubt(job, strict.reason, given.atMs);
  if (!isConfirmed(job, expectedMs, cause.reason, sources)) {
    if (job.goneAtMs !== undefined) return { is: 'undecided', expectedMs, why: 'gone' };
    // While the job is off, the server does not report its schedule, so later times do not wait for a response.
    const isWithoutAnswer = isLate && (isOff(job) || isProjectOff(sources, job.project));
    if (isWithoutAnswer && doubt === undefined) return { is: 'held', miss: { is: 'missed', expectedMs, ...cause } };
    return { is: 'wait', needsAnswer: !isWithoutAnswer, ...(doubt === undefined ? {} : { doubt }) };
  }
  if (doubt !== undefined) return { is: 'wait', doubt };
  // Decisions do not wait for readings of a member that stopped responding.
  const { project } = job;
  const isRead = areReadAfter(sources, cause.reason === 'orphaned' ? { project } : job, given.atMs);
  if (!isLate && !(isRead && job.listedAtMs > given.atMs)) return wait;
  return { is: 'missed', expectedMs, ...cause };
}

const wait: Wait = { is: 'wait' };

/** The maximum delay until an execution becomes visible. */
const maxBehindMs = 60_000;

/** The delay up to which a run surely belongs to its expected time: half of the usual minute between starts. */
const maxSureDelayMs = 30_000;

const noTimes = { timesMs: [], untilMs: 0 };

/**
 * Reports whether a later response still contained an expected time. While the job or project is off, the last earlier
 * response counts.
 */
function isConfirmed(job: WatchedJob, expectedMs: number, reason: string, sources: Sources): boolean {
  const { timetable, lastModifiedMs, listedAtMs } = job;
  if (timetable === undefined) return false;
  if (timetable.confirmedMs > expectedMs) return true;
  if (reason === 'job_disabled') return isOff(job);
  const isOfProject = reason === 'executions_disabled' || reason === 'schedule_disabled';
  if (!isProjectOff(sources, job.project)) return false;
  // The schedule may have been edited before it was switched off.
  if (lastModifiedMs === undefined)
    return isOfProject || (reason !== 'unknown' && isProjectOffAt(sources, job.project, expectedMs));
  // An edit would be visible in the list.
  return lastModifiedMs <= timetable.askedAtMs && (reason !== 'unknown' || listedAtMs > expectedMs);
}

/** How long decisions wait for a source that is no longer read. */
const maxWaitMs = 900_000;

function joinRuns(ended: readonly SeenRun[], running: readonly SeenRun[]): readonly SeenRun[] {
  const known = new Set(ended.map(({ id }) => id));
  const joined = [...ended];
  for (const run of running) {
    if (run.kind !== 'waiting' && known.has(run.id)) continue;
    // Several lists may contain the same run.
    if (run.kind !== 'waiting') known.add(run.id);
    joined.push(run);
  }
  return joined;
}

type After = { readonly decidedMs: number; readonly used: ReadonlySet<number>; readonly held: readonly Missed[] };

function toDecided(before: WatchedJob, verdicts: readonly Verdict[], { decidedMs, used, held }: After): WatchedJob {
  const { held: _before, ...job } = before;
  const missedMs = verdicts.flatMap(({ is, expectedMs }) => (is === 'missed' ? [expectedMs] : []));
  const misses = addMisses(job.misses, verdicts, decidedMs);
  const { timetable } = job;
  // The last decided time limits the next start window. Times after the request stay, because later times are computed from
  // their pattern.
  const timesMs = timetable?.timesMs.filter((time) => time >= decidedMs || time > timetable.askedAtMs) ?? [];
  // A run matches only one expected time, but stays until the end of the start window.
  const kept = keepRuns(job.runs, decidedMs);
  return {
    ...job,
    decidedMs,
    ...(timetable === undefined ? {} : { timetable: { ...timetable, timesMs } }),
    runs: kept.map((run) => (used.has(run.id) ? { ...run, kind: 'other' } : run)),
    ...(held.length === 0 ? {} : { held }),
    verdicts: [...job.verdicts, ...verdicts].toSorted(byTime).slice(-maxVerdicts),
    ...(misses === undefined ? {} : { misses }),
    ...(missedMs.length === 0 ? {} : { lastMissedMs: Math.max(job.lastMissedMs ?? -Infinity, ...missedMs) }),
  };
}

function byTime(one: Verdict, other: Verdict): number {
  return one.expectedMs - other.expectedMs;
}

const maxVerdicts = 20;

/** The span of starts that match an expected time, including both ends. */
type StartWindow = { readonly fromMs: number; readonly throughMs: number };

/** The maximum difference between the clocks of members. */
const earliestMs = 5000;

/** Returns the start window of an expected time: up to half of the distance to the neighbouring times. */
export function toStartWindow(
  { timesMs, untilMs, gap, withdrawnMs = -Infinity }: Times,
  index: number,
  marginMs: number,
): StartWindow {
  const time = timesMs[index] ?? 0;
  const before = timesMs[index - 1];
  const following = timesMs[index + 1];
  const told = withdrawnMs > time ? Math.min(withdrawnMs, following ?? withdrawnMs) : following;
  const gapAfterMs = gap?.afterMs;
  const isBeforeGap = gapAfterMs !== undefined && time <= gapAfterMs && (told === undefined || told > gapAfterMs);
  const knownMs = isBeforeGap ? gapAfterMs : untilMs;
  // An unknown next start time is estimated from the distance of known start times.
  const later = isBeforeGap ? timesMs[index + 2] : undefined;
  const apartMs = before !== undefined ? time - before : (later ?? Number.NaN) - (told ?? Number.NaN);
  const guessed = Number.isNaN(apartMs) || knownMs > time + 2 * marginMs ? undefined : time + apartMs;
  const next = isBeforeGap ? Math.min(told ?? Infinity, guessed ?? Infinity) : (told ?? guessed);
  const earlyMs = before === undefined ? earliestMs : Math.min(earliestMs, (time - before) / 2);
  const lateMs = next === undefined ? marginMs : Math.min(marginMs, Math.ceil((next - time) / 2) - 1);
  return { fromMs: time - earlyMs, throughMs: time + lateMs };
}

type Times = Pick<Timetable, 'timesMs' | 'untilMs' | 'gap' | 'withdrawnMs'>;

function findNearest(
  runs: readonly SeenRun[],
  kind: SeenRun['kind'],
  expectedMs: number,
  { fromMs, throughMs }: StartWindow,
): SeenRun | undefined {
  const fitting = runs.filter((run) => run.kind === kind && run.startedAtMs >= fromMs && run.startedAtMs <= throughMs);
  const distance = ({ startedAtMs }: SeenRun): number => Math.abs(startedAtMs - expectedMs);
  return fitting.toSorted((one, other) => distance(one) - distance(other) || one.id - other.id)[0];
}
