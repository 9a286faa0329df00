import { toTime } from '../../domain/ages.ts';
import { findUndone } from './leaps.ts';
import { type Sources, sourceKeys, timelineOf } from './sources.ts';
import { firstAfter, firstSoonAfter, isUnwatched, lastBefore, type Span, type Timeline } from './timeline.ts';
import {
  type Fact,
  type MissReason,
  maxListGapMs,
  type OffPeriod,
  type SeenRun,
  type WatchedJob,
} from './watched-job.ts';

type Cause = { readonly reason: MissReason; readonly facts: readonly Fact[] };

type CauseInput = {
  readonly job: Pick<WatchedJob, 'project' | 'ownerUuid' | 'off'> & {
    /** The maximum number of concurrent runs of the job. */
    readonly mostAtOnce: number;
  };
  readonly expectedMs: number;
  /** The expected time by the clock of the readings, which may differ from the clock of the job's member. */
  readonly atMs: number;
  readonly marginMs: number;
  readonly runs: readonly SeenRun[];
  readonly sources: Sources;
};

/** Returns the first cause that applies to an expected time without a run, with its facts. */
export function findCause(input: CauseInput): Cause {
  const isGap = isUnwatched(timelineOf(input.sources, sourceKeys.contact), input.atMs);
  // After an absence of the exporter, only causes that can still be seen are found.
  const judges = isGap ? [toOverlap, toRestart, toClock] : allJudges;
  for (const judge of judges) {
    const cause = judge(input);
    if (cause !== undefined) return cause;
  }
  return { reason: 'unknown', facts: isGap ? [unwatched(input)] : [] };
}

type Judge = (input: CauseInput) => Cause | undefined;

const allJudges: readonly Judge[] = [
  toDown,
  (input) => toPassive(input, lastBefore),
  (input) => toProjectOff(input, lastBefore),
  toJobOff,
  toOrphaned,
  toOverlap,
  (input) => toSaturated(input, lastSoonBefore),
  toRestart,
  toStarting,
  toActivated,
  // If no earlier reading shows passive mode, the first later reading may show it: the server became passive in between.
  (input) => toPassive(input, firstSoonAfter),
  (input) => toProjectOff(input, firstSoonAfter),
  // Jobs that are due at the same time may use all threads.
  (input) => toSaturated(input, firstSoonAfter),
  toClock,
];

function unwatched({ sources, atMs }: CauseInput): Fact {
  const span = lastBefore(timelineOf(sources, sourceKeys.contact), atMs);
  return { fact: 'the exporter was not watching', atMs: span?.throughMs ?? atMs, source: 'exporter' };
}

/** Returns `down` if a request failed between the last response before the time and the first response after the time. */
function toDown({ sources, atMs }: CauseInput): Cause | undefined {
  const contact = timelineOf(sources, sourceKeys.contact);
  const isAnswer = ({ value }: Timeline[number]): boolean => value === 'answered';
  if (contact.some((span) => isAnswer(span) && span.fromMs <= atMs && span.throughMs > atMs)) return undefined;
  const fromMs = contact.findLast((span) => isAnswer(span) && span.throughMs <= atMs)?.throughMs ?? -Infinity;
  const untilMs = contact.find((span) => isAnswer(span) && span.fromMs > atMs)?.fromMs ?? Infinity;
  const failed = contact.find((span) => !isAnswer(span) && span.throughMs >= fromMs && span.fromMs <= untilMs);
  if (failed === undefined) return undefined;
  return {
    reason: 'down',
    facts: [{ fact: 'the server did not respond', atMs: failed.fromMs, source: 'any request' }],
  };
}

function toPassive({ job, sources, atMs }: CauseInput, find: typeof lastBefore): Cause | undefined {
  const span = find(ofOwner(sources, sourceKeys.mode, job.ownerUuid), atMs);
  if (span?.value !== 'passive') return undefined;
  const fact = { fact: 'the server was passive', atMs: span.fromMs, source: 'execution-mode' };
  return { reason: 'passive', facts: [fact] };
}

function toProjectOff({ job, sources, atMs }: CauseInput, find: typeof lastBefore): Cause | undefined {
  const span = find(timelineOf(sources, sourceKeys.project(job.project)), atMs);
  if (span === undefined || span.value === 'active') return undefined;
  const isScheduleOnly = span.value === 'schedule_disabled';
  const what = isScheduleOnly ? 'schedules' : 'executions';
  const fact = { fact: `${what} of the project were switched off`, atMs: span.fromMs, source: 'project-modes' };
  return { reason: isScheduleOnly ? 'schedule_disabled' : 'executions_disabled', facts: [fact] };
}

