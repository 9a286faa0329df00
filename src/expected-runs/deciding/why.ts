import { toDuration, toLength, toTime } from '../../domain/ages.ts';
import { toCapital } from '../../domain/format.ts';
import { type Blocker, findBlockers, planAnew } from './blockers.ts';
import { interruptedSource } from './cause.ts';
import { toDelay } from './hours.ts';
import type { Sources } from './sources.ts';
import {
  type Fact,
  isOff,
  type MissReason,
  nextTime,
  quietUntil,
  type Unread,
  undecidedTimes,
  type Verdict,
  type WatchedJob,
} from './watched-job.ts';

/** Why a job ran or did not run at its last decided time. Times are text, as in JSON. */
export type Why = {
  readonly server: string;
  readonly id: string;
  readonly project: string;
  readonly group: string;
  readonly name: string;
  readonly verdict: 'ran' | 'missed' | 'off' | 'unknown';
  readonly expected: string | undefined;
  readonly reason: MissReason | undefined;
  readonly facts: readonly { readonly fact: string; readonly at: string; readonly source: string }[];
  readonly last_run: LastRun | undefined;
  readonly next_run: string | undefined;
  readonly sentence: string;
};

export type LastRun = {
  readonly id: number;
  readonly status: string;
  readonly started: string;
  readonly seconds: number | undefined;
};

export type WhyInput = {
  readonly server: string;
  readonly nowMs: number;
  readonly lastRun: LastRun | undefined;
  readonly sources: Sources;
  readonly asked: AskedSchedules;
};

/** The number of schedules with known times, the number of all schedules, and the time that the remaining requests take. */
export type AskedSchedules = { readonly known: number; readonly all: number; readonly leftMs: number };

/** Explains the last decision about a job, and why the job cannot run now. */
export function explain(job: WatchedJob, { server, nowMs, lastRun, sources, asked }: WhyInput): Why {
  const verdict = job.verdicts.at(-1);
  const nextMs = nextTime(job, nowMs);
  const then = verdict !== undefined && 'facts' in verdict ? verdict.facts : [];
  const blockers = findBlockers(job, sources, nowMs);
  // A cause that still exists is described once.
  const isSaid = ({ reason, fact }: Blocker): boolean =>
    reason === toReason(verdict) && then.some(({ atMs }) => atMs === fact.atMs);
  const now = blockers.filter((blocker) => !isSaid(blocker)).map(({ fact }) => fact);
  const facts = [...then, ...now];
  const fixes = [...blockers.map(({ fix }) => fix), ...toPastFix(verdict, blockers.length > 0)];
  const sentences = [
    verdict === undefined ? toUndecided(job, nowMs, asked) : toSentence(verdict, then, nowMs),
    ...now.map(({ fact, atMs }) => `${toCapital(fact)} (seen ${toTime(atMs, nowMs)}).`),
    // After a job was renamed, its runs have the new name earlier than the job list.
    ...(lastRun === undefined && verdict?.is === 'ran' ? [] : [toLastRun(lastRun, nowMs)]),
    `Next run: ${toNext(job, nowMs)}.`,
    ...(job.unread?.why === undefined
      ? []
      : [`The schedule of the job cannot be read: ${toUnread(job.unread, nowMs)}.`]),
    ...(fixes.length === 0 ? [] : [`Fix: ${fixes.join('; ')}.`]),
  ];
  return {
    server,
    id: job.id,
    project: job.project,
    group: job.group,
    name: job.name,
    verdict: verdict === undefined || verdict.is === 'undecided' || job.goneAtMs !== undefined ? 'unknown' : verdict.is,
    expected: verdict && toIso(verdict.expectedMs),
    reason: verdict?.is === 'missed' ? verdict.reason : undefined,
    facts: facts.map(({ fact, atMs, source }) => ({ fact, at: toIso(atMs), source })),
    last_run: lastRun,
    next_run: nextMs === undefined ? undefined : toIso(nextMs),
    sentence: sentences.join(' '),
  };
}

/** Describes the last failed request for a schedule. The next request may be hours later. */
export function toUnread({ why, atMs }: Unread, nowMs: number): string {
  return `${why} (seen ${toTime(atMs, nowMs)})`;
}

function toIso(atMs: number): string {
  return new Date(atMs).toISOString();
}

