import { type Cron, nextCronTime } from './cron.ts';

/** A plain cadence: every so often, shifted by an offset, in UTC. */
export type Cadence = {
  readonly everyMs: number;
  readonly offsetMs: number;
};

export type Schedule = Cadence | Cron;

/** More speed means more runs, never times in the future; what follows a calendar keeps to it. */
export function accelerate(schedule: Schedule, speed: number): Schedule {
  if ('cron' in schedule) {
    return schedule;
  }
  return { everyMs: Math.max(1000, Math.round(schedule.everyMs / speed)), offsetMs: schedule.offsetMs };
}

/** The first time strictly after `afterMs`. */
export function nextTime(schedule: Schedule, afterMs: number): number {
  if ('cron' in schedule) {
    return nextCronTime(schedule, afterMs);
  }
  const { everyMs, offsetMs } = schedule;
  return (Math.floor((afterMs - offsetMs) / everyMs) + 1) * everyMs + offsetMs;
}

export function timesBetween(schedule: Schedule, fromMs: number, toMs: number, limit: number): number[] {
  const times: number[] = [];
  for (let time = nextTime(schedule, fromMs); time <= toMs && times.length < limit; time = nextTime(schedule, time)) {
    times.push(time);
  }
  return times;
}
