import { describe, expect, it } from 'vitest';
import type { Api } from '../../src/api/client.ts';
import { createServerClock, type ServerTime } from '../../src/executions/reading/server-clock.ts';
import { refusal } from './fake-api.ts';

describe('executions/server-clock', () => {
  it('uses the server time of a response', async () => {
    const { read, asked } = createScene(() => 0);
    expect(await read(7000)).toBe(7000);
    expect(asked()).toBe(0);
  });

  it('requests the time whenever a response has no date', async () => {
    const { read, asked, pass } = createScene((nowMs) => nowMs + 90_000);
    for (let count = 1; count <= 3; count += 1) {
      expect(await read(undefined)).toBe(1_075_000 + count * 15_000);
      expect(asked()).toBe(count);
      pass(15_000);
    }
  });

  it.each([() => undefined, refuse])(
    'requests the time every five minutes if no response has a date',
    async (answer) => {
      const { read, asked, pass } = createScene(answer);
      await read(undefined);
      pass(299_999);
      expect(await read(undefined)).toBe(1_299_999);
      expect(asked()).toBe(1);
      pass(1);
      await read(undefined);
      expect(asked()).toBe(2);
    },
  );

  it('returns whole milliseconds', async () => {
    const { read, pass } = createScene((nowMs) => nowMs + 90_000.25);
    pass(0.9004);
    expect(await read(undefined)).toBe(1_090_001);
    pass(15_000.7);
    expect(await read(undefined)).toBe(1_105_001);
    expect(await read(1_200_000.5)).toBe(1_200_000);
  });

  it.each(['server', 'timeout', 'not_found', 'decode'] as const)(
    'uses the last known difference if the request ends in %s',
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

  it('uses the last known difference if the request is denied', async () => {
    const { read, pass } = createScene(refuse);
    expect(await read(undefined)).toBe(1_000_000);
    await read(1_060_000);
    pass(15_000);
    expect(await read(undefined)).toBe(1_075_000);
  });

  it.each(['server', 'forbidden'] as const)(
    'uses the stored difference if the first request ends in %s',
    async (kind) => {
      const fail = (): never => {
        throw refusal(kind);
      };
      const { read } = createScene(fail, { skewMs: 600_000, listedAtMs: 0 });
      expect(await read(undefined)).toBe(1_600_000);
      expect(await read(1_060_000)).toBe(1_060_000);
      expect(await read(undefined)).toBe(1_060_000);
    },
  );

  it('accepts a forward step only after five minutes', async () => {
    const { read, pass } = createScene(refuse);
    await read(1_000_000);
    for (let passedMs = 0; passedMs < 300_000; passedMs += 15_000) {
      pass(15_000);
      expect(await read(10_000_000 + passedMs)).toBe(1_015_000 + passedMs);
    }
    pass(15_000);
    expect(await read(10_300_000)).toBe(10_300_000);
  });

  it('accepts a clock step during an absence only after five minutes', async () => {
    const { read, pass, doubted } = createScene(refuse, { skewMs: 0, listedAtMs: 1_000_000 });
    expect(await read(10_000_000)).toBe(1_000_000);
    expect(doubted()).toBe(10_001_000);
    pass(300_000);
    expect(await read(10_300_000)).toBe(10_300_000);
    expect(doubted()).toBeUndefined();
  });

  it.each([
    {},
    { skewMs: 6_000_000, listedAtMs: 0 },
    { skewMs: 19_000_000, listedAtMs: 0 },
    { skewMs: 0, listedAtMs: 6_400_000 },
  ])('accepts the first time although an expected time is known: %j', async (known) => {
    const { read } = createScene(refuse, known);
    expect(await read(10_000_000)).toBe(10_000_000);
  });

  it.each([
    [661_000, { beginMs: 1_000_000, endMs: 1_661_000 }],
    [30_000, undefined],
  ])('detects only once a step of %i ms during an absence', async (byMs, leap) => {
    const { read, pass, latest } = createScene(refuse, { skewMs: 0, listedAtMs: 1_000_000 });
    await read(1_000_000 + byMs);
    expect(latest()?.leap).toEqual(leap);
    pass(15_000);
    await read(1_015_000 + byMs);
    expect(latest()?.leap).toBeUndefined();
  });

  it.each([32, 33])('skips the days that an accepted clock step of %i days leaps over', async (days) => {
    const { read, pass, latest } = createScene(refuse);
    await read(1_000_000);
    for (let minute = 1; minute <= 6; minute += 1) {
      pass(60_000);
      await read(1_000_000 + minute * 60_000 + days * 86_400_000);
    }
    const endMs = 1_360_000 + days * 86_400_000;
    expect(latest()?.nowMs).toBe(endMs);
    expect(latest()?.leap).toEqual(days > 32 ? undefined : { beginMs: 1_360_000, endMs });
  });

  it('ignores a forward step that did not last', async () => {
    const { read, pass } = createScene(refuse);
    await read(1_000_000);
    pass(290_000);
    expect(await read(10_000_000)).toBe(1_290_000);
    pass(5000);
    expect(await read(1_295_000)).toBe(1_295_000);
    pass(15_000);
    expect(await read(10_000_000)).toBe(1_310_000);
  });

  it('accepts a forward step of less than an hour immediately', async () => {
    const { read, pass } = createScene(refuse);
    await read(1_000_000);
    pass(15_000);
    expect(await read(4_600_000)).toBe(4_600_000);
    pass(15_000);
    expect(await read(8_215_000)).toBe(8_215_000);
    pass(15_000);
    expect(await read(11_830_001)).toBe(8_230_000);
  });

  it('rewinds to the time at which the clock went ahead', async () => {
    const { read, pass, rewindTo, reached } = createScene(refuse);
    await read(1_000_000);
    pass(15_000);
    await read(1_615_000);
    expect(rewindTo()).toBeUndefined();
    pass(60_000);
    await read(1_075_000);
    expect(rewindTo()).toBe(1_015_000);
    // The dates of the server may be cut to whole seconds.
    expect(reached()).toBe(1_676_000);
    pass(15_000);
    await read(1_045_000);
    expect(rewindTo()).toBe(1_030_000);
    // Whole seconds and slow responses do not look like a clock change.
    pass(15_000);
    await read(1_031_000);
    expect(rewindTo()).toBeUndefined();
  });

  it('rewinds to the last time from the server', async () => {
    let answer = (nowMs: number): number => nowMs;
    const { read, pass, rewindTo } = createScene((nowMs) => answer(nowMs));
    await read(undefined);
    answer = refuse;
    for (let passedMs = 0; passedMs < 300_000; passedMs += 15_000) {
      pass(15_000);
      await read(undefined);
      expect(rewindTo()).toBeUndefined();
    }
    answer = (nowMs) => nowMs - 660_000;
    pass(15_000);
    await read(undefined);
    expect(rewindTo()).toBe(340_000);
  });

  it('reports that the clock was unknown for more than a minute', async () => {
    const { read, pass, wasUnseen } = createScene(refuse);
    await read(1_000_000);
    pass(60_000);
    await read(1_060_000);
    expect(wasUnseen()).toBe(false);
    pass(60_001);
    await read(1_120_001);
    expect(wasUnseen()).toBe(true);
    pass(15_000);
    await read(1_135_001);
    expect(wasUnseen()).toBe(false);
  });

  it('requests the time after an unexpected date', async () => {
    const { read, asked, pass } = createScene((nowMs) => nowMs);
    await read(1_000_000);
    pass(60_000);
    expect(await read(1_660_000)).toBe(1_060_000);
    expect(asked()).toBe(1);
    pass(15_000);
    expect(await read(1_675_000)).toBe(1_675_000);
    expect(asked()).toBe(1);
  });

  it('requests the time every quarter of an hour', async () => {
    const { read, asked, pass } = createScene((nowMs) => nowMs);
    for (let passedMs = 0; passedMs < 1_800_000; passedMs += 15_000) {
      await read(1_000_000 + passedMs);
      pass(15_000);
    }
    expect(asked()).toBe(1);
    await read(2_800_000);
    expect(asked()).toBe(2);
  });
});

function refuse(): never {
  throw refusal('forbidden');
}

function createScene(
  answer: (nowMs: number) => number | undefined,
  known: Parameters<typeof createServerClock>[1] = {},
) {
  let nowMs = 1_000_000;
  let asked = 0;
  let latest: ServerTime | undefined;
  const api = {
    getTimed: async () => {
      asked += 1;
      return { answer: { timestampMs: answer(nowMs) }, midRequestMs: nowMs };
    },
  };
  const serverClock = createServerClock({ now: () => nowMs, ticks: () => nowMs }, known);
  return {
    /** An error of this request must not become an error of the round. */
    read: async (answeredAtMs: number | undefined) => {
      const isAsked = serverClock.isOld(answeredAtMs);
      // This cast is safe: the clock sends only this request.
      if (isAsked) await serverClock.ask(api as unknown as Api).catch(() => undefined);
      const time = serverClock.now(answeredAtMs);
      latest = time;
      return time.nowMs;
    },
    latest: () => latest,
    rewindTo: () => latest?.rewindToMs,
    reached: () => latest?.reachedMs,
    doubted: () => latest?.doubtedMs,
    wasUnseen: () => latest?.wasUnseen,
    asked: () => asked,
    pass: (ms: number) => {
      nowMs += ms;
    },
  };
}
