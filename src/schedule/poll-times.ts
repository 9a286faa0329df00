import { parse } from 'node-cron';
import type { Cancel, Clock } from '../domain/clock.ts';
import { findNextMs, type TimesOfDay, toCronExpression } from '../domain/interval.ts';

export type TimedPoll = {
  readonly name: string;
  readonly everyMs: number;
  readonly run: () => void;
  /** Called once after runs were missed because the process was held up. */
  readonly onMissed: () => void;
};

export type PollTimes = {
  /** Runs every entry now, and then at its times. */
  readonly start: () => void;
  readonly stop: () => Promise<void>;
  /** When each entry runs next, in order; undefined while stopped. */
  readonly nextRunsAtMs: () => (number | undefined)[];
};

/** Decides when polls run. Each entry has its own second, so that they do not all start together. */
export function createPollTimes(entries: readonly TimedPoll[], clock: PollTimesClock): PollTimes {
  const lines = entries.map((entry, index) => createLine(entry, index, clock));
  return {
    start: () => {
      for (const line of lines) line.start();
    },
    stop: async () => {
      for (const line of lines) line.stop();
    },
    nextRunsAtMs: () => lines.map((line) => line.nextRunAtMs()),
  };
}

type PollTimesClock = Pick<Clock, 'now' | 'ticks' | 'after'>;

/**
 * Runs one entry at the times of a cron expression. node-cron only computes the times; a timer on the monotonic clock
 * waits, at most one interval. node-cron's own timers would run every time that a clock set forward skipped, and stop
 * for as long as a clock was set back.
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
    // A clock that is being slewed may be slightly behind the time of this run.
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
