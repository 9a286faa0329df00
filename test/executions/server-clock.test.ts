import { describe, expect, it } from 'vitest';
import type { Api } from '../../src/api/client.ts';
import { createServerClock } from '../../src/executions/server-clock.ts';
import { refusal } from './fake-api.ts';

describe('executions/server-clock', () => {
  it('takes the time of the answer', async () => {
    const { read, asked } = createScene(() => 0);
    expect(await read(7000)).toBe(7000);
    expect(asked()).toBe(0);
  });

  it('asks for it where answers do not tell, and reckons on for five minutes', async () => {
    const { read, asked, pass } = createScene((nowMs) => nowMs + 90_000);
    expect(await read(undefined)).toBe(1_090_000);
    pass(299_999);
    expect(await read(undefined)).toBe(1_389_999);
    expect(asked()).toBe(1);
    pass(1);
    await read(undefined);
    expect(asked()).toBe(2);
  });

  it('tells whole milliseconds, although ticks and the middle of a request are none', async () => {
    const { read, pass } = createScene((nowMs) => nowMs + 90_000.25);
    pass(0.9004);
    expect(await read(undefined)).toBe(1_090_001);
    pass(15_000.7);
    expect(await read(undefined)).toBe(1_105_001);
    expect(await read(1_200_000.5)).toBe(1_200_000);
  });

  it.each(['server', 'timeout', 'not_found', 'decode'] as const)(
    'goes by what was known last, or by our own clock, where the question ends in %s',
    async (kind) => {
      const refuse = (): never => {
        throw refusal(kind);
      };
      const { read, pass } = createScene(refuse);
      expect(await read(undefined)).toBe(1_000_000);
      await read(1_060_000);
      pass(15_000);
      expect(await read(undefined)).toBe(1_075_000);
    },
  );

  it('goes by what was known last where nobody may ask', async () => {
    const refuse = (): never => {
      throw refusal('forbidden');
    };
    const { read, pass } = createScene(refuse);
    expect(await read(undefined)).toBe(1_000_000);
    await read(1_060_000);
    pass(15_000);
    expect(await read(undefined)).toBe(1_075_000);
  });
});

function createScene(answer: (nowMs: number) => number) {
  let nowMs = 1_000_000;
  let asked = 0;
  const api = {
    getTimed: async () => {
      asked += 1;
      return { answer: { timestampMs: answer(nowMs) }, midRequestMs: nowMs };
    },
  };
  const serverClock = createServerClock({ now: () => nowMs, ticks: () => nowMs });
  return {
    /** A fault of the question costs only itself. */
    read: async (answeredAtMs: number | undefined) => {
      const isAsked = answeredAtMs === undefined && serverClock.isOld();
      // The cast is true: it asks nothing else.
      if (isAsked) await serverClock.ask(api as unknown as Api).catch(() => undefined);
      return serverClock.now(answeredAtMs);
    },
    asked: () => asked,
    pass: (ms: number) => {
      nowMs += ms;
    },
  };
}
