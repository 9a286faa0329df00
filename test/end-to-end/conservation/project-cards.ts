import { type Card, finishSome, playRounds, settle, toPlace } from './cards.ts';

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

export const createAndDelete: Card = async (world, turn) => {
  const { control } = world.simulator;
  const kept = `for good "${turn}"`;
  const leaving = [1, 2, 3].map((count) => `for a while "${turn}.${count}"`);
  for (const project of [kept, ...leaving]) {
    control.createProject(project);
    // The runs of the job end before the list of jobs shows it.
    finishSome(world, project, 2, control.createJob(project, { name: 'short\nlife' }));
  }
  for (let count = 0; count < 6; count += 1) {
    await world.round();
    if (count % 2 === 0) for (const project of [kept, ...leaving]) finishSome(world, project, 1);
  }
  await settle(world);
  for (const project of leaving) {
    control.deleteProject(project);
    world.contract.gone.add(project);
    world.sightings.see('projects created and deleted');
  }
  await playRounds(world, 6);
};

export const oneTime: Card = async (world, turn) => {
  const { control } = world.simulator;
  const { jobs } = toPlace(world, turn);
  for (const [index, atMs] of [30_000, 50_000, 70_000].entries()) {
    const id = control.runJob(jobs[0], { atMs: world.nowMs() + atMs });
    await world.round();
    // This run is aborted before its scheduled time, so its end is before its start.
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

/** Executions that become visible later than the overlap reaches back are found only by comparisons of the past. */
export const veryLate: Card = async (world, turn) => {
  const { project } = toPlace(world, turn);
  const endedAtMs = world.nowMs();
  const visibleAtMs = endedAtMs + 60_000 * world.random.between(5, 40);
  world.simulator.control.addFinished(project, { startedAtMs: endedAtMs - 5000, endedAtMs, visibleAtMs });
  await playRounds(world, 2);
};
