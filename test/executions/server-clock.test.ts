import { describe, expect, it } from 'vitest';
import type { Api } from '../../src/api/client.ts';
import { ApiError } from '../../src/api/errors.ts';
import { createServerClock } from '../../src/executions/server-clock.ts';

const minuteMs = 60_000;
const dayMs = 86_400_000;

/** Our clock shows 1,000,000 when its ticks are at 0. */
function setUp(info?: { readonly aheadMs: number } | ApiError) {
  let ticks = 0;
  let asked = 0;
  const now = (): number => 1_000_000 + ticks;
  const getTimed = async () => {
    asked += 1;
    if (info === undefined || info instanceof ApiError) throw info ?? new Error('nothing is to be asked');
    return { answer: { timestampMs: now() + info.aheadMs }, midRequestMs: now() };
  };
  const read = createServerClock({ now, ticks: () => ticks });
  // The cast is true for what is called.
  const api = { getTimed } as unknown as Api;
  return {
    after: (ms: number) => {
      ticks += ms;
    },
    read: (answeredAtMs?: number) => read(api, answeredAtMs),
    asked: () => asked,
  };
}

describe('executions/server-clock', () => {
  it('takes the time that an answer says', async () => {
    const { read, after } = setUp();
    expect(await read(5_000_000)).toBe(5_000_000);
    after(15_000);
    expect(await read(4_000_000)).toBe(4_000_000);
  });

  it('asks once in five minutes where answers say none, and reckons in between', async () => {
    const { read, after, asked } = setUp({ aheadMs: 500 });
    expect(await read()).toBe(1_000_500);
    after(4 * minuteMs);
    expect(await read()).toBe(1_240_500);
    expect(asked()).toBe(1);
    after(2 * minuteMs);
    expect(await read()).toBe(1_360_500);
    expect(asked()).toBe(2);
  });

  it('takes our own time where nobody tells it', async () => {
    const { read } = setUp(new ApiError('no', { kind: 'forbidden', apiEndpoint: 'system-info' }));
    expect(await read()).toBe(1_000_000);
  });

  it('believes a jump ahead once it has lasted for five minutes', async () => {
    const { read, after } = setUp();
    await read(5_000_000);
    after(15_000);
    expect(await read(5_015_000 + dayMs)).toBe(5_015_000);
    after(4 * minuteMs);
    expect(await read(5_255_000 + dayMs)).toBe(5_255_000);
    after(minuteMs);
    expect(await read(5_315_000 + dayMs)).toBe(5_315_000 + dayMs);
    after(15_000);
    expect(await read(5_330_000 + dayMs)).toBe(5_330_000 + dayMs);
  });

  it('never believes one of several members that is a day ahead', async () => {
    const { read, after } = setUp();
    await read(5_000_000);
    for (let minutes = 1; minutes <= 20; minutes += 1) {
      after(minuteMs);
      const nowMs = 5_000_000 + minutes * minuteMs;
      expect(await read(minutes % 2 === 0 ? nowMs : nowMs + dayMs)).toBe(nowMs);
    }
  });
});
