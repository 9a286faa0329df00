import type { Place } from './estate.ts';
import type { World } from './world.ts';

/** A trouble from its beginning to its end. */
export type Card = (world: World, turn: number) => Promise<void>;

/** Everything that can be read has been read, by rounds that nothing disturbs. */
export async function settle(world: World): Promise<void> {
  for (let count = 0; count < roundsToSettle; count += 1) await world.round({ isCalm: true, advanceMs: 15_000 });
}

/** Rounds as they come; a daemon may be killed in any of them. */
export async function playRounds(world: World, count: number, mayFail = false): Promise<void> {
  for (let left = count; left > 0; left -= 1) await world.round({ mayFail });
}

/** Some runs that end now, of a job or of nobody. */
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

/** A project of those that were there from the start. */
export function toPlace({ estate: { places } }: World, turn: number): Place {
  return places[turn % places.length] ?? places[0];
}

/** Longer than the longest delay of an idle project, and than ends take to become visible. */
const roundsToSettle = 14;
