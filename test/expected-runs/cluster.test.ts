import { describe, expect, it } from 'vitest';
import { noPause } from '../../src/domain/pause.ts';
import { createOutlook } from '../../src/expected-runs/ahead.ts';
import { createStopping, hour } from './hourly.ts';
import { job, nowMs } from './risks/some-risks.ts';

describe('expected-runs, of a cluster behind one address', () => {
  it('compares the runs of a member with its own threads, and does not know whether a member is gone', async () => {
    const { control, minutes, risks, schedule } = createStopping({ members: 3, threadPoolSize: 3 });
    control.createProject('pay');
    control.setConditions({ durationFactor: 60 });
    // Each member has every third job.
    for (let count = 0; count < 9; count += 1) control.createJob('pay', { name: `job ${count}`, schedule: hour });
    await minutes(80);
    const { byReason, expected } = await risks();
    expect([expected, byReason.get('saturated'), byReason.get('owner_gone')]).toEqual([108, 0, undefined]);
    expect((await schedule()).ahead).toMatchObject({ threads: 9, day: { most: 9, exceededMs: undefined } });
    control.createJob('pay', { name: 'one too many', schedule: hour });
    await minutes(10);
    expect((await risks()).byReason.get('saturated')).toBe(4 * 12);
    const { hours } = (await schedule()).ahead ?? {};
    expect(hours?.map(({ exceeded }) => exceeded?.jobCount).slice(0, 3)).toEqual([undefined, 4, 4]);
  });

  it('has no threads of its own for jobs whose owner is not known', async () => {
    const ownerOf = { a: 'one', b: 'one', c: undefined };
    const all = new Map(
      Object.entries(ownerOf).map(([name, ownerUuid]) => [name, job(name, [1], ownerUuid ? { ownerUuid } : {})]),
    );
    const { plan, ahead } = createOutlook({
      jobs: { all, failingNodes: () => new Map() },
      port: {
        running: () => [],
        durationMs: () => 1000,
        factsOf: () => undefined,
        progress: () => undefined,
        runningReadMs: () => 0,
      },
      notes: { all: () => new Map(), serverNowMs: () => nowMs, threads: () => 2 },
      settings: { isCriticalJob: () => false },
      surroundings: () => undefined,
    });
    const { day } = await plan(noPause);
    expect([day, ahead()?.threads]).toEqual([{ most: 3, exceededMs: nowMs + 60_000 }, 2]);
  });
});
