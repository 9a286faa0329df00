import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { openSqliteState } from '../../../src/state/sqlite.ts';
import { createCertificates, hasOpenssl, withoutOpenssl } from '../../api/certificates.ts';
import { pickNumbers } from '../../support/all.ts';
import { dayMs } from '../../support/durations.ts';
import { eventually } from '../../support/eventually.ts';
import { type Collector, startCollector, type Trouble } from './collector.ts';
import { sightOf, toDeck } from './collector-cards.ts';
import { configure } from './configured.ts';
import type { Expectation } from './expectation.ts';
import { compareTraces, expectTraces } from './expected-traces.ts';
import { type Deck, play, type Report } from './play.ts';
import { deletedUnread, deleteWhileReading, disable, hide, importOld, oneTime, veryLate } from './project-cards.ts';
import { absence, newDatabase, outage, stepBack } from './server-cards.ts';
import { createSightings, toTable } from './sightings.ts';
import { warmUp } from './watched-process.ts';
import type { World } from './world.ts';

const kills = Number(process.env['DELIVERY_KILLS'] ?? 100);
const seed = Number(process.env['DELIVERY_SEED'] ?? 1);
const chosen = pickNumbers('DELIVERY_WORLDS', 4, 4);
const certificates = hasOpenssl ? createCertificates() : undefined;

const troubles: readonly Trouble[] = ['hanging', 'overloaded', 'partial', 'forgetful', 'down', 'nameless'];
const allTroubles: readonly Trouble[] = hasOpenssl ? [...troubles, 'untrusted'] : troubles;

/** Restarted ids and wrong clocks have separate worlds. */
const renewed: Deck = [
  [disable, 1],
  [hide, 2],
  [outage, 1],
  [deletedUnread, 1],
  [deleteWhileReading, 2],
  [newDatabase, 2],
];
const crooked: Deck = [
  [outage, 1],
  [absence, 1],
  [oneTime, 2],
  [stepBack, 3],
  [importOld, 2],
  [veryLate, 2],
];

const remarks = ['executions that counted', 'rounds', 'traces that were expected', 'requests that were accepted'];
const often = Math.ceil(2.5 * chosen.length);
const ofRenewed = chosen.filter((world) => world % 2 === 0).length;
const ofCrooked = chosen.length - ofRenewed;
const wanted = {
  ...Object.fromEntries(allTroubles.map((trouble) => [sightOf[trouble], often])),
  'requests refused for a poisoned trace': often,
  'traces that came again': often,
  'executions shorter than the poll interval': 10 * often,
  'ends that became visible late': 10 * often,
  'executions with hostile names': often,
  'deletions while reading': 2 * ofRenewed,
  'ids that started again': 5 * ofRenewed,
  'steps back of the server clock': 3 * ofCrooked,
  'imports of old rows': 2 * ofCrooked,
  'one-time runs': ofCrooked,
  kills,
  // Kills hit random points.
  'kills inside a transaction': Math.floor(kills / 50),
  'kills inside one that spools a trace': Math.floor(kills / 50),
  'kills after a transaction': Math.floor(kills / 50),
  'kills between an answer and what follows': Math.floor(kills / 50),
  'kills around an answer': Math.floor(kills / 50),
};

describe('end-to-end/delivery', () => {
  afterAll(() => certificates?.remove());

  it(`faults/row-18: faults/row-20: faults/row-22: faults/row-30: faults/row-31: faults/row-33: faults/row-34: counts every execution exactly once and delivers its trace when processes are killed and servers fail${withoutOpenssl}`, async () => {
    certificates?.makeSelfSigned('ca', '/CN=test authority');
    certificates?.makeSelfSigned('stranger', '/CN=stranger');
    certificates?.makeSigned('right', 'DNS:collector.example.org', 2);
    await warmUp();
    const reports = await Promise.all(
      chosen.map((world) => playWorld(world % 2 === 0 ? renewed : crooked, 4 * seed + world)),
    );

    const { text, missing } = toTable(
      reports.map(({ sightings }) => sightings),
      { remarks, wanted },
    );
    const replay = `DELIVERY_SEED=${seed} DELIVERY_KILLS=${kills} DELIVERY_WORLDS=${chosen.join(',')} npx vitest run test/end-to-end/delivery`;
    process.stdout.write(`${text}\n`);
    const faults = reports.flatMap((report, index) => report.faults.map((fault) => `world ${chosen[index]}: ${fault}`));
    expect(faults, `again with ${replay}: ${faults.join('; ')}`).toEqual([]);
    expect(missing, `seen too seldom; again with ${replay}`).toEqual([]);
  }, 600_000);
});

