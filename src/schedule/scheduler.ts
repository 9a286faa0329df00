import type { Log } from '../log.ts';
import type { LastPoll, Poll } from './poll.ts';
import { createTimetable } from './timetable.ts';

export type ScheduledPoll = {
  readonly server: string;
  readonly collector: string;
  readonly vital: boolean;
  readonly everyMs: number;
  readonly poll: Poll;
};

export type PollStatus = Pick<ScheduledPoll, 'server' | 'collector' | 'vital'> & {
  readonly last: LastPoll | undefined;
  readonly nextRunMs: number | undefined;
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
  const underWay = new Map<Poll, Promise<void>>();

  function run({ server, collector, poll }: ScheduledPoll): void {
    // Not node-cron's own check: it does not see the run at the start.
    if (underWay.has(poll)) {
      log.warn({ server, collector }, 'poll left out: the one before still goes on');
      return;
    }
    const running = poll.run(ending.signal).finally(() => underWay.delete(poll));
    underWay.set(poll, running);
  }

  const timetable = createTimetable(
    polls.map((scheduled) => ({
      name: nameOf(scheduled.server, scheduled.collector),
      everyMs: scheduled.everyMs,
      run: () => run(scheduled),
      onMissed: () =>
        log.warn({ server: scheduled.server, collector: scheduled.collector }, 'poll missed: the process was held up'),
    })),
  );

  return {
    start: timetable.start,
    stop: async () => {
      ending.abort();
      await timetable.stop();
      await Promise.all(underWay.values());
    },
    status: () =>
      polls.map(({ server, collector, vital, poll }) => ({
        server,
        collector,
        vital,
        last: poll.last(),
        nextRunMs: timetable.nextRunMs(nameOf(server, collector)),
      })),
  };
}

function nameOf(server: string, collector: string): string {
  return `${server} ${collector}`;
}
