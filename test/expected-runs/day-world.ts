import { createDice, type Dice } from '../world/dice.ts';
import { origins, type Rule, timeAfter, timesWithin, toQuietRules } from './day-schedules.ts';

export const minuteMs = 60_000;
export const hourMs = 60 * minuteMs;
export const marginMs = 10 * minuteMs;

/** A time span; its end is not included. */
export type Span = { readonly fromMs: number; readonly untilMs: number };

/** A job. The member of a job dates its schedule and runs; the first member dates everything else. */
export type DayJob = {
  readonly id: string;
  readonly rule: Rule;
  readonly durationMs: number;
  readonly ownerUuid: 'm1' | 'm2';
  /** An edit that changes the schedule at a given time. */
  readonly edit?: { readonly atMs: number; readonly to: Rule };
  readonly off?: Span;
};

/** What truly happened at a scheduled time. */
export type TrueEnd =
  | { readonly is: 'ran'; readonly delayMs: number }
  | { readonly is: 'missed'; readonly reason: string }
  | { readonly is: 'off' };

/** What started a run; `missed` is a run that the server itself recorded as missed. */
type Trigger = 'schedule' | 'person' | 'retry' | 'one-time' | 'missed';

export type DayRun = {
  readonly id: number;
  readonly jobId: string;
  readonly startedAtMs: number;
  readonly endedAtMs: number;
  readonly trigger: Trigger;
};

export type Day = {
  readonly originMs: number;
  /** The length of the day; in the last hour, open decisions end. */
  readonly lengthMs: number;
  readonly jobs: readonly DayJob[];
  readonly down: Span | undefined;
  readonly passive: Span | undefined;
  readonly project: (Span & { readonly mode: 'executions_disabled' | 'schedule_disabled' | 'disabled' }) | undefined;
  readonly deadMember: Span | undefined;
  readonly full: Span | undefined;
  /** The time in which the server stops and starts again, between two readings. */
  readonly restart: Span | undefined;
  /** The time without an exporter. */
  readonly absence: Span | undefined;
  readonly tellsEdits: boolean;
  /** The time by which the clock of the second member is ahead of that of the first. */
  readonly aheadMs: number;
  readonly truth: ReadonlyMap<string, ReadonlyMap<number, TrueEnd>>;
  readonly runs: readonly DayRun[];
};

export function isIn(span: Span | undefined, atMs: number): boolean {
  return span !== undefined && atMs >= span.fromMs && atMs < span.untilMs;
}

/** The time by which the clock of the member that runs a job is ahead. */
export function aheadOf({ aheadMs }: Pick<Day, 'aheadMs'>, { ownerUuid }: DayJob): number {
  return ownerUuid === 'm2' ? aheadMs : 0;
}

/** The schedule of a job at a time. */
export function ruleAt({ rule, edit }: DayJob, atMs: number): Rule {
  return edit !== undefined && atMs >= edit.atMs ? edit.to : rule;
}

/** The maximum delay of a run that still belongs to a scheduled time. */
export function marginOf({ originMs, aheadMs }: Pick<Day, 'originMs' | 'aheadMs'>, job: DayJob, time: number): number {
  const rule = ruleAt(job, time - aheadOf({ aheadMs }, job));
  return Math.min(marginMs, (timeAfter(rule, originMs, time) - time) / 2);
}

