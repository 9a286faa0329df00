import { describe, expect, it } from 'vitest';
import { type OpenFiles, startWatchdog } from '../../src/commands/watchdog.ts';

function start() {
  let ticks = 0;
  let next: { readonly atTicks: number; readonly run: () => void } | undefined;
  let files: OpenFiles | undefined;
  const lines: string[] = [];
  const write = (level: string) => (fields: object, message: string) =>
    lines.push(`${level} ${message} ${JSON.stringify(fields)}`);
  const log = { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') };
  const stop = startWatchdog({
    log,
    clock: {
      ticks: () => ticks,
      after: (ms, run) => {
        next = { atTicks: ticks + ms, run };
        return () => {
          next = undefined;
        };
      },
    },
    readFiles: () => files,
  });
  return {
    lines,
    stop,
    isWaiting: () => next !== undefined,
    /** Runs the next check; `lateMs` is its delay. */
    look: (lateMs = 0) => {
      if (next === undefined) throw new Error('nothing waits');
      ticks = next.atTicks + lateMs;
      next.run();
    },
    open: (open: number) => {
      files = { open, most: 100 };
    },
  };
}

describe('commands/watchdog', () => {
  it('reports for how long the process was held up', () => {
    const { look, lines } = start();
    look(40);
    look(999);
    look(3210);
    look();
    expect(lines).toEqual(['warn held up: nothing was polled or served {"seconds":3.2}']);
  });

  it('reports once that few descriptors are left', () => {
    const { look, lines, open } = start();
    for (const count of [50, 89, 90, 99, 80, 75, 74, 50]) {
      open(count);
      for (let looks = 0; looks < 15; looks += 1) look();
    }
    expect(lines).toEqual([
      'error file descriptors running out: connections and polls will fail {"open":90,"most":100}',
      'info file descriptors available again {"open":74,"most":100}',
    ]);
  });

  it('runs no check after a stop', () => {
    const { look, stop, isWaiting } = start();
    look();
    stop();
    expect(isWaiting()).toBe(false);
  });
});
