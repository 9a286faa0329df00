import { describe, expect, it } from 'vitest';
import { endInTime } from '../../src/commands/run-app.ts';

/** Starts a stop with a time limit, on the clock of the test. The test ends the stop. */
function start(mayTakeMs: number | undefined) {
  let nowMs = 0;
  const timers = new Map<number, { readonly atMs: number; readonly run: () => void }>();
  let next = 0;
  const logged: unknown[] = [];
  let left = 0;
  const stopped = Promise.withResolvers<void>();
  const ended = endInTime(
    {
      log: { error: (fields, message) => logged.push([fields, message]) },
      clock: {
        after: (ms, run) => {
          const id = next++;
          timers.set(id, { atMs: nowMs + ms, run });
          return () => timers.delete(id);
        },
      },
      leaveLate: () => {
        left += 1;
      },
    },
    async (mayTake) => {
      if (mayTakeMs !== undefined) mayTake(mayTakeMs);
      await stopped.promise;
    },
  );
  const wait = (ms: number): void => {
    nowMs += ms;
    for (const [id, { atMs, run }] of timers) {
      if (atMs > nowMs) continue;
      timers.delete(id);
      run();
    }
  };
  const end = async (): Promise<void> => {
    stopped.resolve();
    await ended;
  };
  return { wait, end, logged, left: () => left, timers };
}

describe('commands/ending', () => {
  it('leaves no timer if everything ends in time', async () => {
    const { wait, end, left, timers } = start(undefined);
    wait(4999);
    await end();
    expect([left(), timers.size]).toEqual([0, 0]);
  });

  it('ends with a message if something hangs', async () => {
    const { wait, end, left, logged } = start(undefined);
    wait(5000);
    expect([left(), logged]).toEqual([1, [[{ afterSeconds: 5 }, 'shutdown timed out, exiting']]]);
    await end();
  });

  it('gives a large state the time for its backup', async () => {
    const copied = start(50_000);
    copied.wait(54_999);
    await copied.end();
    expect([copied.left(), copied.logged]).toEqual([0, []]);
    const hanging = start(50_000);
    hanging.wait(55_000);
    expect(hanging.left()).toBe(1);
    await hanging.end();
  });
});
