import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { crooked, renewed } from './decks.ts';
import { type PlayOptions, play } from './play.ts';
import { toTable } from './sightings.ts';
import { warmUp } from './watched-process.ts';

const kills = Number(process.env['CONSERVATION_KILLS'] ?? 100);
const seed = Number(process.env['CONSERVATION_SEED'] ?? 1);
const cacheDir = mkdtempSync(join(tmpdir(), 'conservation-cache-'));

const dayMs = 86_400_000;

const remarks = ['executions that counted', 'deleted before anyone could read them', 'rounds', 'kills'];

const wanted = {
  'executions shorter than the poll interval': 100,
  'ends that became visible late': 100,
  'pages cut by permissions': 10,
  'pages that shifted under the reader': 10,
  'deletions while reading': 10,
  'totals that lied': 10,
  'steps back of the server clock': 10,
  'rounds over members with skewed clocks': 10,
  'ids that started again': 10,
  'imports of old rows': 10,
  'one-time runs': 10,
  'projects disabled and back': 10,
  'projects hidden and back': 10,
  'projects created and deleted': 10,
  'outages longer than the overlap': 10,
  'executions with hostile names': 10,
  'kills inside a transaction': Math.ceil(kills / 10),
};

describe('end-to-end/conservation', () => {
  afterAll(() => rmSync(cacheDir, { recursive: true, force: true }));

  it('faults/row-18: faults/row-20: faults/row-22: counts every execution exactly once, whatever is killed and whatever happens upstream', async () => {
    await warmUp({ cacheDir, isTraced: false });
    const each = { kills: Math.ceil(kills / 4), roundsOfDeck: 290, restHours: 27, cacheDir };
    const worlds: PlayOptions[] = [
      { ...each, deck: renewed, seed: 4 * seed, backfillMs: 0, holdNewSeriesMs: 0 },
      { ...each, deck: renewed, seed: 4 * seed + 1, backfillMs: 0, holdNewSeriesMs: 60_000 },
      { ...each, deck: crooked, seed: 4 * seed + 2, backfillMs: 3 * dayMs, holdNewSeriesMs: 0 },
      { ...each, deck: crooked, seed: 4 * seed + 3, backfillMs: 3 * dayMs, holdNewSeriesMs: 0 },
    ];
    const reports = await Promise.all(worlds.map(play));
    const { text, missing } = toTable(
      reports.map(({ sightings }) => sightings),
      { remarks, wanted },
    );
    const replay = `CONSERVATION_SEED=${seed} CONSERVATION_KILLS=${kills} npx vitest run test/end-to-end/conservation`;
    process.stdout.write(`${text}\n`);
    const faults = reports.flatMap((report, index) => report.faults.map((fault) => `world ${index}: ${fault}`));
    expect(faults, `again with ${replay}`).toEqual([]);
    expect(missing, `seen too seldom; again with ${replay}`).toEqual([]);
    const killed = reports.reduce((sum, { sightings }) => sum + sightings.count('kills'), 0);
    expect(killed).toBeGreaterThanOrEqual(kills);
  }, 600_000);
});
