import type { SeenRun } from '../../src/expected-runs/deciding/watched-job.ts';
import { createDice, type Dice } from '../world/dice.ts';

export const minuteMs = 60_000;
export const hourMs = 60 * minuteMs;
/** The day begins at midnight; the last hour is for what is still open. */
export const dayMs = 25 * hourMs;
export const marginMs = 10 * minuteMs;

/** A time during which something holds; its end does not belong to it. */
export type Span = { readonly fromMs: number; readonly untilMs: number };

export type DayJob = {
  readonly id: string;
  readonly everyMs: number;
  readonly offsetMs: number;
  readonly durationMs: number;
  readonly ownerUuid: string;
  /** Somebody moves its schedule by this much at that time. */
  readonly edit?: { readonly atMs: number; readonly byMs: number };
  readonly off?: Span;
};

/** What truly became of a time at which a schedule was to start something. */
export type TrueEnd =
  | { readonly is: 'ran'; readonly delayMs: number }
  | { readonly is: 'missed'; readonly reason: string }
  | { readonly is: 'off' };

export type Day = {
  readonly jobs: readonly DayJob[];
  readonly down: Span | undefined;
  readonly passive: Span | undefined;
  readonly project: (Span & { readonly mode: 'executions_disabled' | 'schedule_disabled' | 'disabled' }) | undefined;
  readonly deadMember: Span | undefined;
  readonly full: Span | undefined;
  /** It stops and starts between two readings. */
  readonly restart: Span | undefined;
  /** We are not there. */
  readonly absence: Span | undefined;
  readonly tellsEdits: boolean;
  readonly truth: ReadonlyMap<string, ReadonlyMap<number, TrueEnd>>;
  readonly runs: readonly (Required<SeenRun> & { readonly jobId: string })[];
};

export function isIn(span: Span | undefined, atMs: number): boolean {
  return span !== undefined && atMs >= span.fromMs && atMs < span.untilMs;
}

/** The times of a job's schedule in a window, as it stands at `atMs`; the start does not belong to it. */
export function timesOf(job: DayJob, atMs: number, fromMs: number, toMs: number): number[] {
  const moved = job.edit !== undefined && atMs >= job.edit.atMs ? job.edit.byMs : 0;
  const offset = job.offsetMs + moved;
  const times: number[] = [];
  for (
    let time = (Math.floor((fromMs - offset) / job.everyMs) + 1) * job.everyMs + offset;
    time <= toMs;
    time += job.everyMs
  )
    times.push(time);
  return times;
}

/** A day of a service, with what truly happened. */
export function createDay(seed: number): Day {
  const dice = createDice(seed);
  const calm: Calm = {
    down: maybe(dice, 0.25, () => toSpan(dice, 5, 90)),
    passive: maybe(dice, 0.25, () => toSpan(dice, 5, 300)),
    project: maybe(dice, 0.25, () => ({
      ...toSpan(dice, 5, 200),
      mode: dice.pick(['executions_disabled', 'schedule_disabled', 'disabled'] as const),
    })),
    deadMember: maybe(dice, 0.25, () => toSpan(dice, 40, 300)),
    full: maybe(dice, 0.25, () => toSpan(dice, 25, 120)),
    restart: undefined,
    absence: maybe(dice, 0.3, () => toSpan(dice, 1, dice.chance(0.3) ? 360 : 10)),
    tellsEdits: dice.chance(0.5),
  };
  const jobs = createJobs(dice);
  const chosen = jobs[1 + Math.floor(dice.next() * (jobs.length - 1))] ?? jobs[0];
  const restartTime =
    chosen && dice.chance(0.4) ? timesOf(chosen, 0, hourMs, 20 * hourMs)[Math.floor(dice.next() * 10)] : undefined;
  // Readings come every 15 s, and this falls between two of them.
  const restart = restartTime === undefined ? undefined : { fromMs: restartTime - 1000, untilMs: restartTime + 4000 };
  return play(dice, { ...calm, restart }, jobs);
}

type Calm = Omit<Day, 'jobs' | 'truth' | 'runs'>;

