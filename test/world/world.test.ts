import { describe, expect, it } from 'vitest';
import { allCards } from './cards.ts';
import { planWorld } from './plan.ts';
import { findLost } from './planting.ts';
import { playWorld } from './play.ts';
import { shrink, toCommand } from './shrink.ts';

/** Seeds that found something once. */
const corpus: readonly number[] = [19, 42, 44, 46, 57, 77];

/** As many as a core plays in about two minutes; a slower machine plays fewer of them, but so many at least. */
const seeds = 25;
const leastSeeds = 12;
const budgetMs = 120_000;

async function playSeed(seed: number): Promise<string[]> {
  const report = await playWorld(planWorld(seed, allCards));
  const [first] = report.faults;
  if (first === undefined) return [];
  const { plan } = await shrink(report);
  return [`seed ${seed}, ${first.oracle}: ${first.says}\n  ${toCommand(report.plan, plan)}`];
}

describe('world', () => {
  it('is the same world for the same seed', async () => {
    const plan = planWorld(21, allCards);
    const [one, other] = [await playWorld(plan), await playWorld(plan)];
    expect(other.hash).toBe(one.hash);
    expect(one.requests).toBeGreaterThan(300);
  }, 60_000);

  it('holds whichever state is beneath it', async () => {
    const plan = { ...planWorld(23, allCards), traces: 'nodes' } as const;
    const memory = await playWorld({ ...plan, state: 'memory' });
    const sqlite = await playWorld({ ...plan, state: 'sqlite' });
    expect([memory.faults, sqlite.faults]).toEqual([[], []]);
    expect(sqlite.traces).toBe(memory.traces);
  }, 60_000);

  it('finds nothing in the worlds that found something once', async () => {
    const faults: string[] = [];
    for (const seed of corpus) faults.push(...(await playSeed(seed)));
    expect(faults).toEqual([]);
  }, 300_000);

  it('finds nothing in many worlds, whatever goes wrong in them', async () => {
    const faults: string[] = [];
    const startedMs = performance.now();
    let seed = 1001;
    for (; seed < 1001 + seeds; seed += 1) {
      if (seed >= 1001 + leastSeeds && performance.now() - startedMs > budgetMs) break;
      faults.push(...(await playSeed(seed)));
      if (faults.length > 2) break;
    }
    process.stdout.write(`${seed - 1001} worlds in ${((performance.now() - startedMs) / 1000).toFixed(0)} s\n`);
    expect(faults).toEqual([]);
  }, 600_000);

  it('knows where each planted fault goes', () => {
    expect(findLost()).toEqual([]);
  });
});
