import { createTask, type ScheduledTask } from 'node-cron';
import { toCronExpression } from './interval.ts';

export type TimetableEntry = {
  readonly name: string;
  readonly everyMs: number;
  /** Not waited for: node-cron takes a time that comes while it waits for a missed one. */
  readonly run: () => void;
  /** Called where a time went by unnoticed, since the process was held up. */
  readonly onMissed: () => void;
};

export type Timetable = {
  /** Runs every entry once, at once, and then at its times. */
  readonly start: () => void;
  readonly stop: () => Promise<void>;
  readonly nextRunMs: (name: string) => number | undefined;
};

/** When things run. Each entry has its own second, so that they do not all start together. */
export function createTimetable(entries: readonly TimetableEntry[]): Timetable {
  const tasks = new Map<string, ScheduledTask>();
  for (const [index, entry] of entries.entries()) tasks.set(entry.name, toTask(entry, index));
  return {
    start: () => {
      for (const task of tasks.values()) {
        void task.start();
        void task.execute();
      }
    },
    stop: async () => {
      for (const task of tasks.values()) await task.destroy();
    },
    nextRunMs: (name) => tasks.get(name)?.getNextRun()?.getTime(),
  };
}

function toTask({ name, everyMs, run, onMissed }: TimetableEntry, index: number): ScheduledTask {
  const task = createTask(toCronExpression(everyMs, index), run, {
    name,
    // Wall-clock zones have hours that come twice or never.
    timezone: 'Etc/UTC',
    suppressMissedWarning: true,
    logger: { info: ignore, warn: ignore, error: ignore, debug: ignore },
  });
  task.on('execution:missed', () => onMissed());
  return task;
}

/** Its own events say what node-cron would log. */
function ignore(): void {}
