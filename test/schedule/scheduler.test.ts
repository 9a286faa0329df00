import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Outcome } from '../../src/schedule/judge.ts';
import type { LastPoll, Poll } from '../../src/schedule/poll.ts';
import { createScheduler, type ScheduledPoll } from '../../src/schedule/scheduler.ts';
import { systemClock } from '../../src/system-clock.ts';

beforeEach(() => {
  vi.useFakeTimers({ now: new Date('2024-05-20T10:00:00.500Z') });
});
afterEach(() => {
  vi.useRealTimers();
});

function setUp(
  names: readonly string[],
  run: (name: string, signal: AbortSignal) => Promise<void>,
  outcomes: readonly Outcome[] = [],
) {
  const skipped: string[] = [];
  const log = {
    debug: () => {},
    info: () => {},
    error: () => {},
    warn: (_fields: object, message: string) => skipped.push(message),
  };
  const polls = names.map((collector): ScheduledPoll => {
    let last: LastPoll | undefined;
    let runs = 0;
    const poll: Poll = {
      run: async (signal) => {
        await run(collector, signal);
        const outcome = outcomes[runs++];
        const rest = { tookMs: 0, succeededAtMs: undefined, restsForMs: 0 };
        if (outcome !== undefined) last = { outcome, endedAtMs: Date.now(), ...rest };
      },
      last: () => last,
    };
    return { key: { server: 'prod', collector }, vital: true, everyMs: 15_000, poll };
  });
  return { skipped, scheduler: createScheduler(polls, { log, clock: systemClock }) };
}

describe('schedule/scheduler', () => {
  it('runs every poll at once, and then each at its own second', async () => {
    const runs: string[] = [];
    const { scheduler } = setUp(['a', 'b'], async (name) => {
      runs.push(`${new Date().toISOString().slice(14, 19)} ${name}`);
    });
    scheduler.start();
    await vi.advanceTimersByTimeAsync(31_000);
    await scheduler.stop();

    expect(runs).toEqual(['00:00 a', '00:00 b', '00:01 b', '00:15 a', '00:16 b', '00:30 a', '00:31 b']);
  });

  it('never runs two of the same poll at once, and says so once for each that takes too long', async () => {
    let running = 0;
    let most = 0;
    const { scheduler, skipped } = setUp(['a'], async () => {
      running += 1;
      most = Math.max(most, running);
      await new Promise((resolve) => setTimeout(resolve, 40_000));
      running -= 1;
    });
    scheduler.start();
    await vi.advanceTimersByTimeAsync(16_000);
    expect(skipped).toEqual(['poll left out: the one before still goes on']);
    await vi.advanceTimersByTimeAsync(19_000);
    expect(skipped).toEqual(['poll left out: the one before still goes on']);
    await vi.advanceTimersByTimeAsync(85_000);

    expect(most).toBe(1);
    expect(skipped.length).toBe(3);
    const stopped = scheduler.stop();
    await vi.advanceTimersByTimeAsync(40_000);
    await stopped;
  });

  it('ends a poll under way when it stops, and starts none after', async () => {
    let runs = 0;
    let ended = 0;
    const { scheduler } = setUp(['a'], (_name, signal) => {
      runs += 1;
      return new Promise((resolve) => {
        signal.addEventListener('abort', () => {
          ended += 1;
          resolve();
        });
      });
    });
    scheduler.start();
    await vi.advanceTimersByTimeAsync(0);
    await scheduler.stop();
    await vi.advanceTimersByTimeAsync(60_000);

    expect({ runs, ended }).toEqual({ runs: 1, ended: 1 });
    expect(vi.getTimerCount()).toBe(0);
  });

  it('tells when each poll runs next, and nothing once it is stopped', async () => {
    const { scheduler } = setUp(['a', 'b'], async () => {});
    scheduler.start();
    await vi.advanceTimersByTimeAsync(2000);

    expect(scheduler.status().map(({ nextRunAtMs }) => new Date(nextRunAtMs ?? 0).toISOString())).toEqual([
      '2024-05-20T10:00:15.000Z',
      '2024-05-20T10:00:16.000Z',
    ]);
    await scheduler.stop();
    expect(scheduler.status().map(({ nextRunAtMs }) => nextRunAtMs)).toEqual([undefined, undefined]);
  });

  it('tells since when polls end the way they do', async () => {
    const outcomes: readonly Outcome[] = [
      { result: 'success', series: 1 },
      { result: 'failed', kind: 'timeout', message: '' },
      { result: 'failed', kind: 'network', message: '' },
      { result: 'failed', kind: 'unauthorized', message: '' },
      { result: 'failed', kind: 'unauthorized', message: '' },
      { result: 'success', series: 1 },
    ];
    const { scheduler } = setUp(['a'], async () => {}, outcomes);
    const seen: string[] = [];
    scheduler.start();
    for (const outcome of outcomes) {
      await vi.advanceTimersByTimeAsync(0);
      const [status] = scheduler.status();
      seen.push(`${outcome.result} since ${new Date(status?.sinceMs ?? 0).toISOString().slice(14, 19)}`);
      await vi.advanceTimersByTimeAsync(15_000);
    }
    await scheduler.stop();

    expect(seen).toEqual([
      'success since 00:00',
      'failed since 00:15',
      'failed since 00:15',
      'failed since 00:45',
      'failed since 00:45',
      'success since 01:15',
    ]);
  });

  it('goes on when the clock is set back by an hour', async () => {
    let runs = 0;
    const { scheduler, skipped } = setUp(['a'], async () => {
      runs += 1;
    });
    scheduler.start();
    await vi.advanceTimersByTimeAsync(16_000);
    vi.setSystemTime(new Date('2024-05-20T09:00:00Z'));
    const before = runs;
    await vi.advanceTimersByTimeAsync(120_000);
    await scheduler.stop();

    expect(runs - before).toBeGreaterThanOrEqual(5);
    expect(skipped).toContain('polls missed: the process was held up or its clock set');
  });
});