/** Draws a day of a service and its true events. */
export function createDay(seed: number): Day {
  const dice = createDice(seed);
  // Every possible event must occur within a few days.
  const isLong = seed % 4 === 1;
  const share = (turn: number): number => (seed % 4 === turn ? 1 : 0.2);
  const calm: Calm = {
    originMs: dice.pick(origins),
    lengthMs: (isLong ? 49 : 25) * hourMs,
    down: maybe(dice, share(0), () => toSpan(dice, 5, 90)),
    passive: maybe(dice, share(1), () => toSpan(dice, 5, 300)),
    project: maybe(dice, share(2), () => ({
      ...toSpan(dice, 5, 200),
      mode: (['executions_disabled', 'schedule_disabled', 'disabled'] as const)[Math.floor(seed / 4) % 3] ?? 'disabled',
    })),
    deadMember: maybe(dice, share(3), () => toSpan(dice, 40, 300)),
    full: maybe(dice, share(0), () => toSpan(dice, 25, 120)),
    restart: undefined,
    absence: isLong ? toSpan(dice, 480, 1500) : maybe(dice, 0.3, () => toSpan(dice, 1, dice.chance(0.3) ? 360 : 10)),
    tellsEdits: Math.floor(seed / 4) % 2 === 0,
    aheadMs: seed % 3 === 0 ? dice.between(30, 50) * dice.pick([-1000, 1000]) : 0,
  };
  const jobs = createJobs(dice, calm, isLong);
  // The span begins between two readings, which are 15 s apart.
  const chosen = jobs[dice.between(1, jobs.length - 1)] ?? jobs[0];
  const times =
    chosen === undefined ? [] : timesWithin(chosen.rule, calm.originMs, { fromMs: hourMs, toMs: 20 * hourMs });
  const starts = times
    .map((time) => time - (chosen === undefined ? 0 : aheadOf(calm, chosen)) - 1000)
    .filter((atMs) => atMs % 15_000 < 10_000);
  const fromMs = dice.chance(0.7) ? starts[Math.floor(dice.next() * Math.min(10, starts.length))] : undefined;
  const restart = fromMs === undefined ? undefined : { fromMs, untilMs: fromMs + 5000 };
  return play(dice, { ...calm, restart }, jobs);
}

type Calm = Omit<Day, 'jobs' | 'truth' | 'runs'>;

function createJobs(dice: Dice, { absence, aheadMs }: Calm, isLong: boolean): DayJob[] {
  const cadences = [10_000, minuteMs, 5 * minuteMs, 15 * minuteMs, hourMs, 3 * hourMs];
  // The dense schedule takes most of the time of a test.
  const grids = cadences.slice(!isLong && dice.chance(0.1) ? 0 : 1).map((everyMs) => {
    // Scheduled times differ from the times of readings.
    const offsetMs = everyMs < minuteMs ? 1700 : 1700 + 15_000 * Math.floor((dice.next() * everyMs) / 15_000);
    return { rule: { everyMs, offsetMs }, edited: { everyMs, offsetMs: offsetMs + Math.floor(everyMs / 3) } };
  });
  return [...grids, ...Array.from({ length: 3 }, () => toQuietRules(dice))].map(({ rule, edited }, index) => {
    const { everyMs } = rule;
    const isLasting = dice.chance(0.3);
    const durationMs = isLasting
      ? everyMs * (1.2 + dice.next())
      : Math.min(everyMs * 0.5, 1000 + dice.next() * 120_000);
    const isEdited = index > 1 && dice.chance(0.2);
    const { fromMs, untilMs } = isLong && absence !== undefined ? absence : toSpan(dice, 1, 2);
    const editMs = dice.between(fromMs, Math.floor(untilMs));
    return {
      id: `j${index}`,
      rule,
      durationMs: Math.floor(durationMs),
      ownerUuid: (index === 0 && aheadMs !== 0) || dice.chance(0.5) ? 'm2' : 'm1',
      ...(isEdited ? { edit: { atMs: editMs, to: edited } } : {}),
      ...(!isEdited && dice.chance(0.3) ? { off: toSpan(dice, 30, 300) } : {}),
    };
  });
}

