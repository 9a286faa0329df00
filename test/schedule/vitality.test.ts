import { describe, expect, it } from 'vitest';
import { ApiError, type ErrorKind } from '../../src/api/errors.ts';
import { createSelf } from '../../src/metrics/self.ts';
import { createVitality } from '../../src/schedule/vitality.ts';

const key = { server: 'prod' };

function fault(kind: ErrorKind, status?: number): ApiError {
  const answered = status === undefined ? {} : { status, isOfService: true, errorCode: kind };
  return new ApiError(`GET demo: ${kind}`, { kind, apiEndpoint: 'demo', ...answered });
}

function setUp() {
  let nowMs = 1000;
  const self = createSelf({ version: 'test', nodeVersion: 'test' });
  const vitality = createVitality(self, key, { now: () => nowMs });
  const upOf = async (): Promise<number | undefined> => (await self.up.get()).values[0]?.value;
  const acceptedOf = async (): Promise<number | undefined> => (await self.credentialsAccepted.get()).values[0]?.value;
  return {
    ...vitality,
    upOf,
    acceptedOf,
    later: () => {
      nowMs += 1000;
    },
  };
}

describe('schedule/vitality', () => {
  it.each<readonly [string, unknown, 'up' | 'refused' | 'down', number]>([
    ['an answer', undefined, 'up', 1],
    ['a denial of one item', fault('forbidden', 403), 'up', 1],
    ['refused credentials', fault('unauthorized', 403), 'refused', 0],
    ['no answer', fault('timeout'), 'down', 0],
  ])('shows the same state on pages and in metrics after %s', async (_name, ended, state, up) => {
    const scene = setUp();
    scene.ended(ended);
    expect([scene.seen()?.state, await scene.upOf()]).toEqual([state, up]);
  });

  it('shows nothing before the first poll, or after an error of the exporter', () => {
    const scene = setUp();
    scene.ended(new Error('a mistake of ours'));
    expect(scene.seen()).toBeUndefined();
  });

  it("reports nothing if the exporter's own limits prevented a request", () => {
    const scene = setUp();
    scene.ended();
    scene.ended(new ApiError('not asked', { kind: 'timeout', apiEndpoint: 'demo', unsent: true, isOwnLimit: true }));
    expect(scene.seen()?.state).toBe('up');
  });

  it('ignores an error of a poll that began before the last success', () => {
    const scene = setUp();
    scene.ended(undefined, 2000);
    scene.ended(fault('server', 503), 1000);
    expect(scene.seen()?.state).toBe('up');
    scene.ended(fault('server', 503), 3000);
    expect(scene.seen()?.state).toBe('down');
  });

  it.each(['late', 500] as const)('counts two faults in a row as an outage: %s', (end) => {
    const scene = setUp();
    const states = [undefined, end, undefined, end, end, undefined, end, undefined].map((each) => {
      scene.ended(each && (each === 'late' ? fault('timeout') : fault('server', each)));
      return scene.seen()?.state;
    });
    expect(states).toEqual(['up', 'up', 'up', 'up', 'down', 'up', 'up', 'up']);
  });

  it('counts the first refused connection as an outage', () => {
    const scene = setUp();
    scene.ended();
    scene.ended(fault('network'));
    expect(scene.seen()?.state).toBe('down');
  });

  it('reports when the server is up again', () => {
    const scene = setUp();
    const before: string[] = [];
    scene.onBack(({ state }) => before.push(state));
    for (const kind of ['up', 'up', 'network', 'unauthorized', 'up', 'network', 'up'] as const)
      scene.ended(kind === 'up' ? undefined : fault(kind, kind === 'network' ? undefined : 403));
    expect(before).toEqual(['refused', 'down']);
  });

  it('remembers the time of the last change and the last error', () => {
    const scene = setUp();
    scene.ended(fault('timeout'));
    scene.later();
    scene.ended(fault('network'));
    expect(scene.seen()).toEqual({ state: 'down', sinceMs: 1000, message: 'GET demo: network' });

    scene.later();
    scene.ended();
    expect(scene.seen()).toEqual({ state: 'up', sinceMs: 3000, message: undefined });
  });

  it('shows refused credentials only while the server answers', async () => {
    const scene = setUp();
    scene.ended(fault('unauthorized', 403));
    expect(await scene.acceptedOf()).toBe(0);
    scene.ended(fault('server', 503));
    expect(await scene.acceptedOf()).toBe(0);
    scene.ended(fault('network'));
    expect(await scene.acceptedOf()).toBeUndefined();
  });

  it('shows accepted credentials while the server is down', async () => {
    const scene = setUp();
    scene.ended(fault('unauthorized', 403));
    scene.ended();
    expect(await scene.acceptedOf()).toBe(1);
    scene.ended(fault('network'));
    expect(await scene.acceptedOf()).toBe(1);
  });
});
