import type { Cancel, Clock } from '../../src/domain/clock.ts';
import type { PollTimes, TimedPoll } from '../../src/schedule/scheduler.ts';

/** Times at which polls are due by the wall clock of the daemon, as in cron; collectors are spread over their interval. */
export function createVirtualPollTimes(clock: Clock, apartMs: number): (entries: readonly TimedPoll[]) => PollTimes {
  return (entries) => {
    const lines = entries.map(({ everyMs, run }, index) => {
      const offsetMs = (index * apartMs) % everyMs;
      let cancel: Cancel | undefined;
      let nextMs: number | undefined;
      function wait(): void {
        const nowMs = clock.now();
        const passedMs = (((nowMs - offsetMs) % everyMs) + everyMs) % everyMs;
        nextMs = nowMs + everyMs - passedMs;
        cancel = clock.after(everyMs - passedMs, () => {
          wait();
          run();
        });
      }
      return {
        start: () => {
          wait();
          run();
        },
        stop: () => {
          cancel?.();
          nextMs = undefined;
        },
        nextMs: () => nextMs,
      };
    });
    return {
      start: () => {
        for (const line of lines) line.start();
      },
      stop: async () => {
        for (const line of lines) line.stop();
      },
      nextRunsAtMs: () => lines.map((line) => line.nextMs()),
    };
  };
}
