import { describe, expect, it } from 'vitest';
import { planWorld } from './plan.ts';
import { playWorld } from './play.ts';
import { valueOf } from './watch-scrapes.ts';

const rows = 20_000;
const pageSize = 500;
const hourMs = 3_600_000;

describe('world/slow-server', () => {
  it('reads a dense past with few requests', async () => {
    const lags: number[] = [];
    const ups: (number | undefined)[] = [];
    const asked: string[] = [];
    const plan = {
      ...planWorld(1, []),
      projects: 3,
      lengthMs: 20 * 60_000,
      gapMs: 60_000,
      minMs: 1500,
      tailShare: 0,
      date: 'own',
      serverAheadMs: 0,
      backfillMs: 24 * hourMs,
      catchUpLimitMs: 168 * hourMs,
      scrapeMs: 15_000,
      executionsEveryMs: 15_000,
      requestsPerSecond: 10,
      traces: 'off',
      state: 'memory',
    } as const;
    const report = await playWorld(plan, {
      begin: ({ service, time, estate, weather }) => {
        weather.usual.spread = 0;
        const [place] = estate.places;
        if (place === undefined) throw new Error('there are places');
        for (let count = rows - 1; count >= 0; count -= 1) {
          const endedAtMs = Math.floor(time.nowMs() - 1000 - (count / rows) * hourMs);
          service.control.addFinished(place.name, { startedAtMs: endedAtMs - 700, endedAtMs });
        }
      },
      onEvent: (_atMs, text) => {
        if (text.startsWith('> ') && /\/project\/p\d\/executions\?/.test(text)) asked.push(text);
      },
      onLook: async (self) => {
        lags.push((await valueOf(self.executionLag, {})) ?? Number.POSITIVE_INFINITY);
        ups.push(await valueOf(self.up, {}));
      },
    });

    expect(report.faults).toEqual([]);
    expect(lags.findIndex((lag) => lag < 30)).toBeLessThan(24);
    // Later no execution ends, and idle projects are read.
    expect(Math.max(...lags.slice(24, 76))).toBeLessThan(30);
    expect(ups.slice(2).filter((up) => up !== 1)).toEqual([]);
    const rounds = (plan.lengthMs + plan.maxDelayMs + 9 * 60_000) / plan.executionsEveryMs;
    const least = rows / pageSize + rounds * plan.projects;
    expect(asked.length).toBeLessThanOrEqual(1.3 * least);
  }, 120_000);
});
