import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { pickPart } from '../../support/all.ts';
import { startChild } from '../../support/child.ts';
import { findLost } from '../planting.ts';
import { replicaPlants } from './plants.ts';
import { playReplicas } from './play.ts';

const seeds = Array.from({ length: Number(process.env['REPLICA_SEEDS'] ?? 40) }, (_, index) => 1001 + index);

/** Plays worlds with the command and returns its output. */
async function run(given: readonly string[]): Promise<string> {
  const child = startChild(process.execPath, [join(import.meta.dirname, 'run.ts'), ...given]);
  await child.ended;
  return child.output();
}

describe('world/replicas', () => {
  it('plays the same world for the same seed', async () => {
    const one = await playReplicas(3);
    const other = await playReplicas(3);
    expect(other.hash).toBe(one.hash);
    expect(one.executions).toBeGreaterThan(20);
  }, 120_000);

  it('counts each execution once when owners change', async () => {
    const found: string[] = [];
    for (const seed of pickPart(seeds, 4)) {
      const { faults } = await playReplicas(seed);
      for (const { oracle, says } of faults) found.push(`seed ${seed}, ${oracle}: ${says}`);
      if (found.length > 0) break;
    }
    expect(found).toEqual([]);
  }, 600_000);

  it('finds the text of each planted fault exactly once in the sources', () => {
    expect(findLost(replicaPlants)).toEqual([]);
  });

  it.each(pickPart(replicaPlants, 3))(
    'finds the planted fault: $name',
    async ({ name, shownBy }) => {
      const planted = await run([...shownBy.split(' '), `--plant=${name.replaceAll(' ', '_')}`]);
      const sound = await run(shownBy.split(' '));
      expect(planted).toContain('FAILED seed');
      expect(sound).toContain('0 of 1 failed');
    },
    180_000,
  );
});
