import { toNativePart } from '../../domain/durations/stored-histogram.ts';
import { type Row, since } from '../../metrics/family.ts';
import type { Contention } from '../deciding/hours-ahead.ts';
import { type Tally, toTallyKey } from '../deciding/tally.ts';
import { nextTime, type WatchedJob } from '../deciding/watched-job.ts';
import type { RisksAhead } from '../risks/find-risks.ts';
import type { FailingJobs } from '../risks/risk.ts';
import { scheduleFamilies as families } from './families.ts';

type RowsInput = {
  readonly jobs: Iterable<WatchedJob>;
  readonly tallies: Iterable<Tally>;
  readonly nowMs: number;
  readonly isCritical: (job: WatchedJob) => boolean;
  readonly buckets: readonly number[];
  readonly hour: Contention;
  readonly day: Contention;
};

/** Builds the series of the schedule watch. A new tally is published as 0 first. */
export function toScheduleRows({ jobs, tallies, nowMs, buckets, hour, day, isCritical }: RowsInput): Row[] {
  const present = [...jobs].filter(({ goneAtMs }) => goneAtMs === undefined);
  return [
    ...present.flatMap((job) => toJobRows(job, { nowMs, isCritical })),
    ...listShown(present, tallies).flatMap((tally) => toTallyRows(tally, buckets)),
    ...families.expectedRunning.rows(hour.most, { horizon: '1h' }),
    ...families.expectedRunning.rows(day.most, { horizon: '24h' }),
    ...families.expectedSaturation.rows(toSeconds(day.exceededMs)),
  ];
}

export function toRiskRows(risks: Readonly<Record<string, RisksAhead>>, nextHorizon: string): Row[] {
  const byHorizon = Object.entries(risks).flatMap(([horizon, { byReason }]) =>
    [...byReason].flatMap(([reason, count]) => families.atRisk.rows(count, { reason, horizon })),
  );
  const next = (risks[nextHorizon]?.runs ?? []).filter(({ isNext }) => isNext);
  const ofJobs = next.flatMap(({ job: { project, group, name }, reasons }) =>
    reasons.flatMap((reason) => families.nextAtRisk.rows(1, { project, job_group: group, job_name: name, reason })),
  );
  return [...byHorizon, ...ofJobs];
}

export function toNodeRows(failing: FailingJobs): Row[] {
  return [...failing].flatMap(([node, jobs]) => families.failingOnNode.rows(jobs.length, { node }));
}

function toJobRows(job: WatchedJob, { nowMs, isCritical }: Pick<RowsInput, 'nowMs' | 'isCritical'>): Row[] {
  const labels = { project: job.project, job_group: job.group, job_name: job.name };
  return [
    ...families.nextRun.rows(toSeconds(nextTime(job, nowMs)), labels),
    ...families.critical.rows(isCritical(job) ? 1 : undefined, labels),
    ...families.lastMissed.rows(toSeconds(job.lastMissedMs), labels),
    ...job.off.flatMap(({ what, sinceMs, untilMs }) =>
      untilMs === undefined ? families.disabledSince.rows(toSeconds(sinceMs), { ...labels, what }) : [],
    ),
  ];
}

/** Lists the keys of tallies that are still published as 0. */
export function listHeld({ jobs, tallies, omits }: HeldInput): string[] {
  const held = listShown(jobs, tallies).filter(({ isReleased }) => !isReleased);
  return held.filter((tally) => !toTallyRows(tally, []).some(omits)).map(toTallyKey);
}

type HeldInput = Pick<RowsInput, 'jobs' | 'tallies'> & { readonly omits: (row: Row) => boolean };

function listShown(jobs: Iterable<WatchedJob>, tallies: Iterable<Tally>): Tally[] {
  const there = new Set<string>();
  for (const { project, group, name, goneAtMs } of jobs)
    if (goneAtMs === undefined) there.add(project).add(toKey([project, group, name]));
  return [...tallies].filter((tally) => isThere(tally, there));
}

/** Reports whether a tally has a series. Series of a job end with the job, and series of a project with its last job. */
function isThere({ kind, labels }: Tally, there: ReadonlySet<string>): boolean {
  return there.has(kind === 'missed' ? toKey(labels.slice(0, 3)) : (labels[0] ?? ''));
}

function toKey(labels: readonly string[]): string {
  return JSON.stringify(labels);
}

function toTallyRows(tally: Tally, bounds: readonly number[]): Row[] {
  const { kind, labels, count, sumSeconds = 0, buckets: counts = [], isReleased, startSeconds } = tally;
  const [project = '', group = '', name = '', reason = ''] = labels;
  if (kind === 'missed') {
    const job = { project, job_group: group, job_name: name };
    return since(startSeconds, families.missed.rows(isReleased ? count : 0, { ...job, reason }));
  }
  if (kind === 'undecided') return since(startSeconds, families.undecided.rows(isReleased ? count : 0, { project }));
  const native = toNativePart(isReleased ? tally : { count: 0 });
  const shown = isReleased ? { counts, sum: sumSeconds, count } : { counts: [], sum: 0, count: 0 };
  return families.delay.rows({ bounds, ...shown, native, startSeconds }, { project });
}

function toSeconds(ms: number | undefined): number | undefined {
  return ms === undefined ? undefined : ms / 1000;
}
