import { parse } from 'node-cron';
import { type Cancel, type Clock, sleep } from '../domain/clock.ts';
import { findNextMs, type TimesOfDay, toCronExpression } from '../domain/interval.ts';
import type { Log } from '../domain/log.ts';
import type { Outcome, PollKey } from './outcome.ts';
import type { LastPoll, Poll } from './poll.ts';
import { isAway, type Seen, type Vitality } from './vitality.ts';

export type ScheduledPoll = {
  readonly key: PollKey;
  readonly vital: boolean;
  readonly everyMs: number;
  readonly poll: Poll;
  /** The vitality of the address, which all its polls share, so that the polls run again when the server is back. */
  readonly vitality: Pick<Vitality, 'seen' | 'onBack'>;
};

export type PollStatus = Pick<ScheduledPoll, 'key' | 'vital' | 'everyMs'> & {
  readonly last: LastPoll | undefined;
  /** The time since which the polls have had the same result. */
  readonly sinceMs: number | undefined;
  readonly nextRunAtMs: number | undefined;
  readonly isUnderWay: boolean;
};

type SchedulerOptions = {
  log: Log;
  clock: Pick<Clock, 'now' | 'ticks' | 'after' | 'random'>;
  toPollTimes?: typeof createPollTimes | undefined;
};

/** Runs all polls until it is stopped: each poll at its scheduled times, and sooner after an error. */
export function createScheduler(polls: readonly ScheduledPoll[], options: SchedulerOptions) {
  const { clock, toPollTimes = createPollTimes } = options;
  const ending = new AbortController();
  const lines = polls.map((scheduled) => ({ scheduled, ...createRunner(scheduled, options, ending.signal) }));
  let areHeld = true;
  const held = new Set<() => void>();
  const times = toPollTimes(
    lines.map(({ scheduled: { vital }, entry }) => ({
      ...entry,
      run: () => {
        if (vital || !areHeld) entry.run();
        else held.add(entry.run);
      },
    })),
    clock,
  );

  /** Vital polls get the whole budget first, so that executions are visible soon. */
  async function startOthers(): Promise<void> {
    const ended = Promise.all(lines.flatMap(({ underWay }) => underWay() ?? []));
    await Promise.race([ended, sleep(clock, vitalFirstMs, ending.signal)]).catch(() => undefined);
    areHeld = false;
    if (!ending.signal.aborted) for (const run of held) run();
  }

  /** Repeats the polls that failed while the server was down, the most frequent polls first. */
  function recover(vitality: ScheduledPoll['vitality'], { sinceMs }: Seen): void {
    const concerned = lines.filter(({ scheduled }) => scheduled.vitality === vitality);
    const failed = concerned.filter(({ needsAsking }) => needsAsking(sinceMs));
    failed.sort((one, other) => one.scheduled.everyMs - other.scheduled.everyMs);
    for (const [index, afterMs] of spreadEvenly(failed.length).entries()) failed[index]?.askAgain(afterMs);
  }

  for (const vitality of new Set(polls.map((poll) => poll.vitality))) {
    vitality.onBack((before) => recover(vitality, before));
  }
  return {
    start: () => {
      times.start();
      void startOthers();
    },
    /** Ends the polls in progress. Resolves when the last poll has ended. */
    stop: async () => {
      ending.abort();
      await times.stop();
      for (const { underWay } of lines) await underWay();
    },
    status: () => {
      const nextRunsAtMs = times.nextRunsAtMs();
      return lines.map(({ status }, index) => status(nextRunsAtMs[index]));
    },
  };
}

export type Scheduler = ReturnType<typeof createScheduler>;

/** How long other polls wait for the first vital polls. With many projects, the first read of executions takes minutes. */
const vitalFirstMs = 1000;

