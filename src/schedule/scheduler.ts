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
  const underWay = new Set<Promise<void>>();

  function run(poll: Poll): Promise<void> {
    const running = poll.run(ending.signal).finally(() => underWay.delete(running));
    underWay.add(running);
    return running;
  }

  const timetable = createTimetable(
    polls.map(({ server, collector, everyMs, poll }) => ({
      name: nameOf(server, collector),
      everyMs,
      run: () => run(poll),
      onSkipped: (why) => log.warn({ server, collector, why }, 'poll left out'),
    })),
  );

  return {
    start: timetable.start,
    stop: async () => {
      ending.abort();
      await timetable.stop();
      await Promise.all(underWay);
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
