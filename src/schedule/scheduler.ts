import type { Log } from '../log.ts';
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
};

export type Scheduler = {
  readonly start: () => void;
  /** Ends the polls under way and resolves when the last of them is over. */
  readonly stop: () => Promise<void>;
  readonly status: () => PollStatus[];
};

/** Runs all polls, each at its own times, until it is stopped. */
export function createScheduler(polls: readonly ScheduledPoll[], log: Log): Scheduler {
  const ending = new AbortController();
  const lines = polls.map((scheduled) => createRunner(scheduled, log, ending.signal));
  const timetable = createTimetable(lines.map(({ entry }) => entry));
  return {
    start: timetable.start,
    stop: async () => {
      ending.abort();
      await timetable.stop();
      for (const { underWay } of lines) await underWay();
    },
    status: () =>
      polls.map(({ key, vital, everyMs, poll }) => ({
        key,
        vital,
        everyMs,
        last: poll.last(),
      })),
  };
}

/** One poll, never twice at once. Runs that are left out are said once, and counted when it is over. */
function createRunner({ key, everyMs, poll }: ScheduledPoll, log: Log, signal: AbortSignal) {
  let underWay: Promise<void> | undefined;
  let leftOut = 0;

  function run(): void {
    if (underWay !== undefined) {
      if (leftOut === 0) log.warn(key, 'poll left out: the one before still goes on');
      leftOut += 1;
      return;
    }
    underWay = poll.run(signal).finally(() => {
      underWay = undefined;
      if (leftOut > 1) log.info({ ...key, leftOut }, 'polls were left out');
      leftOut = 0;
    });
  }

  const onMissed = (): void => log.warn(key, 'polls missed: the process was held up or its clock set');
  return { entry: { name: Object.values(key).join(' '), everyMs, run, onMissed }, underWay: () => underWay };
}
