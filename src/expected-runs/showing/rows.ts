import type { Clock } from '../../domain/clock.ts';
import type { Row } from '../../metrics/family.ts';
import type { Contention } from '../deciding/hours-ahead.ts';
import type { Tallies, Tally } from '../deciding/tally.ts';
import { nextTime, type WatchedJob } from '../deciding/watched-job.ts';
import { scheduleFamilies as families } from './families.ts';

export type RowsInput = {
  readonly jobs: Iterable<WatchedJob>;
  readonly tallies: Iterable<Tally>;
  readonly nowMs: number;
  readonly isCritical: (job: WatchedJob) => boolean;
  readonly buckets: readonly number[];
  readonly hour: Contention;
  readonly day: Contention;
};

/** Builds the series of the schedule watch. A tally not shown before is shown as 0 first. */
export function toScheduleRows({ jobs, tallies, nowMs, buckets, hour, day, isCritical }: RowsInput): Row[] {
  const there = new Set<string>();
  const rows: Row[] = [];
  for (const job of jobs) {
    if (job.goneAtMs !== undefined) continue;
    there.add(job.project);
    there.add(toKey([job.project, job.group, job.name]));
    rows.push(...toJobRows(job, { nowMs, isCritical }));
  }
  for (const tally of tallies) if (isThere(tally, there)) rows.push(...toTallyRows(tally, buckets));
  return [
    ...rows,
    ...families.expectedRunning.rows(hour.most, { horizon: '1h' }),
    ...families.expectedRunning.rows(day.most, { horizon: '24h' }),
    ...families.expectedSaturation.rows(toSeconds(day.exceededMs)),
  ];
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

/** The series of a deleted job end; those of a project end with its last job. */
function isThere({ kind, labels }: Tally, there: ReadonlySet<string>): boolean {
  return there.has(kind === 'missed' ? toKey(labels.slice(0, 3)) : (labels[0] ?? ''));
}

function toKey(labels: readonly string[]): string {
  return JSON.stringify(labels);
}

function toTallyRows(
  { kind, labels, count, sumSeconds = 0, buckets: counts = [], isReleased }: Tally,
  bounds: readonly number[],
): Row[] {
  const [project = '', group = '', name = '', reason = ''] = labels;
  if (kind === 'missed') {
    return families.missed.rows(isReleased ? count : 0, { project, job_group: group, job_name: name, reason });
  }
  if (kind === 'undecided') return families.undecided.rows(isReleased ? count : 0, { project });
  const shown = isReleased ? { counts, sum: sumSeconds, count } : { counts: [], sum: 0, count: 0 };
  return families.delay.rows({ bounds, ...shown }, { project });
}

function toSeconds(ms: number | undefined): number | undefined {
  return ms === undefined ? undefined : ms / 1000;
}

/** Returns the tallies that have been shown as 0 for long enough. */
export function createTallyHold(
  holdMs: number,
  clock: Pick<Clock, 'awakeTicks'>,
): (tallies: Tallies) => readonly string[] {
  const shownSince = new Map<string, number>();
  return (tallies) => {
    const nowTicks = clock.awakeTicks();
    const due: string[] = [];
    for (const [key, { isReleased }] of tallies) {
      if (isReleased) continue;
      const since = shownSince.get(key);
      if (since === undefined) shownSince.set(key, nowTicks);
      else if (nowTicks - since >= holdMs) due.push(key);
    }
    for (const key of due) shownSince.delete(key);
    return due;
  };
}