/** Runs one poll, never twice at once. Skipped runs are logged once, and counted after each run. */
function createRunner(scheduled: ScheduledPoll, { log, clock }: SchedulerOptions, signal: AbortSignal) {
  const { key, vital, everyMs, poll, vitality } = scheduled;
  let underWay: Promise<void> | undefined;
  let leftOut = 0;
  let isSkipTold = false;
  let way: string | undefined;
  let sinceMs: number | undefined;
  let failures = 0;
  let again: { atMs: number; cancel: Cancel } | undefined;
  signal.addEventListener('abort', () => again?.cancel(), { once: true });

  function runAfter(ms: number, isWanted: () => boolean): void {
    again?.cancel();
    const cancel = clock.after(ms, () => {
      again = undefined;
      if (isWanted()) run();
    });
    again = { atMs: clock.now() + ms, cancel };
  }

  function noteEnd(): void {
    const last = poll.last();
    if (last === undefined || signal.aborted) return;
    failures = last.outcome.result === 'failed' ? failures + 1 : 0;
    const pauseMs = failures === 0 ? undefined : toPauseMs(failures, everyMs, clock.random());
    // While a server does not respond, only its vital polls run.
    if (pauseMs !== undefined) runAfter(pauseMs, () => !isAway(vitality.seen()));
    if (toWay(last.outcome) === way) return;
    way = toWay(last.outcome);
    sinceMs = last.endedAtMs;
  }

  function run(): void {
    if (underWay !== undefined) {
      // A sweep over many projects may exceed its interval, and so may the first run of any poll.
      const level = poll.last() === undefined ? 'debug' : vital ? 'warn' : 'info';
      if (!isSkipTold) log[level](key, 'poll skipped: previous run still in progress');
      isSkipTold ||= poll.last() !== undefined;
      leftOut += 1;
      return;
    }
    again?.cancel();
    again = undefined;
    underWay = poll.run(signal).finally(() => {
      underWay = undefined;
      if (leftOut > 1 && sinceMs !== undefined) log.info({ ...key, leftOut }, 'polls skipped');
      // Only the first of consecutive runs that are too long is logged.
      if (leftOut === 0) isSkipTold = false;
      leftOut = 0;
      noteEnd();
    });
  }

  const onMissed = (): void => log.warn(key, 'polls missed: process was blocked');
  return {
    entry: { name: Object.values(key).join(' '), everyMs, run, onMissed },
    underWay: () => underWay,
    /** Call when the server is back. Returns whether the last run must be repeated: not if the poll was off before the outage. */
    needsAsking: (awaySinceMs: number): boolean => {
      failures = 0;
      const last = poll.last();
      if (last === undefined || underWay !== undefined || last.outcome.result === 'success') return false;
      return last.outcome.result === 'failed' || last.endedAtMs >= awaySinceMs;
    },
    askAgain: (afterMs: number): void => {
      poll.wake();
      runAfter(afterMs, () => true);
    },
    status: (nextMs: number | undefined) => {
      const nextRunAtMs = nextMs === undefined || again === undefined ? nextMs : Math.min(nextMs, again.atMs);
      const isUnderWay = underWay !== undefined;
      return { key, vital, everyMs, last: poll.last(), sinceMs, isUnderWay, nextRunAtMs };
    },
  };
}

/** Returns the kind of a failure: any outage is one kind; refused credentials are not an outage. */
function toWay(outcome: Outcome): string {
  if (outcome.result === 'failed' && outcome.kind === 'unauthorized') return outcome.kind;
  return outcome.result;
}

/** The pause after the first error. Each further error doubles the pause. */
const firstPauseMs = 60_000;
/** The time in which all retries start after the server is back. */
const spreadOverMs = 45_000;

/**
 * Returns the pause after a number of errors; undefined if the next scheduled run is sooner. A random part keeps polls from
 * running at the same time.
 */
function toPauseMs(failures: number, everyMs: number, random: number): number | undefined {
  const pauseMs = firstPauseMs * 2 ** Math.min(failures - 1, maxDoublings);
  return pauseMs < everyMs ? pauseMs * (0.9 + 0.2 * random) : undefined;
}

const maxDoublings = 20;

/** Spreads the retries of a number of polls after the server is back. */
function spreadEvenly(polls: number): number[] {
  return Array.from({ length: polls }, (_, index) => ((index + 1) / polls) * spreadOverMs);
}

export type TimedPoll = {
  readonly name: string;
  readonly everyMs: number;
  readonly run: () => void;
  /** Called once after runs were missed because the process was blocked. */
  readonly onMissed: () => void;
};

export type PollTimes = ReturnType<typeof createPollTimes>;

/** Decides when polls run. Each entry has its own second, so that polls do not all start together. */
export function createPollTimes(entries: readonly TimedPoll[], clock: PollTimesClock) {
  const lines = entries.map((entry, index) => createLine(entry, index, clock));
  return {
    /** Runs every entry now, and then at its times. */
    start: (): void => {
      for (const line of lines) line.start();
    },
    stop: async (): Promise<void> => {
      for (const line of lines) line.stop();
    },
    /** Returns the next time of each entry, in order; undefined while stopped. */
    nextRunsAtMs: (): (number | undefined)[] => lines.map((line) => line.nextRunAtMs()),
  };
}

type PollTimesClock = Pick<Clock, 'now' | 'ticks' | 'after'>;

/**
 * Runs one entry at the times of a cron expression. node-cron only computes the times; a timer of the monotonic clock waits, one
 * interval at most. node-cron's own timers would run for each skipped time, and pause after the clock was set back.
 */
function createLine({ everyMs, run, onMissed }: TimedPoll, offsetSeconds: number, clock: PollTimesClock) {
  const times: TimesOfDay = parse(toCronExpression(everyMs, offsetSeconds));
  let next: { atMs: number; atTicks: number; cancel: Cancel } | undefined;

  function wait(afterMs: number): void {
    const nowMs = clock.now();
    const atMs = findNextMs(times, afterMs);
    const waitMs = atMs - nowMs;
    next = { atMs, atTicks: clock.ticks() + waitMs, cancel: clock.after(waitMs, tick) };
  }

  function tick(): void {
    if (next === undefined) return;
    const nowMs = clock.now();
    if (clock.ticks() - next.atTicks > everyMs) onMissed();
    // A clock that is being adjusted slowly may be slightly behind the time of the run.
    const isEarly = nowMs < next.atMs && next.atMs - nowMs < everyMs / 2;
    wait(isEarly ? next.atMs : nowMs);
    run();
  }

  return {
    start: () => {
      wait(clock.now());
      run();
    },
    stop: () => {
      next?.cancel();
      next = undefined;
    },
    nextRunAtMs: () => next?.atMs,
  };
}
