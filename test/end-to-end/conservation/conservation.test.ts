import { describe, expect, it } from 'vitest';
import { crooked, renewed } from './decks.ts';
import { type PlayOptions, play } from './play.ts';
import { toTable } from './sightings.ts';
import { warmUp } from './watched-process.ts';

const kills = Number(process.env['CONSERVATION_KILLS'] ?? 100);
const seed = Number(process.env['CONSERVATION_SEED'] ?? 1);
const worlds = Number(process.env['CONSERVATION_WORLDS'] ?? 4);

const dayMs = 86_400_000;

const remarks = ['executions that counted', 'deleted before anyone could read them', 'rounds', 'kills'];

const often = Math.ceil(2.5 * worlds);
const wanted = {
  'executions shorter than the poll interval': 10 * often,
  'ends that became visible late': 10 * often,
  'pages cut by permissions': often,
  'pages that shifted under the reader': often,
  'deletions while reading': often,
  'totals that lied': often,
  'steps back of the server clock': often,
  'rounds over members with skewed clocks': often,
  'ids that started again': often,
  'imports of old rows': often,
  'one-time runs': often,
  'projects disabled and back': often,
  'projects hidden and back': often,
  'projects created and deleted': often,
  'outages longer than the overlap': often,
  'executions with hostile names': often,
  'kills inside a transaction': Math.ceil(kills / 10),
};

describe('end-to-end/conservation', () => {
  it('faults/row-18: faults/row-20: faults/row-22: counts every execution exactly once, whatever is killed and whatever happens upstream', async () => {
    await warmUp({ isTraced: false });
    const each = { kills: Math.ceil(kills / worlds), roundsOfDeck: 290, restHours: 27 };
    const ofRenewed = { ...each, deck: renewed, backfillMs: 0 };
    const ofCrooked = { ...each, deck: crooked, backfillMs: 3 * dayMs, holdNewSeriesMs: 0 };
    const all: PlayOptions[] = [
      { ...ofRenewed, seed: 4 * seed, holdNewSeriesMs: 60_000 },
      { ...ofCrooked, seed: 4 * seed + 1 },
      { ...ofRenewed, seed: 4 * seed + 2, holdNewSeriesMs: 0 },
      { ...ofCrooked, seed: 4 * seed + 3 },
    ];
    const reports = await Promise.all(all.slice(0, worlds).map(play));
    const { text, missing } = toTable(
      reports.map(({ sightings }) => sightings),
      { remarks, wanted },
    );
    const replay = `CONSERVATION_SEED=${seed} CONSERVATION_KILLS=${kills} CONSERVATION_WORLDS=${worlds} npx vitest run test/end-to-end/conservation`;
    process.stdout.write(`${text}\n`);
    const faults = reports.flatMap((report, index) => report.faults.map((fault) => `world ${index}: ${fault}`));
    expect(faults, `again with ${replay}`).toEqual([]);
    expect(missing, `seen too seldom; again with ${replay}`).toEqual([]);
    const killed = reports.reduce((sum, { sightings }) => sum + sightings.count('kills'), 0);
    expect(killed).toBeGreaterThanOrEqual(kills);
  }, 600_000);
});
