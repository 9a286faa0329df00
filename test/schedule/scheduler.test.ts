import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { systemClock } from '../../src/domain/system-clock.ts';
import type { Outcome } from '../../src/schedule/outcome.ts';
import type { LastPoll, Poll } from '../../src/schedule/poll.ts';
import { createScheduler, type ScheduledPoll } from '../../src/schedule/scheduler.ts';
import type { Seen } from '../../src/schedule/vitality.ts';

beforeEach(() => void vi.useFakeTimers({ now: new Date('2024-05-20T10:00:00.500Z') }));
afterEach(() => void vi.useRealTimers());

function setUp(
  names: readonly string[],
  run: (name: string, signal: AbortSignal) => Promise<void>,
  outcomes: readonly Outcome[] | ((name: string) => Outcome) = [],
  everyMs = 15_000,
) {
  const skipped: string[] = [];
  const woken: string[] = [];
  const listeners: ((before: Seen) => void)[] = [];
  const onBack = (listener: (before: Seen) => void): void => void listeners.push(listener);
  let seen: Seen | undefined;
  const vitality = { seen: () => seen, onBack };
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
        const outcome = typeof outcomes === 'function' ? outcomes(collector) : outcomes[runs++];
        const rest = { tookMs: 0, succeededAtMs: undefined, restsForMs: 0 };
        if (outcome !== undefined) last = { outcome, endedAtMs: Date.now(), ...rest };
      },
      last: () => last,
      wake: () => void woken.push(collector),
    };
    return { key: { server: 'prod', collector }, vital: !collector.startsWith('later'), everyMs, poll, vitality };
  });
  return {
    skipped,
    woken,
    scheduler: createScheduler(polls, { log, clock: { ...systemClock, random: () => 0.5 } }),
    /** The state that vital polls report. */
    see: (state: Seen['state']) => {
      const before = seen;
      seen = { state, sinceMs: Date.now(), message: undefined };
      if (before !== undefined && before.state !== 'up' && state === 'up')
        for (const listener of listeners) listener(before);
    },
  };
}

/** Ends a stop without waiting for polls. */
async function stopAtOnce(scheduler: ReturnType<typeof createScheduler>): Promise<void> {
  const stopped = scheduler.stop();
  await vi.advanceTimersByTimeAsync(10_000);
  await stopped;
}

const ok: Outcome = { result: 'success', series: 1 };
const failed: Outcome = { result: 'failed', kind: 'network', message: '' };
const denied: Outcome = { result: 'off', reason: 'denied', message: '' };
const hourMs = 3_600_000;

