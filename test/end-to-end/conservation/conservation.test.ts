import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { type PlayOptions, play } from './play.ts';
import { toTable } from './sightings.ts';
import { warmUp } from './watched-process.ts';

const kills = Number(process.env['CONSERVATION_KILLS'] ?? 100);
const seed = Number(process.env['CONSERVATION_SEED'] ?? 1);
const cacheDir = mkdtempSync(join(tmpdir(), 'conservation-cache-'));

describe('end-to-end/conservation', () => {
  afterAll(() => rmSync(cacheDir, { recursive: true, force: true }));

  it('counts every execution exactly once, whatever is killed and whatever happens upstream', async () => {
    await warmUp(cacheDir);
    const each = { kills: Math.ceil(kills / 4), cacheDir };
    const worlds: PlayOptions[] = [
      { ...each, kind: 'renewed', seed: 4 * seed, holdNewSeriesMs: 0 },
      { ...each, kind: 'renewed', seed: 4 * seed + 1, holdNewSeriesMs: 60_000 },
      { ...each, kind: 'crooked', seed: 4 * seed + 2, holdNewSeriesMs: 0 },
      { ...each, kind: 'crooked', seed: 4 * seed + 3, holdNewSeriesMs: 0 },
    ];
    const reports = await Promise.all(worlds.map(play));
    const { text, missing } = toTable(reports.map(({ sightings }) => sightings));
    const replay = `CONSERVATION_SEED=${seed} CONSERVATION_KILLS=${kills} npx vitest run test/end-to-end/conservation`;
    process.stdout.write(`${text}\n`);
    const faults = reports.flatMap((report, index) => report.faults.map((fault) => `world ${index}: ${fault}`));
    expect(faults, `again with ${replay}`).toEqual([]);
    expect(missing, `seen too seldom; again with ${replay}`).toEqual([]);
    const killed = reports.reduce((sum, { sightings }) => sum + sightings.count('kills'), 0);
    expect(killed).toBeGreaterThanOrEqual(kills);
  }, 600_000);
});
