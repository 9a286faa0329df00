import { toDuration, toTime } from '../../domain/ages.ts';
import {
  type Fact,
  isOff,
  type MissReason,
  nextTime,
  quietUntil,
  type Verdict,
  type WatchedJob,
} from './watched-job.ts';

/** Why a job ran, or did not, at the last time that is decided; times as text, as JSON has them. */
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
  /** All of that as a person would say it. */
  readonly sentence: string;
};

export type LastRun = {
  readonly id: number;
  readonly status: string;
  readonly started: string;
  readonly seconds: number | undefined;
};

export type WhyInput = { readonly server: string; readonly nowMs: number; readonly lastRun: LastRun | undefined };

/** Explains the last decision about a job. */
export function explain(job: WatchedJob, { server, nowMs, lastRun }: WhyInput): Why {
  const verdict = job.verdicts.at(-1);
  const nextMs = nextTime(job, nowMs);
  const facts = verdict !== undefined && 'facts' in verdict ? verdict.facts : [];
  const mend = toMend(verdict, job);
  const sentences = [
    toSentence(verdict, facts, nowMs),
    toLastRun(lastRun, nowMs),
    `Next expected: ${toNext(job, nowMs)}.`,
    ...(mend === undefined ? [] : [`To mend: ${mend}.`]),
  ];
  return {
    server,
    id: job.id,
    project: job.project,
    group: job.group,
    name: job.name,
    verdict: verdict === undefined || verdict.is === 'undecided' ? 'unknown' : verdict.is,
    expected: verdict && toIso(verdict.expectedMs),
    reason: verdict?.is === 'missed' ? verdict.reason : undefined,
    facts: facts.map(({ fact, atMs, source }) => ({ fact, at: toIso(atMs), source })),
    last_run: lastRun,
    next_run: nextMs === undefined ? undefined : toIso(nextMs),
    sentence: sentences.join(' '),
  };
}

function toIso(atMs: number): string {
  return new Date(atMs).toISOString();
}

function toSentence(verdict: Verdict | undefined, facts: readonly Fact[], nowMs: number): string {
  if (verdict === undefined) return 'Nothing is decided yet.';
  const at = toTime(verdict.expectedMs, nowMs);
  if (verdict.is === 'ran') return `Ran at ${at}, ${toDuration(verdict.delayMs)} late (#${verdict.runId}).`;
  if (verdict.is === 'undecided') return `Whether it ran at ${at} is not known: ${undecided[verdict.why]}.`;
  const [first] = facts;
  const because =
    first === undefined ? 'no cause is known' : `${first.fact} (${toWhen(first, verdict.expectedMs, nowMs)})`;
  return `Did not run at ${at}: ${because}.`;
}

const undecided = {
  edited: 'its schedule was changed around that time',
  unread: 'what ran then could not be read',
  gone: 'the job was removed',
  clock: 'a clock was set forward past that time',
  switched: 'the job was switched off while the exporter was not watching',
  unconfirmed: 'the job or its project was switched off before its schedule could be asked for again',
} as const;

function toWhen({ atMs }: Fact, expectedMs: number, nowMs: number): string {
  const seen = `seen ${toTime(atMs, nowMs)}`;
  return atMs < expectedMs ? `${seen}, ${toDuration(expectedMs - atMs)} before` : seen;
}

function toLastRun(run: LastRun | undefined, nowMs: number): string {
  if (run === undefined) return 'No run of it is known.';
  const took = run.seconds === undefined ? '' : `, ${toDuration(run.seconds * 1000)}`;
  return `It last ran ${toTime(Date.parse(run.started), nowMs)} (#${run.id}, ${run.status}${took}).`;
}

function toNext(job: WatchedJob, nowMs: number): string {
  const nextMs = nextTime(job, nowMs);
  if (nextMs !== undefined) return toTime(nextMs, nowMs);
  if (isOff(job) || job.goneAtMs !== undefined) return 'never';
  const untilMs = quietUntil(job, nowMs);
  return untilMs === undefined ? 'not known' : `not before ${toTime(untilMs, nowMs)}`;
}

/** What a person can do about it; nothing is offered to be done from here. */
function toMend(verdict: Verdict | undefined, job: WatchedJob): string | undefined {
  if (verdict?.is === 'off' || isOff(job)) return 'enable the job and its schedule';
  return verdict?.is === 'missed' ? mends[verdict.reason] : undefined;
}

const mends: Readonly<Record<MissReason, string | undefined>> = {
  down: 'find out why the server did not answer',
  passive: 'set the execution mode of the server to active',
  executions_disabled: 'enable executions in the project',
  schedule_disabled: 'enable schedules in the project',
  job_disabled: 'enable the job and its schedule',
  orphaned: 'start the member again, or let another one take its jobs over',
  overlap: 'make the job faster or run it less often, or let it run several times at once',
  saturated: 'spread schedules, or give the scheduler more threads',
  restart: undefined,
  unknown: undefined,
};
