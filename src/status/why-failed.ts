import type { CommonCause } from '../diagnosis/changes/deciding/common-cause.ts';
import type { Explanation } from '../diagnosis/changes/explain.ts';
import { toCauseText, toSentence } from '../diagnosis/lines/sentence.ts';
import { toTime } from '../domain/ages.ts';
import type { FailedRun } from '../domain/failure-class.ts';
import type { Why } from '../expected-runs/deciding/why.ts';
import { isFailure, toInterruption, toStartsAtMs } from './running.ts';
import type { AboutJob, ShownJob } from './shown-job.ts';
import type { EndedStatus, RunningExecution } from './status.ts';

/** Why an execution failed. Times are text, as in JSON. */
export type WhyFailed = {
  readonly execution: number;
  readonly at: string;
  readonly class: string;
  readonly reason: string | undefined;
  readonly exit_code: number | undefined;
  readonly node: string | undefined;
  readonly step: string | undefined;
  readonly fingerprint: string | undefined;
  readonly first_seen: string | undefined;
  readonly seen: number | undefined;
  readonly sentence: string;
  /** The changes since the last success; absent if unknown. */
  readonly suspects?: readonly WhySuspect[] | undefined;
  readonly unchanged?: readonly string[] | undefined;
  readonly not_watched?: Explanation['notWatched'] | undefined;
  /** The common cause of failing jobs that the job shares. The numbers count jobs. */
  readonly common_cause?: (Omit<CommonCause, 'probability' | 'sinceMs'> & { readonly since: string }) | undefined;
};

/** A change before a failure. Lists begin with the most likely cause. */
type WhySuspect = {
  readonly kind: string;
  readonly scope: string;
  readonly subject: string;
  readonly what: string;
  readonly after: string;
  readonly before: string;
  readonly at: string | undefined;
  readonly by: string | undefined;
  readonly fits: boolean;
};

export type WhyEnded = AboutJob & {
  readonly server: string;
  readonly id: number;
  readonly job: string | undefined;
  /** The ending, such as failed, succeeded or aborted; unknown before the end. */
  readonly verdict: string;
  readonly sentence: string;
  readonly facts: readonly string[];
  readonly failure: WhyFailed | undefined;
};

/** The response about a job: the decision about its last scheduled time, and facts from its runs. */
export type WhyOfJob = Why & AboutJob & AboutRuns;

export type AboutRuns = {
  readonly failure: WhyFailed | undefined;
  /** The lasting changes of durations of steps or, without `step`, of the whole job. */
  readonly duration_shifts?: readonly {
    readonly step?: string | undefined;
    readonly since: string;
    readonly before_seconds: number;
    readonly after_seconds: number;
  }[];
};

function toWhyFailed(run: FailedRun, nowMs: number, explanation?: Explanation): WhyFailed {
  const { id, endedAtMs, failureClass, reason, exitCode, node, step, seen } = run;
  return {
    execution: id,
    at: toIso(endedAtMs),
    class: failureClass,
    reason,
    exit_code: exitCode,
    node,
    step,
    fingerprint: seen?.fingerprint,
    first_seen: seen && toIso(seen.firstMs),
    seen: seen?.count,
    sentence: toSentence(run, nowMs),
    ...(explanation?.successMs === undefined ? {} : toWhatChanged(explanation)),
    ...(explanation?.commonCause === undefined ? {} : { common_cause: toShared(explanation.commonCause) }),
  };
}

function toShared({
  kind,
  subject,
  sinceMs,
  failed,
  covered,
  succeeded,
  spared,
}: CommonCause): WhyFailed['common_cause'] {
  return { kind, subject, since: toIso(sinceMs), failed, covered, succeeded, spared };
}

/** Describes a cause in a few words: `access: key keys/pay/node.pem changed by bob`. */
export function toBriefCause({ failureClass, reason }: FailedRun, explanation?: Explanation): string {
  const [suspect] = explanation?.suspects ?? [];
  if (suspect?.fits !== true) return reason === undefined ? failureClass : `${failureClass}: ${reason}`;
  const { kind, subject, what, by } = suspect;
  return `${failureClass}: ${kind} ${subject} ${what}${by === undefined ? '' : ` by ${by}`}`;
}

function toWhatChanged({ suspects, unchanged, notWatched }: Explanation) {
  return {
    suspects: suspects.map(
      ({ kind, scope, subject, what, afterMs, beforeMs, atMs, by, fits }): WhySuspect => ({
        kind,
        scope,
        subject,
        what,
        after: toIso(afterMs),
        before: toIso(beforeMs),
        at: atMs === undefined ? undefined : toIso(atMs),
        by,
        fits,
      }),
    ),
    unchanged,
    not_watched: notWatched,
  };
}

