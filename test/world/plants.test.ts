import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { isAll, pickPart } from '../support/all.ts';
import { drawPlan } from './draw-plan.ts';
import { readOptions } from './options.ts';
import { plants } from './plants.ts';
import { playWorld } from './play.ts';

/** Plays a world with a planted fault in a new process. */
function play(
  name: string,
  shownBy: string,
  more: readonly string[] = ['--no-shrink'],
): Promise<{ readonly code: number | null; readonly output: string }> {
  const script = join(import.meta.dirname, 'run.ts');
  const args = [script, `--plant=${name.replaceAll(' ', '_')}`, ...shownBy.split(' '), ...more];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString('utf8');
  });
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, output }));
  });
}

describe('world/plants', () => {
  it('prints the command that replays a faulty world', async () => {
    const shownBy = '--seed=1 --cards=poison@100000+1000 --length=168000 --projects=1 --traces=off';
    const { output } = await play('no overlap', shownBy, []);
    expect(output).toContain('FAILED seed 1 small');
    expect(output).toMatch(/cards: none\n +npm run world -- --seed=1 --cards= --length=\d+ .*--plant=no_overlap\n/);
  }, 120_000);

  it.each(
    isAll ? ['a shared list is dated now', 'a long round shows nothing', 'what is skipped is counted first'] : [],
  )(
    'finds the fault in the first random worlds: %s',
    async (name) => {
      const { code, output } = await play(name, '--from=1 --seeds=100 --bail');
      expect(output).toContain('FAILED seed');
      expect(code).toBe(1);
    },
    300_000,
  );

  const chosen = pickPart(plants, 4);

  it.each(chosen)(
    'finds the fault: $name',
    async ({ name, shownBy }) => {
      const { code, output } = await play(name, shownBy);
      expect(output).toContain('FAILED seed');
      expect(code).toBe(1);
    },
    120_000,
  );

  it.each([...new Set(chosen.map(({ shownBy }) => shownBy))])(
    'finds no fault in worlds without a planted fault: %s',
    async (shownBy) => {
      const { faults } = await playWorld(drawPlan(readOptions(shownBy.split(' '))));
      expect(faults).toEqual([]);
    },
    120_000,
  );
});
