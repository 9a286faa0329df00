import { type Card, finishSome, playRounds } from './cards.ts';
import type { Collector, Trouble } from './collector.ts';
import { floodProject } from './estate.ts';
import type { Deck } from './play.ts';

/** The name of a problem in the table of events. */
export const sightOf: Readonly<Record<Trouble, string>> = {
  hanging: 'requests that hung',
  overloaded: 'answers of 503 with Retry-After',
  partial: 'partial successes',
  forgetful: 'answers lost after acceptance',
  down: 'connections that were refused',
  nameless: 'names that could not be resolved',
  untrusted: 'certificates that were not trusted',
};

/** Every kind of collector problem. */
export function toDeck(collector: Collector, troubles: readonly Trouble[], times: number): Deck {
  return troubles.map((trouble) => [toCard(collector, trouble), times]);
}

function toCard(collector: Collector, trouble: Trouble): Card {
  return async (world) => {
    const { sightings } = world;
    const sight = sightOf[trouble];
    const wanted = sightings.count(sight) + minTimes;
    await collector.begin(trouble);
    await playRounds(world, 4);
    // The problem lasts until it has affected several deliveries.
    for (let left = maxRounds; sightings.count(sight) < wanted; left -= 1) {
      if (left === 0) throw new Error(`seen too seldom: ${sight}`);
      finishSome(world, floodProject, 1);
      await world.round({ isCalm: true });
    }
    await collector.end();
    await playRounds(world, 2);
  };
}

const minTimes = 3;
/** It may take many rounds until a delivery fails. */
const maxRounds = 1000;
