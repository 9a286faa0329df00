import { createTask, type ScheduledTask } from 'node-cron';
import type { Cancel, Clock } from '../domain/clock.ts';
import { toCronExpression } from './interval.ts';

export type TimetableEntry = {
  readonly name: string;
  readonly everyMs: number;
  /** Not waited for: node-cron takes a time that comes while it waits for a missed one. */
  readonly run: () => void;
  /** Called once where times went by unnoticed, since the process was held up or the clock was set. */
  readonly onMissed: () => void;
};

export type Timetable = {
  /** Runs every entry once, at once, and then at its times. */
  readonly start: () => void;
  readonly stop: () => Promise<void>;
  /** When each entry runs next, in their order; undefined while stopped. */
  readonly nextRunsAtMs: () => (number | undefined)[];
};

/** When things run. Each entry has its own second, so that they do not all start together. */
export function createTimetable(entries: readonly TimetableEntry[], clock: Pick<Clock, 'after'>): Timetable {
  const lines = entries.map((entry, index) => createLine(entry, index, clock));
  return {
    start: () => {
      for (const line of lines) line.start();
    },
    stop: async () => {
      for (const line of lines) await line.stop();
    },
    nextRunsAtMs: () => lines.map((line) => line.nextRunAtMs()),
  };
}

/**
 * One entry. node-cron waits for a time of the wall clock; where that was set back it would wait for as long as the
 * clock was set, so a timer that knows no wall clock runs what is overdue and has the times reckoned anew.
 */
function createLine({ everyMs, run, onMissed }: TimetableEntry, offsetSeconds: number, clock: Pick<Clock, 'after'>) {
  let task: ScheduledTask | undefined;
  let cancelOverdue: Cancel | undefined;

  function tick(): void {
    cancelOverdue?.();
    cancelOverdue = clock.after(2 * everyMs, startAnew);
    run();
  }

  function schedule(): void {
    task = createTask(toCronExpression(everyMs, offsetSeconds), tick, {
      // Zones have hours that come twice or never.
      timezone: 'Etc/UTC',
      suppressMissedWarning: true,
      logger: { info: ignore, warn: ignore, error: ignore, debug: ignore },
    });
    // It reports every single time that a clock set forward left out; the next run is what matters.
    task.on('execution:missed', ignore);
    void task.start();
  }

  function startAnew(): void {
    onMissed();
    void task?.destroy();
    schedule();
    tick();
  }

  return {
    start: () => {
      schedule();
      tick();
    },
    stop: async () => {
      cancelOverdue?.();
      await task?.destroy();
      task = undefined;
    },
    nextRunAtMs: () => task?.getNextRun()?.getTime(),
  };
}

/** Its own events say what node-cron would log. */
function ignore(): void {}
