/** A plain cadence: every so often, shifted by an offset, in UTC. */
export type Schedule = {
  readonly everyMs: number;
  readonly offsetMs: number;
};

/** More speed means more runs, never times in the future. */
export function accelerate(schedule: Schedule, speed: number): Schedule {
  return { everyMs: Math.max(1000, Math.round(schedule.everyMs / speed)), offsetMs: schedule.offsetMs };
}

/** The first time strictly after `afterMs`. */
export function nextTime(schedule: Schedule, afterMs: number): number {
  const { everyMs, offsetMs } = schedule;
  return (Math.floor((afterMs - offsetMs) / everyMs) + 1) * everyMs + offsetMs;
}

export function timesBetween(schedule: Schedule, fromMs: number, toMs: number, limit: number): number[] {
  const times: number[] = [];
  for (let time = nextTime(schedule, fromMs); time <= toMs && times.length < limit; time += schedule.everyMs) {
    times.push(time);
  }
  return times;
}