function toJobOff({ job, atMs, marginMs }: CauseInput): Cause | undefined {
  const period = job.off.find((each) => isOffSince(each, atMs, marginMs));
  return period && { reason: 'job_disabled', facts: [toOffFact(period)] };
}

/** Reports whether the job was switched off between the readings around a time, or just before this time. */
export function isOffSince(period: OffPeriod, expectedMs: number, marginMs: number): boolean {
  const { lastOnMs, sinceMs, seenAtMs, untilMs = Infinity } = period;
  if (lastOnMs === undefined || untilMs <= expectedMs || isUndated(period)) return false;
  const isBetween = lastOnMs < expectedMs && seenAtMs >= expectedMs;
  return isBetween || (sinceMs <= expectedMs && expectedMs - sinceMs < marginMs);
}

/** Reports whether the job may have been switched off during an absence of the exporter. */
export function mayBeOff(period: OffPeriod, expectedMs: number): boolean {
  const { lastOnMs = Infinity, seenAtMs } = period;
  return isUndated(period) && lastOnMs < expectedMs && expectedMs < seenAtMs;
}

function isUndated({ lastOnMs, sinceMs, seenAtMs }: OffPeriod): boolean {
  return lastOnMs !== undefined && sinceMs === seenAtMs && seenAtMs - lastOnMs > maxListGapMs;
}

export function toOffFact({ what, sinceMs }: OffPeriod): Fact {
  return {
    fact: `the ${what === 'job' ? 'execution' : 'schedule'} of the job was switched off`,
    atMs: sinceMs,
    source: 'project-jobs',
  };
}

/** Returns `orphaned` if the owner of the job stopped responding around the time, while other members responded. */
function toOrphaned({ job, sources, atMs, marginMs }: CauseInput): Cause | undefined {
  if (job.ownerUuid === undefined) return undefined;
  const member = timelineOf(sources, sourceKeys.member(job.ownerUuid));
  const contact = timelineOf(sources, sourceKeys.contact);
  const untilMs = atMs + Math.max(marginMs, ownerSilenceMs);
  const isHeard = (timeline: Timeline): boolean =>
    timeline.some(({ fromMs, throughMs }) => throughMs > atMs && fromMs <= untilMs);
  const last = lastBefore(member, atMs);
  if (last === undefined || isHeard(member) || !isHeard(contact)) return undefined;
  const fact = `cluster member ${job.ownerUuid} (which schedules it) stopped responding`;
  return { reason: 'orphaned', facts: [{ fact, atMs: last.throughMs, source: 'system-info' }] };
}

/** Each member is polled once a minute. */
export const ownerSilenceMs = 180_000;

function toOverlap({ job, runs, expectedMs }: CauseInput): Cause | undefined {
  const running = runs.filter(
    ({ kind, startedAtMs, endedAtMs = Infinity }) =>
      kind !== 'missed' && startedAtMs < expectedMs && endedAtMs > expectedMs,
  );
  const [first] = running;
  if (first === undefined || running.length < job.mostAtOnce) return undefined;
  const { isInterrupted = false } = first;
  const one = isInterrupted
    ? `the run #${first.id} was interrupted by a restart, but was still listed as running`
    : first.kind === 'waiting'
      ? `the one-time run #${first.id} was waiting for its time`
      : `the run #${first.id} was still running`;
  const fact = running.length === 1 ? one : `${one}, and ${running.length - 1} more; the job allows no more`;
  return {
    reason: 'overlap',
    facts: [{ fact, atMs: first.startedAtMs, source: isInterrupted ? interruptedSource : 'executions' }],
  };
}

/** The source that shows that a restart interrupted a run. */
export const interruptedSource = 'system-info';

/** Returns `saturated` if all readings around the time, starting with the given one, showed that all threads were busy. */
function toSaturated({ job, sources, atMs, marginMs }: CauseInput, find: typeof lastBefore): Cause | undefined {
  const threads = ofOwner(sources, sourceKeys.threads, job.ownerUuid);
  const first = find(threads, atMs);
  const isFree = ({ value, fromMs }: Span): boolean => value !== 'full' && fromMs > atMs && fromMs <= atMs + marginMs;
  if (first?.value !== 'full' || threads.some(isFree)) return undefined;
  const fact = { fact: 'all threads of the scheduler were busy', atMs: first.fromMs, source: 'system-info' };
  return { reason: 'saturated', facts: [fact] };
}