async function playWorld(deck: Deck, worldSeed: number): Promise<Report> {
  const dir = mkdtempSync(join(tmpdir(), 'delivery-'));
  const addressFile = join(dir, 'address');
  const sightings = createSightings();
  const wrongs: string[] = [];
  const collector = await startCollector({ sightings, addressFile, isPoisoned, tls: toTls() });
  try {
    return await play({
      deck: [...deck, ...toDeck(collector, allTroubles, 1)],
      roundsOfDeck: 110,
      restHours: 27,
      kills: Math.ceil(kills / chosen.length),
      seed: worldSeed,
      backfillMs: worldSeed % 2 === 0 ? 0 : 3 * dayMs,
      holdNewSeriesMs: worldSeed % 4 === 0 ? 60_000 : 0,
      sightings,
      tracing: async (url) => ({
        env: toEnvironment(collector),
        ...(await configure(url, 'max_age: 4w')),
        addressFile,
      }),
      hear: (word) => {
        if (word.says === 'wrong') wrongs.push(word.what);
        const trouble = word.says === 'undelivered' ? toTrouble(word.what) : undefined;
        if (trouble !== undefined) sightings.see(sightOf[trouble]);
      },
      begin: (world) => collector.onRequest(world.daemon.noteDelivery),
      atRest: async (world, expected) => [...(await compareAtRest(world, expected, collector)), ...wrongs],
    });
  } finally {
    await collector.stop();
    rmSync(dir, { recursive: true, force: true });
  }
}

/** Waits until every trace is delivered or quarantined, then compares all traces. */
async function compareAtRest(world: World, { counted, epochOf }: Expectation, collector: Collector): Promise<string[]> {
  const { daemon, sightings, simulator, stateDir } = world;
  const { metrics } = await eventually(async () => {
    const waiting = await daemon.look();
    if (waiting?.pending !== 0 || waiting.spooled !== 0) throw new Error(`still waiting: ${JSON.stringify(waiting)}`);
    return waiting;
  });
  await daemon.kill();
  const state = openSqliteState({ dir: stateDir });
  const quarantined = await state.spool.quarantined();
  await state.close();
  const expected = expectTraces(counted, simulator.url, epochOf);
  sightings.see('traces that were expected', expected.size);
  const shown = metrics['traces_quarantined'];
  return [
    ...compareTraces(expected, { arrivals: collector.arrivals, quarantined, isPoisoned }),
    ...(shown === quarantined.length ? [] : [`${shown} are shown as quarantined instead of ${quarantined.length}`]),
  ];
}

function isPoisoned(runId: string): boolean {
  return Number(runId) % 97 === 5;
}

function toTrouble(message: string): Trouble | undefined {
  if (message.includes('the connection was refused')) return 'down';
  if (message.includes('the host name could not be resolved')) return 'nameless';
  return message.includes('certificate is not trusted') ? 'untrusted' : undefined;
}

function toTls() {
  if (certificates === undefined) return undefined;
  const read = (name: string) => ({ cert: certificates.pem(`${name}.pem`), key: certificates.pem(`${name}.key`) });
  return { right: read('right'), wrong: read('stranger') };
}

function toEnvironment({ endpoint }: Collector): Record<string, string> {
  return {
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: endpoint,
    OTEL_EXPORTER_OTLP_TIMEOUT: '300',
    ...(certificates && { OTEL_EXPORTER_OTLP_CERTIFICATE: join(certificates.folder, 'ca.pem') }),
  };
}
