import type { Clock } from '../domain/clock.ts';
import type { Log } from '../log.ts';
import type { Outcome } from './judge.ts';
import type { LastPoll, Poll } from './poll.ts';
import type { PollKey } from './publisher.ts';
import { createTimetable } from './timetable.ts';

export type ScheduledPoll = {
  readonly key: PollKey;
  readonly vital: boolean;
  readonly everyMs: number;
  readonly poll: Poll;
};

export type PollStatus = Pick<ScheduledPoll, 'key' | 'vital' | 'everyMs'> & {
  readonly last: LastPoll | undefined;
  /** When the first of the polls ended that all went the way the last one did. */
  readonly sinceMs: number | undefined;
  readonly nextRunAtMs: number | undefined;
  readonly isUnderWay: boolean;
};

export type Scheduler = {
  readonly start: () => void;
  /** Ends the polls under way and resolves when the last of them is over. */
  readonly stop: () => Promise<void>;
  readonly status: () => PollStatus[];
};

type SchedulerOptions = {
  readonly log: Log;
  readonly clock: Pick<Clock, 'after'>;
  /** Who knows the times, if not cron. */
  readonly toTimetable?: typeof createTimetable | undefined;
};

/** Runs all polls, each at its own times, until it is stopped. */
export function createScheduler(polls: readonly ScheduledPoll[], options: SchedulerOptions): Scheduler {
  const { log, clock, toTimetable = createTimetable } = options;
  const ending = new AbortController();
  const lines = polls.map((scheduled) => createRunner(scheduled, log, ending.signal));
  const timetable = toTimetable(
    lines.map(({ entry }) => entry),
    clock,
  );
  return {
    start: timetable.start,
    stop: async () => {
      ending.abort();
      await timetable.stop();
      for (const { underWay } of lines) await underWay();
    },
    status: () => {
      const nextRunsAtMs = timetable.nextRunsAtMs();
      return lines.map(({ status }, index) => ({ ...status(), nextRunAtMs: nextRunsAtMs[index] }));
    },
  };
}

/** One poll, never twice at once. Runs that are left out are said once, and counted when it is over. */
function createRunner({ key, vital, everyMs, poll }: ScheduledPoll, log: Log, signal: AbortSignal) {
  let underWay: Promise<void> | undefined;
  let leftOut = 0;
  let way: string | undefined;
  let sinceMs: number | undefined;

  function run(): void {
    if (underWay !== undefined) {
      // A sweep over many projects may well take longer than its interval.
      if (leftOut === 0) log[vital ? 'warn' : 'info'](key, 'poll left out: the one before still goes on');
      leftOut += 1;
      return;
    }
    underWay = poll.run(signal).finally(() => {
      underWay = undefined;
      if (leftOut > 1) log.info({ ...key, leftOut }, 'polls were left out');
      leftOut = 0;
      const last = poll.last();
      if (last === undefined || toWay(last.outcome) === way) return;
      way = toWay(last.outcome);
      sinceMs = last.endedAtMs;
    });
  }

  const onMissed = (): void => log.warn(key, 'polls missed: the process was held up or its clock set');
  return {
    entry: { name: Object.values(key).join(' '), everyMs, run, onMissed },
    underWay: () => underWay,
    status: () => ({ key, vital, everyMs, last: poll.last(), sinceMs, isUnderWay: underWay !== undefined }),
  };
}

/** An outage stays one outage, whether requests run into their deadline or are refused; refused credentials are none. */
function toWay(outcome: Outcome): string {
  if (outcome.result === 'failed' && outcome.kind === 'unauthorized') return outcome.kind;
  return outcome.result;
}
