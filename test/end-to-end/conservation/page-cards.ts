import { type Card, finishSome, playRounds } from './cards.ts';
import { floodProject } from './estate.ts';
import type { World } from './world.ts';

/** Old rows of a flood are deleted between its pages, while more rows of the same second become visible. */
export const deleteWhileReading: Card = async (world) => {
  const { control } = world.simulator;
  const ids = flood(world);
  const endedAtMs = world.nowMs();
  const visibleAtMs = endedAtMs + 66_000;
  for (let count = 0; count < 60; count += 1) {
    control.addFinished(floodProject, { startedAtMs: endedAtMs - 2000 - count, endedAtMs, visibleAtMs });
  }
  for (let count = 0; count < 13; count += 1) await world.round({ advanceMs: 5000, isCalm: true });
  world.onRequest(({ path, query }) => {
    if (ids.length < 500 || !path.endsWith('/executions') || !/\boffset=[1-9]/.test(query)) return;
    control.deleteExecutions(ids.splice(0, 40));
    world.sightings.see('deletions while reading');
  });
  for (let count = 0; count < 3 || (count < 8 && ids.length >= 500); count += 1) await world.round({ advanceMs: 5000 });
  world.onRequest(() => {});
};

/** More runs end after each page, so the rows of the next page move. */
export const shift: Card = async (world) => {
  const { control } = world.simulator;
  await world.round({ advanceMs: 7000 });
  flood(world);
  control.configure({ shiftPages: 15 });
  const before = world.sightings.count('pages that shifted under the reader');
  world.onRequest(({ query }) => {
    if (/\boffset=[1-9]/.test(query)) world.sightings.see('pages that shifted under the reader');
  });
  // A daemon that is killed before it requests the second page does not notice the moved rows.
  for (let count = 0; count < 4; count += 1) {
    await world.round({ advanceMs: 0 });
    if (world.sightings.count('pages that shifted under the reader') > before) break;
  }
  control.configure({ shiftPages: 0 });
  world.onRequest(() => {});
  await playRounds(world, 2);
};

export const cutPages: Card = async (world) => {
  flood(world);
  world.onRequest(({ path, query }) => {
    if (path.includes(`/${floodProject}/executions`) && query.includes('max=500')) {
      world.sightings.see('pages cut by permissions');
    }
  });
  await playRounds(world, 4);
  world.onRequest(() => {});
};

export const lie: Card = async (world, turn) => {
  const { control } = world.simulator;
  control.configure({ totalOffset: turn % 2 === 0 ? 7 : -7 });
  world.onRequest(({ path }) => {
    if (path.endsWith('/executions')) world.sightings.see('totals that lied');
  });
  await playRounds(world, 5);
  control.configure({ totalOffset: 0 });
  world.onRequest(() => {});
  await playRounds(world, 2);
};

/** Ends more runs within one second than a page holds; some of them belong to a hidden job. */
function flood(world: World): number[] {
  const { hiddenJob } = world.estate;
  const ids = finishSome(world, floodProject, 420);
  finishSome(world, floodProject, 150, hiddenJob);
  return [...ids, ...finishSome(world, floodProject, 130)];
}
