import { toTime } from '../../domain/ages.ts';
import { toCapital, toCount, toList } from '../../domain/format.ts';
import { toJobPath } from '../../domain/job.ts';
import type { Blocker } from '../../expected-runs/deciding/blockers.ts';
import { type HourOfTimes, lateMs } from '../../expected-runs/deciding/hours.ts';
import type { MissReason, Verdict, WatchedJob } from '../../expected-runs/deciding/watched-job.ts';
import type { RisksAhead } from '../../expected-runs/risks/find-risks.ts';
import { scheduleLimits } from '../limits.ts';
import type { Trouble } from '../problem-kinds.ts';

const hour = 3_600_000;

export type ScheduleFacts = {
  readonly jobs: readonly WatchedJob[];
  readonly hours: readonly HourOfTimes[];
  /** The first time at which more runs are expected than there are threads; undefined if there is none. */
  readonly exceededMs: number | undefined;
  /** The runs at risk in the next hours; undefined if unknown. */
  readonly risks?: Pick<RisksAhead, 'runs' | 'atRisk' | 'nowMs'> | undefined;
  /** Findings if the server clock was set back: then the scheduler might start nothing. */
  readonly setBack: readonly Blocker[];
  readonly isCritical: (jobPath: string) => boolean;
  /** The maximum delay of a start. After the maximum delay, the expected time is decided. */
  readonly marginMs: number;
  readonly nowMs: number;
  /** The share of scheduled runs that must start in time. */
  readonly objective?: number;
};

export function findScheduleTroubles(facts: ScheduleFacts): readonly Trouble[] {
  const { exceededMs, nowMs, setBack } = facts;
  const jobs = facts.jobs.filter(({ goneAtMs }) => goneAtMs === undefined);
  const ahead: readonly Trouble[] =
    exceededMs === undefined
      ? []
      : [
          {
            kind: 'will_saturate',
            text: 'more runs than threads are expected',
            detail: `At ${toTime(exceededMs, nowMs)}`,
          },
        ];
  return [
    ...setBack.map(({ fact: { fact }, fix }): Trouble => ({ kind: 'clock', text: fact, detail: `Fix: ${fix}` })),
    ...findMisses(jobs, facts),
    ...findUnpunctual(facts),
    ...findLate(jobs, facts),
    ...findAtRisk(facts.risks),
    ...ahead,
    ...findOff(jobs, nowMs),
  ];
}

function findAtRisk(risks: ScheduleFacts['risks']): readonly Trouble[] {
  if (risks === undefined || risks.atRisk === 0) return [];
  const soon = risks.runs.filter(
    ({ isCritical, firstMs }) => isCritical && firstMs - risks.nowMs < scheduleLimits.soonMs,
  );
  const toReasons = (runs: RisksAhead['runs']): string =>
    toCapital(
      `${toList([...new Set(runs.flatMap(({ reasons }) => reasons))].map((reason) => reason.replaceAll('_', ' ')))}: ${toList([...new Set(runs.map(({ job }) => toJobPath(job)))])}`,
    );
  const critical: readonly Trouble[] =
    soon.length === 0
      ? []
      : [{ kind: 'critical_at_risk', text: 'runs of critical jobs are at risk', detail: toReasons(soon) }];
  const count = toCount(risks.atRisk, 'coming run');
  return [
    ...critical,
    { kind: 'at_risk', text: `${count} ${risks.atRisk === 1 ? 'is' : 'are'} at risk`, detail: toReasons(risks.runs) },
  ];
}

type Times = Pick<ScheduleFacts, 'nowMs' | 'marginMs'>;

function* verdictsOf({ verdicts }: WatchedJob, { nowMs, marginMs }: Times): Generator<Verdict> {
  const sinceMs = nowMs - scheduleLimits.windowMs - marginMs;
  for (const verdict of verdicts.toReversed()) {
    if (verdict.expectedMs < sinceMs) return;
    yield verdict;
  }
}

type Miss = { readonly reason: MissReason; readonly path: string };

