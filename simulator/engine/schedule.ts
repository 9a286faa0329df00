import { type Cron, countCronTimes, nextCronTime } from './cron.ts';

/** A plain cadence: every so often, shifted by an offset, in UTC; from a time on, if it has one. */
export type Cadence = {
  readonly everyMs: number;
  readonly offsetMs: number;
  readonly fromMs?: number;
};

export type Schedule = Cadence | Cron;

/** More speed means more runs, never times in the future; what follows a calendar keeps to it. */
export function accelerate(schedule: Schedule, speed: number): Schedule {
  if ('cron' in schedule) return schedule;
  return { ...schedule, everyMs: Math.max(1000, Math.round(schedule.everyMs / speed)) };
}

/** The first time strictly after `afterMs`. */
export function nextTime(schedule: Schedule, afterMs: number): number {
  if ('cron' in schedule) return nextCronTime(schedule, afterMs);
  const { everyMs, offsetMs, fromMs = 0 } = schedule;
  return (Math.floor((Math.max(afterMs, fromMs - 1) - offsetMs) / everyMs) + 1) * everyMs + offsetMs;
}

export function timesBetween(schedule: Schedule, fromMs: number, toMs: number, limit: number): number[] {
  const times: number[] = [];
  for (let time = nextTime(schedule, fromMs); time <= toMs && times.length < limit; time = nextTime(schedule, time)) {
    times.push(time);
  }
  return times;
}

/** The number of times after `fromMs` up to `toMs`, which may be millions. */
export function countBetween(schedule: Schedule, fromMs: number, toMs: number): number {
  if ('cron' in schedule) return countCronTimes(schedule, fromMs, toMs);
  const firstMs = nextTime(schedule, fromMs);
  return firstMs > toMs ? 0 : Math.floor((toMs - firstMs) / schedule.everyMs) + 1;
}