function toReason(verdict: Verdict | undefined): MissReason | undefined {
  if (verdict?.is === 'off') return 'job_disabled';
  return verdict?.is === 'missed' ? verdict.reason : undefined;
}

function toUndecided(job: WatchedJob, nowMs: number, asked: AskedSchedules): string {
  const openMs = undecidedTimes(job).find((time) => time <= nowMs);
  if (openMs !== undefined) return `Whether the job ran at ${toTime(openMs, nowMs)} is still being checked.`;
  if (job.timetable === undefined && isOff(job)) return 'No run of the job is expected now.';
  if (job.timetable === undefined) return `The scheduled times of the job are not known yet${toProgress(job, asked)}.`;
  return `No scheduled time has passed since the schedule of the job was first read (${toTime(job.sinceMs, nowMs)}).`;
}

function toProgress(job: WatchedJob, { known, all, leftMs }: AskedSchedules): string {
  if (job.unread !== undefined || known >= all) return '';
  return `: ${known} of ${all} schedules read so far, about ${Math.max(1, Math.ceil(leftMs / 60_000))} min left`;
}

function toSentence(verdict: Verdict, facts: readonly Fact[], nowMs: number): string {
  const at = toTime(verdict.expectedMs, nowMs);
  if (verdict.is === 'ran') return `Ran at ${at}, ${toDelay(verdict)} (#${verdict.runId}).`;
  if (verdict.is === 'undecided') return `Whether the job ran at ${at} is unknown: ${undecidedBecause[verdict.why]}.`;
  const [first] = facts;
  const because =
    first === undefined ? 'no cause is known' : `${first.fact} (${toWhen(first, verdict.expectedMs, nowMs)})`;
  return `Did not run at ${at}: ${because}.`;
}

/** The reasons for undecided times, as the end of a sentence. */
export const undecidedBecause = {
  edited: 'the job was edited around that time',
  unsure: 'the schedule may have changed between two requests for the schedule',
  unasked: 'the schedule could not be requested in time: it may have changed since, or it has too many start times',
  unread: 'the runs of that time could not be read',
  gone: 'the server no longer listed the job',
  clock: 'a clock was set forward past that time',
  hidden: 'the runs of the job cannot be read',
  switched: 'the job was switched off while the exporter was not watching',
  unconfirmed: 'the job or its project was switched off before the schedule could be requested again',
} as const;

function toWhen({ atMs }: Fact, expectedMs: number, nowMs: number): string {
  const seen = `seen ${toTime(atMs, nowMs)}`;
  return atMs < expectedMs ? `${seen}, ${toDuration(expectedMs - atMs)} before` : seen;
}

function toLastRun(run: LastRun | undefined, nowMs: number): string {
  if (run === undefined) return 'No run has been seen.';
  const took = run.seconds === undefined ? '' : `, ${toLength(run.seconds * 1000)}`;
  return `The job last ran ${toTime(Date.parse(run.started), nowMs)} (#${run.id}, ${run.status}${took}).`;
}

function toNext(job: WatchedJob, nowMs: number): string {
  const nextMs = nextTime(job, nowMs);
  if (nextMs !== undefined) return toTime(nextMs, nowMs);
  if (job.goneAtMs !== undefined) return 'unknown';
  if (isOff(job)) return 'none while the job is switched off';
  const untilMs = quietUntil(job, nowMs);
  return untilMs === undefined ? 'unknown' : `not before ${toTime(untilMs, nowMs)}`;
}

function toPastFix(verdict: Verdict | undefined, isBlocked: boolean): readonly string[] {
  if (verdict?.is !== 'missed' || isBlocked) return [];
  const isInterrupted = verdict.reason === 'overlap' && verdict.facts[0]?.source === interruptedSource;
  const fix = isInterrupted ? 'mark the run as incomplete on the server' : fixes[verdict.reason];
  return fix === undefined ? [] : [fix];
}

/** Switches are omitted: a switch that is on again needs no fix. */
const fixes: { readonly [Reason in MissReason]?: string } = {
  down: 'find out why the server did not respond',
  orphaned: 'start the member again, or take over its jobs on another member',
  overlap: 'make the job faster or run it less often, or allow several runs at once',
  saturated: 'spread schedules, or give the scheduler more threads',
  clock: planAnew,
};
