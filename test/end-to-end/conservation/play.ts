import { type Card, settle } from './cards.ts';
import { compare, expect } from './expectation.ts';
import { cutPages, deleteWhileReading, lie, shift } from './page-cards.ts';
import { createAndDelete, deletedUnread, disable, hide, importOld, oneTime, veryLate } from './project-cards.ts';
import { absence, newDatabase, outage, skew, stepBack } from './server-cards.ts';
import type { Sightings } from './sightings.ts';
import { startWorld, type World, type WorldOptions } from './world.ts';

/** Ids that start again need everything read before; clocks and totals that lie make that take a day: two kinds of worlds. */
const decks: Readonly<Record<'renewed' | 'crooked', readonly (readonly [Card, number])[]>> = {
  renewed: [
    [disable, 3],
    [hide, 3],
    [createAndDelete, 2],
    [outage, 3],
    [absence, 1],
    [oneTime, 2],
    [deletedUnread, 3],
    [deleteWhileReading, 4],
    [shift, 4],
    [cutPages, 1],
    [newDatabase, 3],
  ],
  crooked: [
    [disable, 3],
    [hide, 3],
    [outage, 3],
    [absence, 1],
    [oneTime, 2],
    [deletedUnread, 2],
    [cutPages, 1],
    [lie, 3],
    [stepBack, 6],
    [skew, 4],
    [importOld, 4],
    [veryLate, 4],
  ],
};

export type PlayOptions = Omit<WorldOptions, 'backfillMs' | 'roundsPerKill'> & {
  readonly kind: keyof typeof decks;
  /** So many daemons are killed at least. */
  readonly kills: number;
};

export type Report = {
  readonly sightings: Sightings;
  /** Everything that is not as it must be. */
  readonly faults: readonly string[];
};

/** Plays troubles in a random order over a world, lets it come to rest, and compares what is shown with what was. */
export async function play({ kind, kills, ...options }: PlayOptions): Promise<Report> {
  const world = await startWorld({
    ...options,
    backfillMs: kind === 'crooked' ? 3 * dayMs : 0,
    roundsPerKill: Math.max(2, Math.round(roundsOfDeck / kills)),
  });
  try {
    await world.round({ isCalm: true, advanceMs: 0 });
    await settle(world);
    const deck = decks[kind].flatMap(([card, times]) => Array.from({ length: times }, (_, index) => ({ card, index })));
    for (const { card, index } of world.random.shuffle(deck)) await card(world, index);
    while (world.sightings.count('kills') < kills) await world.round();
    await comeToRest(world);
    return report(world);
  } catch (error) {
    // The other worlds come to their end all the same.
    return {
      sightings: world.sightings,
      faults: [error instanceof Error ? (error.stack ?? error.message) : String(error)],
    };
  } finally {
    await world.stop();
  }
}

/** Rounds in which a daemon may be killed, until all cards are played. */
const roundsOfDeck = 290;
const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

/** A day and more without troubles or work, so that the passes over the past have had their time. */
async function comeToRest(world: World): Promise<void> {
  world.simulator.control.setExecutionMode('passive');
  await settle(world);
  for (let count = 0; count < 27; count += 1) {
    await world.round({ isCalm: true, advanceMs: hourMs });
    await world.round({ isCalm: true, advanceMs: 15_000 });
  }
  for (let count = 0; count < 40; count += 1) await world.round({ isCalm: true, advanceMs: 15_000 });
}

function report(world: World): Report {
  const { sightings, published, complaints, estate, contract, roundTimes } = world;
  const { executions } = world.simulator.truth();
  const expected = expect(executions, { ...contract, hiddenJobs: [estate.hiddenJob] });
  for (const { startedAtMs, endedAtMs = 0, visibleAtMs = 0, type, project } of expected.counted) {
    if (!hasRound(roundTimes, startedAtMs, visibleAtMs)) sightings.see('executions shorter than the poll interval');
    if (hasRound(roundTimes, endedAtMs, visibleAtMs)) sightings.see('ends that became visible late');
    if (type === 'user-scheduled') sightings.see('one-time runs');
    if (/[^a-z]/.test(project)) sightings.see('executions with hostile names');
  }
  sightings.see('executions that counted', expected.counted.length);
  sightings.see('deleted before anyone could read them', expected.unreadable);
  sightings.see('imports of old rows', expected.imported);
  sightings.see('ids that started again', expected.idsAgain);
  return {
    sightings,
    faults: [
      ...compare(expected.series, published.latest()),
      ...published.falls.map((fall) => `fell: ${fall}`),
      ...published.bornHigh.map((birth) => `not born at 0: ${birth}`),
      ...complaints.map((complaint) => `complained: ${complaint}`),
    ],
  };
}

/** Whether a round began at a time or after it, and before another. */
function hasRound(roundTimes: readonly number[], fromMs: number, beforeMs: number): boolean {
  let low = 0;
  let high = roundTimes.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((roundTimes[middle] ?? 0) < fromMs) low = middle + 1;
    else high = middle;
  }
  const next = roundTimes[low];
  return next !== undefined && next < beforeMs;
}