function findMisses(jobs: readonly WatchedJob[], { isCritical, nowMs, marginMs }: ScheduleFacts): readonly Trouble[] {
  const sinceMs = nowMs - scheduleLimits.windowMs - marginMs;
  // Frequent jobs have more missed runs than stored verdicts.
  const misses = jobs.flatMap((job) =>
    (job.misses ?? []).flatMap(({ reason, timesMs }): Miss[] =>
      timesMs.filter((time) => time >= sinceMs).map(() => ({ reason, path: toJobPath(job) })),
    ),
  );
  const orphaned = misses.filter(({ reason }) => reason === 'orphaned');
  const others = misses.filter(({ reason }) => reason !== 'orphaned');
  return [
    ...toMissed('owner_gone', orphaned, 'of a cluster member that did not respond'),
    ...toMissed(
      'critical_missed',
      others.filter(({ path }) => isCritical(path)),
      'of critical jobs',
    ),
    ...toMissed(
      'missed',
      others.filter(({ path }) => !isCritical(path)),
      '',
    ),
  ];
}

function toMissed(kind: Trouble['kind'], misses: readonly Miss[], of: string): readonly Trouble[] {
  if (misses.length === 0) return [];
  const reasons = [...new Set(misses.map(({ reason }) => reason.replaceAll('_', ' ')))];
  const what = `scheduled run${misses.length === 1 ? '' : 's'}`;
  const text = `${misses.length.toLocaleString('en')} ${what}${of === '' ? '' : ` ${of}`} ${misses.length === 1 ? 'was' : 'were'} missed`;
  const detail = `Cause: ${reasons.join(', ')}; ${toList([...new Set(misses.map(({ path }) => path))])}`;
  return [{ kind, text, detail }];
}

/** Returns a problem if too many scheduled times of some hours have no run in time. */
function findUnpunctual({ hours, nowMs, objective = scheduleLimits.objective }: ScheduleFacts): readonly Trouble[] {
  const burn = scheduleLimits.burns.find(({ shortMs, longMs, factor }) => {
    const limit = factor * (1 - objective);
    const long = toShare(hours, nowMs - longMs);
    return long.bad >= scheduleLimits.burnTimes && long.share > limit && toShare(hours, nowMs - shortMs).share > limit;
  });
  if (burn === undefined) return [];
  const { bad, share } = toShare(hours, nowMs - burn.longMs);
  const detail = `${toCount(bad, 'start')} late or missing in the last ${burn.longMs / hour} h`;
  return [
    { kind: 'unpunctual', text: `${Math.ceil(share * 100)} % of the scheduled runs are late or missing`, detail },
  ];
}

/** Returns the share of bad starts in the hours that end after a time. */
function toShare(hours: readonly HourOfTimes[], sinceMs: number): { readonly bad: number; readonly share: number } {
  let [bad, all] = [0, 0];
  for (const { startMs, ran, late, missed } of hours) {
    if (startMs + hour <= sinceMs) continue;
    const wrong = late + Object.values(missed).reduce((sum, count) => sum + count, 0);
    bad += wrong;
    all += ran + wrong;
  }
  return { bad, share: all === 0 ? 0 : bad / all };
}

function findLate(jobs: readonly WatchedJob[], times: Times): readonly Trouble[] {
  const late = [...Map.groupBy(jobs, ({ project }) => project)].filter(([, ofProject]) => {
    const ran = ofProject.flatMap((job) => [...verdictsOf(job, times)].filter((verdict) => verdict.is === 'ran'));
    return ran.filter(({ delayMs }) => delayMs > lateMs).length > scheduleLimits.lateRatio * ran.length;
  });
  if (late.length === 0) return [];
  return [
    { kind: 'starts_late', text: 'scheduled runs start late', detail: `In ${toList(late.map(([name]) => name))}` },
  ];
}

function findOff(jobs: readonly WatchedJob[], nowMs: number): readonly Trouble[] {
  const long = jobs.filter(({ off }) =>
    off.some(({ untilMs, sinceMs }) => untilMs === undefined && nowMs - sinceMs > scheduleLimits.offMs),
  );
  if (long.length === 0) return [];
  const text = `${toCount(long.length, 'scheduled job')} ${long.length === 1 ? 'has' : 'have'} been off for a week`;
  return [{ kind: 'off_long', text, detail: toList(long.map(toJobPath)) }];
}