/** Starts scheduled runs as the service does, and records why a run did not start. */
function play(dice: Dice, calm: Calm, jobs: readonly DayJob[]): Day {
  const truth = new Map<string, Map<number, TrueEnd>>();
  const runs: DayRun[] = [];
  let id = 1;
  for (const job of jobs) {
    const ends = new Map<number, TrueEnd>();
    truth.set(job.id, ends);
    let runsUntilMs = 0;
    const start = (startedAtMs: number, trigger: Trigger, durationMs = job.durationMs): void => {
      runs.push({ id: id++, jobId: job.id, startedAtMs, endedAtMs: startedAtMs + durationMs, trigger });
    };
    for (const time of trueTimes(calm, job)) {
      const reason = findReason(calm, job, time) ?? findLater(calm, runsUntilMs > time, time - aheadOf(calm, job));
      if (reason === 'off') ends.set(time, { is: 'off' });
      else if (reason !== undefined) ends.set(time, { is: 'missed', reason });
      else if (dice.chance(0.02)) {
        ends.set(time, { is: 'missed', reason: 'unknown' });
        // The server also records a missed run, or another trigger starts the job.
        const also = dice.pick(['nothing', 'missed', 'person', 'retry', 'one-time'] as const);
        if (also === 'missed') start(time, also, 0);
        else if (also !== 'nothing') start(time + 2000, also, 1000);
      } else {
        const longest = marginOf(calm, job, time) * 0.9;
        const delayMs = Math.floor(dice.chance(0.05) ? dice.next() * longest : dice.next() * Math.min(3000, longest));
        ends.set(time, { is: 'ran', delayMs });
        start(time + delayMs, 'schedule');
        runsUntilMs = time + delayMs + job.durationMs;
        // A retry does not count as a run of the schedule.
        if (dice.chance(0.02)) {
          start(runsUntilMs, 'retry', 100);
          runsUntilMs += 100;
        }
      }
    }
  }
  const endOf = ({ endedAtMs, jobId }: DayRun): number => {
    const job = jobs.find(({ id: own }) => own === jobId);
    return endedAtMs - (job === undefined ? 0 : aheadOf(calm, job));
  };
  return { ...calm, jobs, truth, runs: runs.sort((one, other) => endOf(one) - endOf(other)) };
}

function findLater(calm: Calm, isRunning: boolean, atMs: number): string | undefined {
  if (isRunning) return 'overlap';
  if (isIn(calm.full, atMs)) return 'saturated';
  return isIn(calm.restart, atMs) ? 'restart' : undefined;
}

function trueTimes(calm: Calm, job: DayJob): number[] {
  const { originMs, lengthMs } = calm;
  const editMs = (job.edit?.atMs ?? lengthMs) + aheadOf(calm, job);
  return [
    ...timesWithin(job.rule, originMs, { fromMs: 0, toMs: Math.min(editMs, lengthMs) }),
    ...(job.edit === undefined ? [] : timesWithin(job.edit.to, originMs, { fromMs: editMs, toMs: lengthMs })),
  ];
}

function findReason(calm: Calm, job: DayJob, time: number): string | undefined {
  const { off } = job;
  const atMs = time - aheadOf(calm, job);
  const isOff = off !== undefined && isIn(off, atMs);
  if (isOff && atMs - off.fromMs >= marginOf(calm, job, time)) return 'off';
  if (isIn(calm.down, atMs)) return 'down';
  if (isIn(calm.passive, atMs)) return 'passive';
  if (isIn(calm.project, atMs)) return toProjectReason(calm);
  if (isOff) return 'job_disabled';
  return isIn(calm.deadMember, atMs) && job.ownerUuid === 'm2' ? 'orphaned' : undefined;
}

function toProjectReason({ project }: Calm): string {
  return project?.mode === 'schedule_disabled' ? 'schedule_disabled' : 'executions_disabled';
}

/** Returns a span of some minutes within the day. */
function toSpan(dice: Dice, minMinutes: number, maxMinutes: number): Span {
  const lastsMs = (minMinutes + dice.next() * (maxMinutes - minMinutes)) * minuteMs;
  const fromMs = Math.floor(hourMs + dice.next() * 16 * hourMs);
  return { fromMs, untilMs: Math.floor(fromMs + lastsMs) };
}

function maybe<Value>(dice: Dice, probability: number, make: () => Value): Value | undefined {
  return dice.chance(probability) ? make() : undefined;
}