type Found = {
  readonly explanation?: Explanation | undefined;
  readonly running: RunningExecution | undefined;
  readonly ended: EndedStatus | undefined;
  readonly failure: FailedRun | undefined;
  /** Why the execution failed, as on its page. */
  readonly why?: string | undefined;
  readonly nowMs: number;
};

/** Explains how an execution ended. Returns undefined if the execution is not known. */
export function explainExecution(
  server: string,
  { running, ended, failure, why, explanation, nowMs }: Found,
): WhyEnded | undefined {
  if (running !== undefined) {
    const { id, job } = running;
    const startsAtMs = toStartsAtMs(running);
    const waits = `The execution waits to run${startsAtMs === undefined ? '' : ` at ${toTime(startsAtMs, nowMs)}`}.`;
    const seen = `The execution was last seen ${running.isWaiting ? 'waiting' : 'running'} at ${toTime(running.seenMs, nowMs)}.`;
    const listed =
      running.interruptedAtMs === undefined
        ? 'The execution still runs.'
        : toInterruption(running.interruptedAtMs, nowMs);
    const sentence = running.isUnread === true ? seen : running.isWaiting ? waits : listed;
    return { server, id, job, verdict: 'unknown', sentence, facts: [], failure: undefined };
  }
  if (ended === undefined) return undefined;
  const { id, project, job, ending, endedAtMs } = ended;
  const path = job === undefined ? undefined : `${project}/${job}`;
  const plain = `${path ?? 'The ad hoc execution'} ended at ${toTime(endedAtMs, nowMs)}: ${ending}.`;
  return {
    server,
    id,
    job: path,
    verdict: isFailure(ended) ? 'failed' : ending,
    sentence: failure === undefined ? plain : toSentence(failure, nowMs),
    facts: failure === undefined ? [] : toCauseFacts(failure, why),
    failure: failure && toWhyFailed(failure, nowMs, explanation),
  };
}

function toCauseFacts(failure: FailedRun, why: string | undefined): readonly string[] {
  const isUnread = failure.failureClass === 'unread' && why !== undefined;
  return [isUnread ? why : `First cause: ${toCauseText(failure)}.`];
}

/** Returns why a job last failed, if the cause is stored, and how its durations changed. */
export function describeRuns(shown: ShownJob | undefined): AboutRuns {
  const { lastFailure, runs = [], explanation, shifts = [], nowMs = 0 } = shown ?? {};
  const isOfLast = lastFailure?.id === runs[0]?.id;
  return {
    failure: lastFailure && toWhyFailed(lastFailure, nowMs, isOfLast ? explanation : undefined),
    duration_shifts: shifts.map(({ step, sinceMs, beforeMs, afterMs }) => ({
      step,
      since: toIso(sinceMs),
      before_seconds: beforeMs / 1000,
      after_seconds: afterMs / 1000,
    })),
  };
}

/** Explains a job without a watched schedule. Returns undefined if nothing is known about the job. */
export function explainUnscheduled(shown: ShownJob | undefined, unseen?: string): WhyOfJob | undefined {
  const { server = '', path = '', runs: [newest] = [], lastFailure, shifts, nowMs = 0 } = shown ?? {};
  if (newest === undefined && lastFailure === undefined && shifts?.[0] === undefined) return undefined;
  const [project = '', ...rest] = path.split('/');
  const seconds = newest && Math.max(0, newest.endedAtMs - newest.startedAtMs) / 1000;
  const last = newest && ` The job last ran ${toTime(newest.startedAtMs, nowMs)} (#${newest.id}, ${newest.ending}).`;
  const lastRun = newest && { id: newest.id, status: newest.ending, started: toIso(newest.startedAtMs), seconds };
  return {
    server,
    id: '',
    project,
    group: rest.slice(0, -1).join('/'),
    name: rest.at(-1) ?? '',
    verdict: 'unknown',
    expected: undefined,
    reason: undefined,
    facts: [],
    last_run: lastRun,
    next_run: undefined,
    sentence: `${unseen === undefined ? '' : `${unseen}. `}No schedule of this job is watched.${last ?? ''}`,
    ...describeRuns(shown),
  };
}

function toIso(atMs: number): string {
  return new Date(atMs).toISOString();
}
