import { toTime } from '../domain/ages.ts';
import { toCount } from '../domain/format.ts';
import type { Skipped, SkippedRuns } from '../expected-runs/risks/find-skipped.ts';
import { toIso, toUnknown } from './known.ts';
import type { Elsewhere } from './status.ts';
import type { Silence } from './watcher.ts';

/** The scheduled runs of an interval that did not happen. Times are text, as in JSON. */
export type SkippedStatus = {
  readonly server: string;
  /** Why nothing is known, or why the data are old; null if the data are known and current. */
  readonly unknown: string | null;
  readonly since: string | null;
  readonly until: string | null;
  readonly missed: number;
  /** The number of missed runs without a later success. */
  readonly left: number;
  readonly undecided: number;
  /** The number of times that are still being checked. */
  readonly checking: number;
  readonly sentence: string;
  readonly runs: readonly SkippedText[];
  readonly runs_left_out: number;
};

export type SkippedText = {
  readonly project: string;
  readonly group: string;
  readonly name: string;
  readonly critical: boolean;
  readonly reason: string;
  readonly evidence: string | null;
  readonly first: string;
  readonly last: string;
  readonly count: number;
  /** The first success of the job after the missed runs. */
  readonly recovered: { readonly execution: number | null; readonly at: string; readonly sentence: string } | null;
  /** A run in progress that started after the missed runs. */
  readonly running: { readonly execution: number; readonly at: string; readonly sentence: string } | null;
  /** The URL of the job on the server; null if the server no longer lists the job as scheduled. */
  readonly url: string | null;
};

type Found = {
  readonly skipped: Skipped | undefined;
  readonly silence: Silence | Elsewhere | undefined;
  readonly serverUrl: string;
};

export function toSkippedStatus(server: string, { skipped, silence, serverUrl }: Found): SkippedStatus {
  const unknown = toUnknown(skipped, silence);
  if (skipped === undefined) return { ...nothing, server, unknown };
  const { sinceMs, untilMs, missed, left, undecided, open, runs } = skipped;
  if (sinceMs > untilMs) return { ...nothing, server, unknown: unknown ?? 'the interval ends before it begins' };
  const gap = unknown ?? toUnwatched(skipped);
  return {
    server,
    unknown: gap,
    since: toIso(sinceMs),
    until: toIso(untilMs),
    missed,
    left,
    undecided,
    checking: open,
    sentence: toSentence(skipped, gap),
    runs: runs.slice(0, maxRuns).map((run) => toText(run, { serverUrl, nowMs: untilMs })),
    runs_left_out: Math.max(0, runs.length - maxRuns),
  };
}

/** Explains why some skipped runs, or the runs after them, may be unknown. */
function toUnwatched({
  sinceMs,
  untilMs,
  watchedMs = untilMs,
  untimed,
  cut = 0,
  isUnread = false,
}: Skipped): string | null {
  const lateMs = Math.min(watchedMs, untilMs);
  const reasons = [
    lateMs > sinceMs ? `the schedules of the server have been watched only since ${toTime(lateMs, untilMs)}` : '',
    untimed > 0 ? `the scheduled times of ${toCount(untimed, 'job')} are not all known` : '',
    cut > 0 ? `of ${toCount(cut, 'job')}, only the latest skipped runs are known` : '',
    isUnread ? 'running executions are not known, so a later run may be in progress' : '',
  ].filter((reason) => reason !== '');
  return reasons.length === 0 ? null : reasons.join('; ');
}

const maxRuns = 500;

const nothing = {
  since: null,
  until: null,
  missed: 0,
  left: 0,
  undecided: 0,
  checking: 0,
  sentence: 'The skipped runs are unknown.',
  runs: [],
  runs_left_out: 0,
} as const;

/** Reports whether a run still has to be started by hand. Returns undefined if no run is known, but some are undecided. */
export function isAnyLeft({ since, unknown, left, undecided, checking }: SkippedStatus): boolean | undefined {
  if (since === null) return undefined;
  return left > 0 || (unknown === null && undecided + checking === 0 ? false : undefined);
}

export type SkippedSummary = Pick<SkippedStatus, 'missed' | 'left' | 'sentence'>;

export function toSkippedSummary(skipped: Skipped, unknown: string | null): SkippedSummary {
  const { missed, left } = skipped;
  return { missed, left, sentence: toSentence(skipped, unknown ?? toUnwatched(skipped)) };
}

function toSentence(
  { sinceMs, untilMs, missed, left, undecided, open, runs }: Skipped,
  unknown: string | null,
): string {
  const between = `from ${toTime(sinceMs, untilMs)} to ${toTime(untilMs, untilMs)}`;
  if (missed === 0 && unknown !== null) return `It is unknown whether a run was skipped ${between}.`;
  const others = [
    undecided === 0 ? '' : `; ${undecided} could not be decided`,
    open === 0 ? '' : `; ${open.toLocaleString('en')} still being checked`,
  ].join('');
  if (missed === 0) return `No scheduled run was skipped ${between}${others}.`;
  const going = runs.reduce((sum, { underWay, count }) => sum + (underWay === undefined ? 0 : count), 0);
  const rest = [
    left === 0 ? 'all recovered by later runs' : '',
    left > going ? `${(left - going).toLocaleString('en')} still to run by hand` : '',
    going > 0 ? `${going.toLocaleString('en')} followed by a run in progress` : '',
  ].filter((part) => part !== '');
  return `${toCount(missed, 'scheduled run')} skipped ${between}: ${rest.join(', ')}${others}.`;
}

function toText(run: SkippedRuns, { serverUrl, nowMs }: { serverUrl: string; nowMs: number }): SkippedText {
  const { job, jobId, isCritical, reason, facts, firstMs, lastMs, count, recovered, underWay, isGone = false } = run;
  const [fact] = facts;
  const project = encodeURIComponent(job.project.toWellFormed());
  return {
    ...job,
    critical: isCritical,
    reason,
    evidence: fact === undefined ? null : `${fact.fact} (seen ${toTime(fact.atMs, nowMs)})`,
    first: toIso(firstMs),
    last: toIso(lastMs),
    count,
    recovered:
      recovered === undefined
        ? null
        : {
            execution: recovered.id ?? null,
            at: toIso(recovered.startedAtMs),
            sentence: `recovered by ${recovered.id === undefined ? 'a run' : `#${recovered.id}`} at ${toTime(recovered.startedAtMs, nowMs)}`,
          },
    running:
      underWay === undefined
        ? null
        : {
            execution: underWay.id,
            at: toIso(underWay.startedAtMs),
            sentence: `#${underWay.id} has been running since ${toTime(underWay.startedAtMs, nowMs)}`,
          },
    url: isGone
      ? null
      : `${serverUrl.replace(/\/$/, '')}/project/${project}/job/show/${encodeURIComponent(jobId.toWellFormed())}`,
  };
}
