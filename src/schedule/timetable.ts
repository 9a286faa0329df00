import { createTask, type ScheduledTask } from 'node-cron';
import { toCronExpression } from './interval.ts';

export type TimetableEntry = {
  readonly name: string;
  readonly everyMs: number;
  readonly run: () => Promise<void>;
  /** Called where a run had to be left out: the one before still goes on, or the process was held up. */
  readonly onSkipped: (why: 'overlap' | 'missed') => void;
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

function toTask({ name, everyMs, run, onSkipped }: TimetableEntry, index: number): ScheduledTask {
  const task = createTask(toCronExpression(everyMs, index), run, {
    name,
    noOverlap: true,
    // Wall-clock zones have hours that come twice or never.
    timezone: 'Etc/UTC',
    suppressMissedWarning: true,
    logger: { info: ignore, warn: ignore, error: ignore, debug: ignore },
  });
  task.on('execution:overlap', () => onSkipped('overlap'));
  task.on('execution:missed', () => onSkipped('missed'));
  return task;
}

/** Its own events say what node-cron would log. */
function ignore(): void {}
