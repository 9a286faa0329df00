import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { isAll, pickPart } from '../support/all.ts';
import { allCards } from './cards.ts';
import { createDice } from './dice.ts';
import { withFurther } from './further.ts';
import { type Plan, planWorld, readPlans } from './plan.ts';
import { planDays } from './plan-days.ts';
import { findLost } from './planting.ts';
import { playWorld } from './play.ts';
import { shrink, toCommand } from './shrink.ts';
import { createDaemonClock, createVirtualTime } from './virtual-time.ts';

/** Plans that once showed a fault. */
const corpus = readPlans(join(import.meta.dirname, 'corpus.jsonl'));

const seeds = Array.from({ length: Number(process.env['WORLD_SEEDS'] ?? 60) }, (_, index) => 1001 + index);

let ended = 0;
let leftOut = 0;

async function playPlan(given: Plan): Promise<string[]> {
  const report = await playWorld(given);
  ended += report.ended;
  leftOut += report.leftOut.length;
  const [first] = report.faults;
  if (first === undefined) return [];
  const { plan } = await shrink(report);
  return [`seed ${given.seed}, ${first.oracle}: ${first.says}\n  ${toCommand(report.plan, plan)}`];
}

describe('world', () => {
  it('plays the same world for the same seed', async () => {
    const plan = planWorld(22, allCards);
    const [one, other] = [await playWorld(plan), await playWorld(plan)];
    expect(other.hash).toBe(one.hash);
    expect(one.requests).toBeGreaterThan(100);
  });

  it('refuses a time that is not a number, instead of waiting forever', () => {
    const time = createVirtualTime(0);
    const { clock } = createDaemonClock(time, { wallOffsetMs: 0, drift: 0 }, createDice('times'));
    expect(() => time.after(Number.NaN, () => undefined)).toThrow('a time has to be a number');
    expect(() => clock.after(Number.NaN, () => undefined)).toThrow('a timer has to have a time');
  });

  it('finds no fault with SQLite or with the state in memory', async () => {
    const plan = { ...planWorld(23, allCards), traces: 'nodes' } as const;
    const memory = await playWorld({ ...plan, state: 'memory' });
    const sqlite = await playWorld({ ...plan, state: 'sqlite' });
    expect([memory.faults, sqlite.faults]).toEqual([[], []]);
    expect(sqlite.traces).toBe(memory.traces);
  });

  it.each([-1_200_000, 1_200_000])(
    'makes a trace of every execution if the server clock is %i ms ahead',
    async (serverAheadMs) => {
      const plan = { ...planWorld(2, []), traces: 'root', serverAheadMs, maxTraceAgeMs: 600_000 } as const;
      const report = await playWorld(plan);
      expect(report.faults).toEqual([]);
      expect(report.traces).toBeGreaterThan(20);
    },
  );

  it('finds no fault in worlds that once showed a fault', async () => {
    const faults: string[] = [];
    for (const given of pickPart(corpus, 4)) faults.push(...(await playPlan(given)));
    expect(faults).toEqual([]);
  }, 300_000);

  it('finds no fault in many random worlds', async () => {
    const faults: string[] = [];
    for (const seed of pickPart(seeds, 4)) {
      faults.push(...(await playPlan(withFurther(planWorld(seed, allCards)))));
      if (faults.length > 2) break;
    }
    expect(faults).toEqual([]);
    // Most of these executions ended during absences beyond the catch-up limit.
    expect(leftOut / ended).toBeLessThan(isAll ? 0.03 : 0.2);
  }, 600_000);

  it.each(pickPart([1, 2, 3, 4, 5, 8], 3))(
    'finds no fault in a world of ten days: seed %i',
    async (seed) => {
      expect((await playWorld(planDays(seed, 10))).faults).toEqual([]);
    },
    300_000,
  );

  it('finds the text of each planted fault exactly once in the sources', () => {
    expect(findLost()).toEqual([]);
  });
});
