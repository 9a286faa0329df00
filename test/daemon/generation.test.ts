import { describe, expect, it } from 'vitest';
import type { Config } from '../../src/config/config.ts';
import { succeed, type Watching } from '../../src/daemon/generation.ts';

/** A generation that watches nothing; `told` notes its start. */
function some(name: string, told: string[]): Watching {
  const scheduler = { start: () => told.push(`${name} starts`), stop: async () => undefined, status: () => [] };
  // This cast is safe: the configuration is not looked at here.
  return { config: {} as Config, watched: new Map(), scheduler, traces: undefined };
}

describe('daemon/generation', () => {
  it('starts a new configuration only after the previous polls have ended, because these may still commit', async () => {
    const told: string[] = [];
    const ended = Promise.withResolvers<undefined>();
    let current = some('old', told);
    const after = some('new', told);
    const reloaded = succeed(after.config, {
      current: () => current,
      put: (next) => {
        current = next;
      },
      make: async () => after,
      end: async () => {
        await ended.promise;
        told.push('old has ended');
      },
      leaveBehind: async () => undefined,
    });
    await new Promise(setImmediate);
    expect(told).toEqual([]);
    ended.resolve(undefined);
    await reloaded;
    expect(told).toEqual(['old has ended', 'new starts']);
  });
});