function createJobs(dice: Dice): DayJob[] {
  const cadences = [10_000, minuteMs, 5 * minuteMs, 15 * minuteMs, hourMs, 3 * hourMs];
  // Most of the time is spent on the dense one.
  return cadences.slice(dice.chance(0.1) ? 0 : 1).map((everyMs, index) => {
    const isLong = dice.chance(0.3);
    const durationMs = isLong ? everyMs * (1.2 + dice.next()) : Math.min(everyMs * 0.5, 1000 + dice.next() * 120_000);
    // No time lies on a reading.
    const offsetMs = index === 0 ? 1700 : 1700 + 15_000 * Math.floor((dice.next() * everyMs) / 15_000);
    const isEdited = index > 1 && dice.chance(0.1);
    return {
      id: `j${index}`,
      everyMs,
      offsetMs,
      durationMs: Math.floor(durationMs),
      ownerUuid: dice.chance(0.5) ? 'm1' : 'm2',
      ...(isEdited ? { edit: { atMs: toSpan(dice, 1, 2).fromMs, byMs: Math.floor(everyMs / 3) } } : {}),
      ...(!isEdited && dice.chance(0.15) ? { off: toSpan(dice, 30, 300) } : {}),
    };
  });
}

/** Starts what the schedules ask for, as the service does, and writes down why it does not. */
function play(dice: Dice, calm: Calm, jobs: readonly DayJob[]): Day {
  const truth = new Map<string, Map<number, TrueEnd>>();
  const runs: (Required<SeenRun> & { jobId: string })[] = [];
  let id = 1;
  for (const job of jobs) {
    const ends = new Map<number, TrueEnd>();
    truth.set(job.id, ends);
    let runsUntilMs = 0;
    const start = (startedAtMs: number, kind: SeenRun['kind'], durationMs = job.durationMs): void => {
      runs.push({ id: id++, jobId: job.id, startedAtMs, endedAtMs: startedAtMs + durationMs, kind });
    };
    for (const time of trueTimes(job)) {
      const reason = findReason(calm, job, time) ?? findLater(calm, runsUntilMs > time, time);
      if (reason === 'off') ends.set(time, { is: 'off' });
      else if (reason !== undefined) ends.set(time, { is: 'missed', reason });
      else if (dice.chance(0.01)) {
        ends.set(time, { is: 'missed', reason: 'unknown' });
        // The server's own word, or somebody who starts it by hand just then.
        const also = dice.pick(['nothing', 'missed', 'other'] as const);
        if (also === 'missed') start(time, also, 0);
        if (also === 'other') start(time + 2000, also, 1000);
      } else {
        const longest = Math.min(marginMs, job.everyMs / 2) * 0.9;
        const delayMs = Math.floor(dice.chance(0.05) ? dice.next() * longest : dice.next() * Math.min(3000, longest));
        ends.set(time, { is: 'ran', delayMs });
        start(time + delayMs, 'scheduled');
        runsUntilMs = time + delayMs + job.durationMs;
        // A further attempt is no run of its own.
        if (dice.chance(0.02)) {
          start(runsUntilMs, 'other', 100);
          runsUntilMs += 100;
        }
      }
    }
  }
  return { ...calm, jobs, truth, runs: runs.sort((one, other) => one.endedAtMs - other.endedAtMs) };
}

function findLater(calm: Calm, isRunning: boolean, time: number): string | undefined {
  if (isRunning) return 'overlap';
  if (isIn(calm.full, time)) return 'saturated';
  return isIn(calm.restart, time) ? 'restart' : undefined;
}

function trueTimes(job: DayJob): number[] {
  const editMs = job.edit?.atMs ?? dayMs;
  return [
    ...timesOf(job, 0, 0, Math.min(editMs, dayMs)),
    ...(job.edit === undefined ? [] : timesOf(job, editMs, editMs, dayMs)),
  ];
}

function findReason(calm: Calm, job: DayJob, time: number): string | undefined {
  const { off } = job;
  const isOff = off !== undefined && isIn(off, time);
  if (isOff && time - off.fromMs >= Math.min(marginMs, job.everyMs / 2)) return 'off';
  if (isIn(calm.down, time)) return 'down';
  if (isIn(calm.passive, time)) return 'passive';
  if (isIn(calm.project, time)) return toProjectReason(calm);
  if (isOff) return 'job_disabled';
  return isIn(calm.deadMember, time) && job.ownerUuid === 'm2' ? 'orphaned' : undefined;
}

function toProjectReason({ project }: Calm): string {
  return project?.mode === 'schedule_disabled' ? 'schedule_disabled' : 'executions_disabled';
}

/** A span in the day, as long as that many minutes. */
function toSpan(dice: Dice, leastMinutes: number, mostMinutes: number): Span {
  const lastsMs = (leastMinutes + dice.next() * (mostMinutes - leastMinutes)) * minuteMs;
  const fromMs = Math.floor(hourMs + dice.next() * 16 * hourMs);
  return { fromMs, untilMs: Math.floor(fromMs + lastsMs) };
}

function maybe<Value>(dice: Dice, probability: number, make: () => Value): Value | undefined {
  return dice.chance(probability) ? make() : undefined;
}