describe('schedule/scheduler', () => {
  it('runs every poll at the start, and later each poll at its own second', async () => {
    const runs: string[] = [];
    const { scheduler } = setUp(['a', 'b'], async (name) => {
      runs.push(`${new Date().toISOString().slice(14, 19)} ${name}`);
    });
    scheduler.start();
    await vi.advanceTimersByTimeAsync(31_000);
    await scheduler.stop();

    expect(runs).toEqual(['00:00 a', '00:00 b', '00:01 b', '00:15 a', '00:16 b', '00:30 a', '00:31 b']);
  });

  it('runs other polls after the vital polls', async () => {
    const runs: string[] = [];
    const { scheduler } = setUp(['later', 'a', 'b'], async (name) => {
      runs.push(`${name} begins`);
      await new Promise((resolve) => setTimeout(resolve, name === 'a' ? 200 : 100));
      runs.push(`${name} ends`);
    });
    scheduler.start();
    await vi.advanceTimersByTimeAsync(450);
    await stopAtOnce(scheduler);
    expect(runs).toEqual(['a begins', 'b begins', 'b ends', 'a ends', 'later begins', 'later ends']);
  });

  it('delays other polls by at most one second for a vital poll', async () => {
    const runs: string[] = [];
    const endless = async (name: string, signal: AbortSignal): Promise<void> => {
      runs.push(name);
      await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
    };
    const one = setUp(['later', 'a'], endless);
    one.scheduler.start();
    await vi.advanceTimersByTimeAsync(999);
    expect(runs).toEqual(['a']);
    await vi.advanceTimersByTimeAsync(1);
    expect(runs).toEqual(['a', 'later']);
    await stopAtOnce(one.scheduler);

    const other = setUp(['later', 'b'], endless);
    other.scheduler.start();
    await stopAtOnce(other.scheduler);
    expect(runs).toEqual(['a', 'later', 'b']);
  });

  it('never runs a poll twice at the same time', async () => {
    let running = 0;
    let most = 0;
    const { scheduler, skipped } = setUp(
      ['a'],
      async () => {
        running += 1;
        most = Math.max(most, running);
        await new Promise((resolve) => setTimeout(resolve, 40_000));
        running -= 1;
      },
      () => ok,
    );
    scheduler.start();
    await vi.advanceTimersByTimeAsync(44_000);
    expect(skipped).toEqual([]);
    await vi.advanceTimersByTimeAsync(17_000);
    expect(skipped).toEqual(['poll skipped: previous run still in progress']);
    await vi.advanceTimersByTimeAsync(59_000);

    expect(most).toBe(1);
    expect(skipped.length).toBe(1);
    const stopped = scheduler.stop();
    await vi.advanceTimersByTimeAsync(40_000);
    await stopped;
  });

  it('ends a poll in progress when it stops', async () => {
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

  it('has stopped only after the end of the poll in progress', async () => {
    const underWay = Promise.withResolvers<undefined>();
    const { scheduler } = setUp(['a'], () => underWay.promise);
    scheduler.start();
    await vi.advanceTimersByTimeAsync(0);
    let isStopped = false;
    const stopped = scheduler.stop().then(() => {
      isStopped = true;
    });
    await vi.advanceTimersByTimeAsync(60_000);
    expect(isStopped).toBe(false);
    underWay.resolve(undefined);
    await stopped;
  });

  it('reports when each poll runs next', async () => {
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

  it('reports since when a poll has the same result', async () => {
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

  it('continues when the clock is set ahead by twelve days', async () => {
    let runs = 0;
    const { scheduler } = setUp(['a'], async () => {
      runs += 1;
    });
    scheduler.start();
    await vi.advanceTimersByTimeAsync(16_000);
    vi.setSystemTime(new Date('2024-06-01T10:00:16.500Z'));
    const before = runs;
    const { user } = process.cpuUsage();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(process.cpuUsage().user - user).toBeLessThan(500_000);
    await scheduler.stop();
    expect(runs - before).toBe(4);
  });

  it('continues when the clock is set back by an hour', async () => {
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
    // No poll time was skipped.
    expect(skipped).toEqual([]);
  });

  it('retries a failed poll after a minute, then with growing pauses', async () => {
    const runs: string[] = [];
    const noteRun = async (): Promise<void> => void runs.push(new Date().toISOString().slice(11, 16));
    const { scheduler } = setUp(['a'], noteRun, () => failed, hourMs);
    scheduler.start();
    await vi.advanceTimersByTimeAsync(0);
    expect(scheduler.status()[0]?.nextRunAtMs).toBe(Date.parse('2024-05-20T10:01:00.500Z'));
    await vi.advanceTimersByTimeAsync(3 * hourMs);
    await scheduler.stop();

    expect(runs).toEqual(['10:00', '10:01', '10:03', '10:07', '10:15', '10:31', '11:00', '12:00', '13:00']);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('leaves no retry behind when it stops', async () => {
    let runs = 0;
    const { scheduler } = setUp(
      ['a'],
      async () => void runs++,
      () => failed,
      hourMs,
    );
    scheduler.start();
    await vi.advanceTimersByTimeAsync(10_000);
    await scheduler.stop();
    expect(vi.getTimerCount()).toBe(0);
    await vi.advanceTimersByTimeAsync(hourMs);
    expect(runs).toBe(1);
  });

  it('does not retry polls that run every minute or more often', async () => {
    let runs = 0;
    const { scheduler } = setUp(
      ['a'],
      async () => void runs++,
      () => failed,
      60_000,
    );
    scheduler.start();
    await vi.advanceTimersByTimeAsync(240_000);
    await scheduler.stop();
    expect(runs).toBe(5);
  });

  it('runs all failed polls within a minute after an outage', async () => {
    const runs: string[] = [];
    let state: Seen['state'] = 'down';
    const noteRun = async (name: string): Promise<void> =>
      void runs.push(`${new Date().toISOString().slice(11, 19)} ${name}`);
    const toOutcome = (name: string): Outcome => {
      if (name === 'fine') return ok;
      return state === 'down' ? (name === 'c' ? denied : failed) : ok;
    };
    const { scheduler, see, woken } = setUp(['a', 'b', 'c', 'fine'], noteRun, toOutcome, hourMs);
    see('down');
    scheduler.start();
    await vi.advanceTimersByTimeAsync(20 * 60_000);
    expect(runs).toEqual([
      '10:00:00 a',
      '10:00:00 b',
      '10:00:00 c',
      '10:00:00 fine',
      '10:00:01 b',
      '10:00:02 c',
      '10:00:03 fine',
    ]);
    runs.splice(0);
    state = 'up';
    see('up');
    await vi.advanceTimersByTimeAsync(10 * 60_000);
    await scheduler.stop();

    expect(runs).toEqual(['10:20:15 a', '10:20:30 b', '10:20:45 c']);
    expect(woken).toEqual(['a', 'b', 'c']);
  });

  it('retries a poll that fails after an outage one minute later', async () => {
    const runs: string[] = [];
    const noteRun = async (): Promise<void> => void runs.push(new Date().toISOString().slice(11, 19));
    const { scheduler, see } = setUp(['a'], noteRun, () => failed, hourMs);
    see('down');
    scheduler.start();
    await vi.advanceTimersByTimeAsync(3.5 * hourMs);
    runs.splice(0);
    see('up');
    await vi.advanceTimersByTimeAsync(5 * 60_000);
    await scheduler.stop();
    expect(runs).toEqual(['13:30:45', '13:31:45', '13:33:45']);
  });

  it('keeps the pause of denied polls after an outage', async () => {
    const runs: string[] = [];
    const noteRun = async (name: string): Promise<void> => void runs.push(name);
    const { scheduler, see } = setUp(['a'], noteRun, () => denied, hourMs);
    scheduler.start();
    see('up');
    await vi.advanceTimersByTimeAsync(60_000);
    see('down');
    await vi.advanceTimersByTimeAsync(60_000);
    see('up');
    await vi.advanceTimersByTimeAsync(60_000);
    await scheduler.stop();
    expect(runs).toEqual(['a']);
  });
});
