import { toDuration } from '../../domain/ages.ts';
import type { Judged, MissReason, Verdict } from './watched-job.ts';

export type HourOfTimes = {
  readonly startMs: number;
  /** The number of runs that started in time, and of runs that started late. */
  readonly ran: number;
  readonly late: number;
  readonly off: number;
  readonly undecided: number;
  readonly missed: Readonly<Partial<Record<MissReason, number>>>;
};

/** A run with a longer delay is late, as in the alert about late runs. */
export const lateMs = 300_000;

export function isLate(verdict: Verdict): boolean {
  return verdict.is === 'ran' && verdict.delayMs > lateMs;
}

/** Describes the delay of a run: `in time`, `in time, after 3 s` or `7 min late`. */
export function toDelay(verdict: Extract<Verdict, { is: 'ran' }>): string {
  const after = toDuration(verdict.delayMs);
  if (isLate(verdict)) return `${after} late`;
  return verdict.delayMs < 1000 ? 'in time' : `in time, after ${after}`;
}

/** Adds verdicts to their hours, in ascending order. Adds empty hours after the first known hour too. */
export function addToHours(hours: readonly HourOfTimes[], judged: readonly Judged[]): readonly HourOfTimes[] {
  const byStart = new Map(hours.map((hour) => [hour.startMs, hour]));
  for (const { verdicts } of judged) {
    for (const verdict of verdicts) {
      const startMs = toHour(verdict.expectedMs);
      byStart.set(startMs, addOne(byStart.get(startMs) ?? toEmpty(startMs), verdict));
    }
  }
  const lastMs = Math.max(...byStart.keys());
  const kept = [...byStart.values()].filter(({ startMs }) => startMs > lastMs - maxHours * hourMs);
  return kept.sort((one, other) => one.startMs - other.startMs);
}

/** Returns the hours up to now, oldest first; undefined for hours before the first known one. */
export function lastHours(
  hours: readonly HourOfTimes[],
  nowMs: number,
  count: number,
): readonly { readonly startMs: number; readonly known: HourOfTimes | undefined }[] {
  const [first] = hours;
  return Array.from({ length: count }, (_, index) => {
    const startMs = toHour(nowMs) - (count - 1 - index) * hourMs;
    const isKnown = first !== undefined && startMs >= first.startMs;
    const hour = hours.find((each) => each.startMs === startMs);
    return { startMs, known: hour ?? (isKnown ? toEmpty(startMs) : undefined) };
  });
}

export function toHour(atMs: number): number {
  return Math.floor(atMs / hourMs) * hourMs;
}

export const hourMs = 3_600_000;
/** The maximum number of hours: three days, as in the alerts about punctuality, and an hour more for times decided later. */
const maxHours = 73;

function toEmpty(startMs: number): HourOfTimes {
  return { startMs, ran: 0, late: 0, off: 0, undecided: 0, missed: {} };
}

function addOne(hour: HourOfTimes, verdict: Verdict): HourOfTimes {
  if (verdict.is === 'missed') {
    const { reason } = verdict;
    return { ...hour, missed: { ...hour.missed, [reason]: (hour.missed[reason] ?? 0) + 1 } };
  }
  if (verdict.is === 'undecided') return { ...hour, undecided: hour.undecided + (verdict.count ?? 1) };
  const field = isLate(verdict) ? 'late' : verdict.is;
  return { ...hour, [field]: hour[field] + 1 };
}