/** Returns the last reading before a time, unless it is too old. */
function lastSoonBefore(timeline: Timeline, atMs: number): Span | undefined {
  return isUnwatched(timeline, atMs) ? undefined : lastBefore(timeline, atMs);
}

/** Returns `restart` if the server started after the time and was also running before it. */
function toRestart({ job, sources, expectedMs, atMs }: CauseInput): Cause | undefined {
  const starts = ofOwner(sources, sourceKeys.start, job.ownerUuid);
  const before = lastBefore(starts, atMs);
  const after = firstAfter(starts, atMs);
  if (before === undefined || after === undefined || before.value === after.value) return undefined;
  const startedAtMs = Number(after.value);
  // Each member reports its start by its own clock.
  const isOfOwner = starts !== timelineOf(sources, sourceKeys.start());
  if (startedAtMs < (isOfOwner ? expectedMs : atMs)) return undefined;
  const fact = { fact: 'the server restarted', atMs: startedAtMs, source: 'system-info' };
  return { reason: 'restart', facts: [fact] };
}

/** Returns a cause if the server has just restarted: it responds, but its scheduler may still be planning jobs. */
function toStarting({ job, sources, atMs }: CauseInput): Cause | undefined {
  const starts = ofOwner(sources, sourceKeys.start, job.ownerUuid);
  const startedAtMs = Number(firstAfter(starts, atMs)?.value ?? Number.NaN);
  const contact = timelineOf(sources, sourceKeys.contact);
  const first = contact.findIndex(({ value, throughMs }) => value === 'answered' && throughMs > startedAtMs);
  const wasDown = (contact[first - 1]?.throughMs ?? -Infinity) > startedAtMs;
  const sinceMs = contact[first]?.fromMs ?? Infinity;
  if (!wasDown || atMs - sinceMs > startingMs) return undefined;
  const fact = { fact: 'the server had just restarted', atMs: startedAtMs, source: 'system-info' };
  return { reason: 'restart', facts: [fact] };
}

/** Returns a cause if the server has just left passive mode: its scheduler plans all jobs again. */
function toActivated({ job, sources, atMs }: CauseInput): Cause | undefined {
  const modes = ofOwner(sources, sourceKeys.mode, job.ownerUuid);
  const before = modes.findLast(({ value, throughMs }) => value === 'passive' && throughMs <= atMs);
  if (before === undefined || atMs - before.throughMs > startingMs) return undefined;
  const fact = { fact: 'the server had just been passive', atMs: before.throughMs, source: 'execution-mode' };
  return { reason: 'passive', facts: [fact] };
}

/** The time that a scheduler needs to plan many jobs. */
const startingMs = 60_000;

/** Returns `clock` if the clock passed the time and was set back; until a restart, the server keeps the runs that it planned. */
function toClock({ job, sources, atMs }: CauseInput): Cause | undefined {
  const undone = findUndone(sources, atMs);
  const startedAtMs = Number(lastBefore(ofOwner(sources, sourceKeys.start, job.ownerUuid), atMs)?.value ?? -Infinity);
  if (undone === undefined || startedAtMs > undone.fromMs) return undefined;
  const until = toTime(undone.throughMs, undone.fromMs);
  const fact = `the clock of the server was set ahead to ${until} and back, and its scheduler might start nothing before then`;
  return { reason: 'clock', facts: [{ fact, atMs: undone.fromMs, source: 'system-info' }] };
}

/** Returns the readings of the member that runs a job, if it is polled directly; otherwise the readings of the common address. */
export function ofOwner(sources: Sources, key: (uuid?: string) => string, ownerUuid: string | undefined): Timeline {
  const own = ownerUuid === undefined ? [] : timelineOf(sources, key(ownerUuid));
  return own.length > 0 ? own : timelineOf(sources, key());
}

/** Reports whether each source that was read before a time has also been read after it. */
export function areReadAfter(
  sources: Sources,
  { project, ownerUuid }: Pick<WatchedJob, 'project' | 'ownerUuid'>,
  afterMs: number,
): boolean {
  const needed = [
    timelineOf(sources, sourceKeys.contact),
    ofOwner(sources, sourceKeys.mode, ownerUuid),
    ofOwner(sources, sourceKeys.threads, ownerUuid),
    ofOwner(sources, sourceKeys.start, ownerUuid),
    timelineOf(sources, sourceKeys.project(project)),
  ];
  return needed.every((timeline) => timeline.length === 0 || (timeline.at(-1)?.throughMs ?? 0) > afterMs);
}
