import { hourMs } from '../../support/durations.ts';
import { type Card, settle } from './cards.ts';
import { compare, type Expectation, expect } from './expectation.ts';
import type { Sightings } from './sightings.ts';
import { startWorld, type World, type WorldOptions } from './world.ts';

/** Problems, and how often each is played. */
export type Deck = readonly (readonly [Card, number])[];

export type PlayOptions = Omit<WorldOptions, 'roundsPerKill'> & {
  readonly deck: Deck;
  /** The average number of rounds between two kills while the deck is played. */
  readonly roundsOfDeck: number;
  readonly kills: number;
  /** The time without events at the end, because recounts take a day or more. */
  readonly restHours: number;
  readonly begin?: (world: World) => void;
  /** Checks more after the time without events; returns the faults that it finds. */
  readonly atRest?: (world: World, expected: Expectation) => Promise<readonly string[]>;
};

export type Report = {
  readonly sightings: Sightings;
  /** Every difference from the expectation. */
  readonly faults: readonly string[];
};

/** Plays problems in random order, waits, and compares the counters with the truth. */
export async function play({
  deck,
  roundsOfDeck,
  kills,
  restHours,
  begin,
  atRest,
  ...options
}: PlayOptions): Promise<Report> {
  const world = await startWorld({ ...options, roundsPerKill: Math.max(2, Math.round(roundsOfDeck / kills)) });
  try {
    begin?.(world);
    await world.round({ isCalm: true, advanceMs: 0 });
    await settle(world);
    const cards = deck.flatMap(([card, times]) => Array.from({ length: times }, (_, index) => ({ card, index })));
    const shuffled = cards
      .map((each) => ({ ...each, at: world.random.next() }))
      .sort((one, other) => one.at - other.at);
    for (const { card, index } of shuffled) await card(world, index);
    while (world.sightings.count('kills') < kills) await world.round();
    await comeToRest(world, restHours);
    return await report(world, atRest);
  } catch (error) {
    // The error is a fault of this world only, so that other worlds play to their end.
    return {
      sightings: world.sightings,
      faults: [error instanceof Error ? (error.stack ?? error.message) : String(error)],
    };
  } finally {
    await world.stop();
  }
}

/** Plays hours without problems or work, so that comparisons of the past can finish. */
async function comeToRest(world: World, hours: number): Promise<void> {
  world.simulator.control.setExecutionMode('passive');
  await settle(world);
  for (let count = 0; count < hours; count += 1) {
    await world.round({ isCalm: true, advanceMs: hourMs });
    await world.round({ isCalm: true, advanceMs: 15_000 });
  }
  for (let count = 0; count < 40; count += 1) await world.round({ isCalm: true, advanceMs: 15_000 });
}

async function report(world: World, atRest: PlayOptions['atRest']): Promise<Report> {
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
      ...((await atRest?.(world, expected)) ?? []),
      ...published.falls.map((fall) => `fell: ${fall}`),
      ...published.bornHigh.map((birth) => `not born at 0: ${birth}`),
      ...complaints.map((complaint) => `complained: ${complaint}`),
    ],
  };
}

/** Reports whether a round began within a span of time. */
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
