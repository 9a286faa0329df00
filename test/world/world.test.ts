import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { allCards } from './cards.ts';
import { createDice } from './dice.ts';
import { type Plan, planWorld, readPlans } from './plan.ts';
import { findLost } from './planting.ts';
import { playWorld } from './play.ts';
import { shrink, toCommand } from './shrink.ts';
import { createDaemonClock, createVirtualTime } from './virtual-time.ts';

/** Plans that found something once, one a line. */
const corpus = readPlans(join(import.meta.dirname, 'corpus.jsonl'));

/** As many as a core plays in half a minute; a slower machine plays fewer of them, but at least this number. */
const seeds = 60;
const minSeeds = 25;
const budgetMs = 30_000;

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
  it('is the same world for the same seed', async () => {
    const plan = planWorld(22, allCards);
    const [one, other] = [await playWorld(plan), await playWorld(plan)];
    expect(other.hash).toBe(one.hash);
    expect(one.requests).toBeGreaterThan(100);
  }, 60_000);

  it('refuses a time that is not a number instead of waiting for ever', () => {
    const time = createVirtualTime(0);
    const { clock } = createDaemonClock(time, { wallOffsetMs: 0, drift: 0 }, createDice('times'));
    expect(() => time.after(Number.NaN, () => undefined)).toThrow('a time has to be a number');
    expect(() => clock.after(Number.NaN, () => undefined)).toThrow('a timer has to have a time');
  });

  it('is sound with either state engine', async () => {
    const plan = { ...planWorld(23, allCards), traces: 'nodes' } as const;
    const memory = await playWorld({ ...plan, state: 'memory' });
    const sqlite = await playWorld({ ...plan, state: 'sqlite' });
    expect([memory.faults, sqlite.faults]).toEqual([[], []]);
    expect(sqlite.traces).toBe(memory.traces);
  }, 60_000);

  it.each([-1_200_000, 1_200_000])(
    "makes a trace of all that ended a while ago by the clock of a server that is %i ms ahead of the exporter's",
    async (serverAheadMs) => {
      const plan = { ...planWorld(2, []), traces: 'root', serverAheadMs, maxTraceAgeMs: 600_000 } as const;
      const report = await playWorld(plan);
      expect(report.faults).toEqual([]);
      expect(report.traces).toBeGreaterThan(20);
    },
    60_000,
  );

  it('finds nothing in worlds that once found something', async () => {
    const faults: string[] = [];
    for (const given of corpus) faults.push(...(await playPlan(given)));
    expect(faults).toEqual([]);
  }, 300_000);

  it('finds nothing in many worlds, whatever goes wrong in them', async () => {
    const faults: string[] = [];
    const startedMs = performance.now();
    let seed = 1001;
    for (; seed < 1001 + seeds; seed += 1) {
      if (seed >= 1001 + minSeeds && performance.now() - startedMs > budgetMs) break;
      faults.push(...(await playPlan(planWorld(seed, allCards))));
      if (faults.length > 2) break;
    }
    process.stdout.write(`${seed - 1001} worlds in ${((performance.now() - startedMs) / 1000).toFixed(0)} s\n`);
    expect(faults).toEqual([]);
    // Most of them ended while no daemon was there for longer than is caught up with.
    expect(leftOut / ended).toBeLessThan(0.03);
  }, 600_000);

  it('has a place for each planted fault', () => {
    expect(findLost()).toEqual([]);
  });
});
