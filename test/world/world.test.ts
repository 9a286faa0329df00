import { describe, expect, it } from 'vitest';
import { allCards } from './cards.ts';
import { planWorld } from './plan.ts';
import { playWorld } from './play.ts';
import { shrink, toCommand } from './shrink.ts';

/** Seeds that found something once. */
const corpus: readonly number[] = [];

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
    expect(one.requests).toBeGreaterThan(500);
  }, 60_000);

  it('plays the same whichever state is beneath it', async () => {
    const plan = { ...planWorld(23, []), traces: 'nodes' } as const;
    const memory = await playWorld({ ...plan, state: 'memory' });
    const sqlite = await playWorld({ ...plan, state: 'sqlite' });
    expect([memory.faults, sqlite.faults]).toEqual([[], []]);
    expect(sqlite.executions).toBe(memory.executions);
  }, 60_000);

  it.skipIf(corpus.length === 0)(
    'finds nothing in the worlds that found something once',
    async () => {
      const faults: string[] = [];
      for (const seed of corpus) faults.push(...(await playSeed(seed)));
      expect(faults).toEqual([]);
    },
    120_000,
  );
});
