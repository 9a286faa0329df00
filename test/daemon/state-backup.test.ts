import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { keepState } from '../../src/daemon/state-backup.ts';
import { createSelf } from '../../src/metrics/self.ts';
import { openSqliteState } from '../../src/state/sqlite.ts';
import { fakeClock } from '../support/fake-clock.ts';

const mebibyte = 2 ** 20;

/** What is said, and how long it may take, when a state of that size is copied for the last time. */
async function stop(bytes: number, backUp: () => Promise<void> = async () => undefined) {
  const said: unknown[] = [];
  const state = { ...openSqliteState({ memory: true }), bytes: () => bytes, backUp };
  const write = (fields: object, message: string): unknown => said.push([message, fields]);
  const keeping = keepState(state, {
    log: { debug: write, info: write, warn: write, error: write },
    self: createSelf({ version: 'test', nodeVersion: 'test' }),
    clock: fakeClock({ after: () => () => undefined }),
  });
  const allowed: number[] = [];
  await keeping.stop((ms) => allowed.push(ms));
  await state.close();
  return { said, allowed };
}

describe('daemon/state-backup', () => {
  it('says that a large state is copied before the end, and how long that may take', async () => {
    expect(await stop(256 * mebibyte)).toEqual({
      said: [['backing up the state before exit', { mebibytes: 256 }]],
      allowed: [102_400],
    });
  });

  it('says nothing of a small one', async () => {
    expect(await stop(mebibyte)).toEqual({ said: [], allowed: [400] });
  });

  it('begins no copy while one takes longer than the time between two', async () => {
    const due: (() => void)[] = [];
    const ends: (() => void)[] = [];
    const backUp = (): Promise<void> => new Promise((resolve) => ends.push(resolve));
    const state = { ...openSqliteState({ memory: true }), backUp };
    const keeping = keepState(state, {
      log: { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} },
      self: createSelf({ version: 'test', nodeVersion: 'test' }),
      clock: fakeClock({
        after: (_ms, run) => {
          due.push(run);
          return () => undefined;
        },
      }),
    });
    due[0]?.();
    due[1]?.();
    expect(ends).toHaveLength(1);
    const stopped = keeping.stop();
    ends[0]?.();
    await setImmediate();
    ends[1]?.();
    await stopped;
    await state.close();
  });

  it('ends although the copy fails', async () => {
    const error = new Error('the disk is full');
    const { said } = await stop(mebibyte, () => Promise.reject(error));
    expect(said).toEqual([['state backup failed', { error }]]);
  });
});
