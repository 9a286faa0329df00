import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { endInTime } from '../../src/commands/run-app.ts';
import { keepState } from '../../src/daemon/state-backup.ts';
import { createSelf } from '../../src/metrics/self.ts';
import { openSqliteState } from '../../src/state/sqlite.ts';
import type { StateOrigin } from '../../src/state/state.ts';
import { startDaemon } from '../support/daemon.ts';
import { fakeClock } from '../support/fake-clock.ts';
import { makeFolder } from '../support/folder.ts';

const mebibyte = 2 ** 20;

const largeTrace = {
  key: 'prod/1',
  server: 'prod',
  executionId: '1',
  startedAtMs: 1000,
  spooledAtMs: 2000,
  encoding: 'protobuf',
  spans: 3,
} as const;

/** Ends with a state of a size; returns the log, and the time allowed for the last backup. */
async function stopWith(
  bytes: number,
  backUp: () => Promise<void> = async () => undefined,
  origin: StateOrigin = { kind: 'usual' },
) {
  const said: unknown[] = [];
  const state = { ...openSqliteState({ memory: true }), bytes: () => bytes, backUp, origin };
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
  it('logs how long the last backup of a large state may take', async () => {
    expect(await stopWith(256 * mebibyte)).toEqual({
      said: [['backing up the state before exit', { mebibytes: 256 }]],
      allowed: [102_400],
    });
  });

  it.each([
    ['restored', undefined, 'state missing: last backup restored, reading the executions since then again'],
    ['restored', 'a.damaged', 'state damaged: last backup restored, reading the executions since then again'],
    ['anew', undefined, 'state missing and no backup found: counting restarts from the beginning'],
  ] as const)('names a quarantined file only if there is one: %s, %s', async (kind, damaged, message) => {
    const { said } = await stopWith(mebibyte, undefined, { kind, damaged });
    expect(said).toEqual([[message, damaged === undefined ? {} : { quarantine: damaged }]]);
  });

  it('logs nothing about a small state', async () => {
    expect(await stopWith(mebibyte)).toEqual({ said: [], allowed: [400] });
  });

  it('ends only after the backup of a large state', async () => {
    const stateDirectory = makeFolder();
    const before = openSqliteState({ dir: stateDirectory });
    await before.ledger.commit('prod', { spooled: [{ ...largeTrace, bytes: Buffer.alloc(8 * mebibyte, 1) }] });
    await before.close();
    const yaml = "servers: [{ name: prod, url: 'http://127.0.0.1:9', token_file: TOKEN }]\n";
    const daemon = await startDaemon({
      yaml,
      token: 'a-token',
      flags: ['--collector.disable-defaults'],
      stateDirectory,
    });
    const waits: number[] = [];
    const clock = {
      after: (ms: number) => {
        waits.push(ms);
        return () => undefined;
      },
    };
    await endInTime({ log: { error: () => undefined }, clock, leaveLate: () => undefined }, daemon.app.stop);
    await daemon.stop();

    const [first, second = 0, ...others] = waits;
    expect([first, others]).toEqual([5000, []]);
    // A backup takes 0.2 s per MiB; another backup may be in progress.
    expect(second).toBeGreaterThanOrEqual(8200);
    expect(second).toBeLessThan(8400);
  });

  /** A state; the test starts and ends its backups. */
  function keep() {
    const due: (() => void)[] = [];
    const backups: PromiseWithResolvers<void>[] = [];
    const backUp = (): Promise<void> => {
      const backup = Promise.withResolvers<void>();
      backups.push(backup);
      return backup.promise;
    };
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
    const stop = async (): Promise<void> => {
      const stopped = keeping.stop(() => undefined);
      for (const backup of backups) {
        backup.resolve();
        await setImmediate();
      }
      await stopped;
      await state.close();
    };
    return { due, backups, stop };
  }

  it('starts no backup during a slow backup', async () => {
    const { due, backups, stop } = keep();
    due[0]?.();
    due[1]?.();
    expect(backups).toHaveLength(1);
    await stop();
  });

  it('makes the next backup after a failed one', async () => {
    const { due, backups, stop } = keep();
    due[0]?.();
    backups[0]?.reject(new Error('the disk is full'));
    await setImmediate();
    due[1]?.();
    expect(backups).toHaveLength(2);
    await stop();
  });

  it('ends even if the backup fails', async () => {
    const error = new Error('the disk is full');
    const { said } = await stopWith(mebibyte, () => Promise.reject(error));
    expect(said).toEqual([['state backup failed', { error }]]);
  });
});
