import type { Place } from './estate.ts';
import type { World } from './world.ts';

/** A problem from start to end. */
export type Card = (world: World, turn: number) => Promise<void>;

/** Plays rounds without problems until everything readable has been read. */
export async function settle(world: World): Promise<void> {
  for (let count = 0; count < roundsToSettle; count += 1) await world.round({ isCalm: true, advanceMs: 15_000 });
}

/** Plays rounds, with or without kills. */
export async function playRounds(world: World, count: number, mayFail = false): Promise<void> {
  for (let left = count; left > 0; left -= 1) await world.round({ mayFail });
}

/** Ends some runs now, of a job or without a job. */
export function finishSome(world: World, project: string, count: number, jobId?: string): number[] {
  const nowMs = world.nowMs();
  return Array.from({ length: count }, (_, index) =>
    world.simulator.control.addFinished(project, {
      startedAtMs: nowMs - 3000 - 10 * index,
      endedAtMs: nowMs,
      ...(jobId === undefined ? {} : { jobId }),
    }),
  );
}

/** One of the projects that exist from the start. */
export function toPlace({ estate: { places } }: World, turn: number): Place {
  return places[turn % places.length] ?? places[0];
}

/** This number of rounds takes longer than any delay of the server or of an idle project. */
const roundsToSettle = 14;
