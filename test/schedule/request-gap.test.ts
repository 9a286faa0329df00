import { describe, expect, it } from 'vitest';
import type { Api } from '../../src/api/client.ts';
import { systemInfo } from '../../src/api/endpoints/system.ts';
import { createRequestGap } from '../../src/schedule/request-gap.ts';
import { fakeClock } from '../support/fake-clock.ts';

function setUp({ waits = true } = {}) {
  let nowMs = 0;
  const asked: string[] = [];
  const ask = (word: string) => async (): Promise<void> => {
    asked.push(`${word} ${nowMs}`);
  };
  function after(ms: number, run: () => void): () => void {
    nowMs += ms;
    run();
    return () => {};
  }
  // This cast is safe: the answers are not read.
  const api = {
    get: ask('get'),
    getTimed: ask('getTimed'),
    supports: ask('supports'),
    server: () => ({}),
  } as unknown as Api;
  const gap = createRequestGap({
    clock: fakeClock({ ticks: () => nowMs, ...(waits ? { after } : {}) }),
    open: () => api,
  });
  return {
    gap,
    asked,
    later: (ms: number) => {
      nowMs += ms;
    },
  };
}

describe('schedule/request-gap', () => {
  it('keeps a distance between requests with and without a measured time', async () => {
    const { gap, asked, later } = setUp();
    const api = gap.api(new AbortController().signal);
    gap.begin(100);
    await api.get(systemInfo);
    await api.supports(systemInfo);
    await api.getTimed(systemInfo);
    later(30);
    await api.get(systemInfo);
    later(500);
    await api.get(systemInfo);
    await api.get(systemInfo);

    expect(asked).toEqual(['get 0', 'supports 0', 'getTimed 100', 'get 200', 'get 700', 'get 800']);
    expect(gap.asked()).toBe(5);
  });

  it('keeps no distance by default', async () => {
    const { gap, asked } = setUp();
    const api = gap.api(new AbortController().signal);
    await api.get(systemInfo);
    await api.get(systemInfo);

    expect(asked).toEqual(['get 0', 'get 0']);
  });

  it('waits no longer than the current gap', async () => {
    const { gap, asked } = setUp();
    const api = gap.api(new AbortController().signal);
    gap.begin(60_000);
    await api.get(systemInfo);
    gap.begin(100);
    await api.get(systemInfo);

    expect(asked).toEqual(['get 0', 'get 100']);
    expect(gap.asked()).toBe(1);
  });

  it('stops waiting when the signal aborts', async () => {
    const { gap, asked } = setUp({ waits: false });
    const ending = new AbortController();
    const api = gap.api(ending.signal);
    gap.begin(3_600_000);
    await api.get(systemInfo);
    const second = api.get(systemInfo);
    ending.abort();

    await expect(second).rejects.toThrow('aborted');
    expect(asked).toEqual(['get 0']);
  });
});
