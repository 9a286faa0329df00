import { type Card, finishSome, playRounds, toPlace } from './cards.ts';
import { floodProject } from './estate.ts';
import type { World } from './world.ts';

export const disable: Card = async (world, turn) => {
  const { project } = toPlace(world, turn);
  world.simulator.control.changeProject(project, { disabled: true });
  await playRounds(world, 4);
  finishSome(world, project, 3);
  await playRounds(world, 4);
  world.simulator.control.changeProject(project, { disabled: false });
  world.sightings.see('projects disabled and back');
  await playRounds(world, 2);
};

export const hide: Card = async (world, turn) => {
  const { project } = toPlace(world, turn);
  const others = world.estate.places.map((place) => place.project).filter((name) => name !== project);
  world.permit({ projects: others, events: turn % 2 === 0 ? others : '*' });
  await playRounds(world, 5);
  finishSome(world, project, 3);
  await playRounds(world, 5);
  world.permit({});
  world.sightings.see('projects hidden and back');
  await playRounds(world, 2);
};

export const oneTime: Card = async (world, turn) => {
  const { control } = world.simulator;
  const { jobs } = toPlace(world, turn);
  for (const [index, atMs] of [30_000, 50_000, 70_000].entries()) {
    const id = control.runJob(jobs[0], { atMs: world.nowMs() + atMs });
    await world.round();
    // Aborted before its scheduled time, the run ends before it starts.
    if (index === 2 && id !== undefined) control.abort(id);
  }
  await playRounds(world, 5);
};

export const deletedUnread: Card = async (world, turn) => {
  const { project, jobs } = toPlace(world, turn);
  world.simulator.control.deleteExecutions(finishSome(world, project, 3, jobs[0]));
  await world.round();
};

export const importOld: Card = async (world, turn) => {
  const { project, jobs } = toPlace(world, turn);
  for (let count = 0; count < 3; count += 1) {
    const endedAtMs = world.nowMs() - 3_600_000 * world.random.between(45, 60);
    world.simulator.control.addFinished(project, { jobId: jobs[0], startedAtMs: endedAtMs - 5000, endedAtMs });
  }
  await playRounds(world, 3);
};

/** Only a recount finds executions that become visible after the overlap. */
export const veryLate: Card = async (world, turn) => {
  const { project } = toPlace(world, turn);
  const endedAtMs = world.nowMs();
  const visibleAtMs = endedAtMs + 60_000 * world.random.between(5, 40);
  world.simulator.control.addFinished(project, { startedAtMs: endedAtMs - 5000, endedAtMs, visibleAtMs });
  await playRounds(world, 2);
};

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

/** Ends more runs within one second than a page holds; some of them belong to a hidden job. */
function flood(world: World): number[] {
  const { hiddenJob } = world.estate;
  const ids = finishSome(world, floodProject, 420);
  finishSome(world, floodProject, 150, hiddenJob);
  return [...ids, ...finishSome(world, floodProject, 130)];
}
