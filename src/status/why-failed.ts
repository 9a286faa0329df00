import { toCauseText, toSentence } from '../diagnosis/lines/sentence.ts';
import { toTime } from '../domain/ages.ts';
import type { Why } from '../expected-runs/deciding/why.ts';
import type { FailedRun } from '../tracing/enrich/causes.ts';
import type { ShownJob } from './shown-job.ts';
import type { EndedStatus, RunningExecution } from './status.ts';

/** Why an execution failed; times are text, as in JSON. */
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
};

/** The answer about one execution. */
export type WhyEnded = {
  readonly server: string;
  readonly id: number;
  readonly job: string | undefined;
  readonly verdict: 'succeeded' | 'failed' | 'unknown';
  readonly sentence: string;
  readonly facts: readonly string[];
  readonly failure: WhyFailed | undefined;
};

/** The answer about a job: the decision about its last expected time, and its last failure. */
export type WhyOfJob = Why & { readonly failure: WhyFailed | undefined };

export function toWhyFailed(run: FailedRun, nowMs: number): WhyFailed {
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
  };
}

type Found = {
  readonly running: RunningExecution | undefined;
  readonly ended: EndedStatus | undefined;
  readonly failure: FailedRun | undefined;
  readonly nowMs: number;
};

/** Explains how an execution ended; undefined for one that is not known. */
export function explainExecution(server: string, { running, ended, failure, nowMs }: Found): WhyEnded | undefined {
  if (running !== undefined) {
    const { id, job } = running;
    const sentence = running.isWaiting ? 'It waits to run.' : 'It still runs.';
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
    verdict: ending === 'succeeded' ? 'succeeded' : 'failed',
    sentence: failure === undefined ? plain : toSentence(failure, nowMs),
    facts: failure === undefined ? [] : [`First cause: ${toCauseText(failure)}.`],
    failure: failure && toWhyFailed(failure, nowMs),
  };
}

/** Explains a job without a watched schedule; undefined if nothing is known of it. */
export function explainUnscheduled(shown: ShownJob | undefined): WhyOfJob | undefined {
  if (shown?.lastFailure === undefined) return undefined;
  const { server, path, nowMs, runs, lastFailure } = shown;
  const [project = '', ...rest] = path.split('/');
  const [newest] = runs;
  const seconds = newest && Math.max(0, newest.endedAtMs - newest.startedAtMs) / 1000;
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
    last_run: newest && { id: newest.id, status: newest.ending, started: toIso(newest.startedAtMs), seconds },
    next_run: undefined,
    sentence: 'No schedule of this job is watched.',
    failure: toWhyFailed(lastFailure, nowMs),
  };
}

function toIso(atMs: number): string {
  return new Date(atMs).toISOString();
}
