import { floodProject } from './estate.ts';
import type { World } from './world.ts';

/** A trouble from its beginning to its end. */
export type Card = (world: World, turn: number) => Promise<void>;

/** Longer than the longest delay of an idle project, and than ends take to become visible. */
const roundsToSettle = 14;

/** Everything that can be read has been read, by rounds that nothing disturbs. */
export async function settle(world: World): Promise<void> {
  for (let count = 0; count < roundsToSettle; count += 1) await world.round({ isCalm: true, advanceMs: 15_000 });
}

async function rounds(world: World, count: number, mayFail = false): Promise<void> {
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

export const disable: Card = async (world, turn) => {
  const { project } = toPlace(world, turn);
  world.simulator.control.changeProject(project, { disabled: true });
  await rounds(world, 4);
  finishSome(world, project, 3);
  await rounds(world, 4);
  world.simulator.control.changeProject(project, { disabled: false });
  world.sightings.see('projects disabled and back');
  await rounds(world, 2);
};

export const hide: Card = async (world, turn) => {
  const { project } = toPlace(world, turn);
  const others = world.estate.places.map((place) => place.project).filter((name) => name !== project);
  world.permit({ projects: others, events: turn % 2 === 0 ? others : '*' });
  await rounds(world, 5);
  finishSome(world, project, 3);
  await rounds(world, 5);
  world.permit({});
  world.sightings.see('projects hidden and back');
  await rounds(world, 2);
};

export const createAndDelete: Card = async (world, turn) => {
  const { control } = world.simulator;
  const kept = `for good "${turn}"`;
  const leaving = [1, 2, 3].map((count) => `for a while "${turn}.${count}"`);
  for (const project of [kept, ...leaving]) {
    control.createProject(project);
    // It has work before anyone can know of it.
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
  await rounds(world, 6);
};

export const outage: Card = async (world, turn) => {
  const { control } = world.simulator;
  control.addFault(turn % 2 === 0 ? { kind: 'refuse' } : { kind: 'status', status: 503 });
  for (let count = 0; count < 4; count += 1) await world.round({ advanceMs: 50_000, mayFail: true });
  control.clearFaults();
  world.sightings.see('outages longer than the overlap');
  await rounds(world, 2);
};

/** The daemon itself is away for longer than the overlap. */
export const absence: Card = async (world) => {
  await world.daemon.kill();
  world.simulator.advance(0);
  await world.round({ advanceMs: 200_000 });
};

export const oneTime: Card = async (world, turn) => {
  const { control } = world.simulator;
  const { jobs } = toPlace(world, turn);
  for (const [index, atMs] of [30_000, 50_000, 70_000].entries()) {
    const id = control.runJob(jobs[0], { atMs: world.nowMs() + atMs });
    await world.round();
    // One is called off before its time: it ends before it starts.
    if (index === 2 && id !== undefined) control.abort(id);
  }
  await rounds(world, 5);
};

export const deletedUnread: Card = async (world, turn) => {
  const { project, jobs } = toPlace(world, turn);
  world.simulator.control.deleteExecutions(finishSome(world, project, 3, jobs[0]));
  await world.round();
};

/** Runs end within one second, more than a page holds, some of them of a job that is not shown. */
export function flood(world: World): number[] {
  const { hiddenJob } = world.estate;
  const ids = finishSome(world, floodProject, 420);
  finishSome(world, floodProject, 150, hiddenJob);
  return [...ids, ...finishSome(world, floodProject, 130)];
}

/** Old rows of a flood are deleted between its pages, while more of that second become visible. */
export const deleteWhileReading: Card = async (world) => {
  const { control } = world.simulator;
  const ids = flood(world);
  const endedAtMs = world.nowMs();
  const visibleAtMs = endedAtMs + 66_000;
  for (let count = 0; count < 60; count += 1) {
    control.addFinished(floodProject, { startedAtMs: endedAtMs - 2000 - count, endedAtMs, visibleAtMs });
  }
  for (let count = 0; count < 13; count += 1) await world.round({ advanceMs: 5000, isCalm: true });
  let isOver = false;
  world.onRequest(({ path, query }) => {
    if (isOver || !path.endsWith('/executions') || !/\boffset=[1-9]/.test(query)) return;
    control.deleteExecutions(ids.splice(0, 40));
    world.sightings.see('deletions while reading');
    isOver = ids.length < 500;
  });
  for (let count = 0; count < 3; count += 1) await world.round({ advanceMs: 5000 });
  world.onRequest(() => {});
};

/** After each page that is answered, more runs end: the rows of the next page have moved. */
export const shift: Card = async (world) => {
  const { control } = world.simulator;
  await world.round({ advanceMs: 7000 });
  flood(world);
  control.configure({ shiftPages: 15 });
  world.onRequest(({ query }) => {
    if (/\boffset=[1-9]/.test(query)) world.sightings.see('pages that shifted under the reader');
  });
  await world.round({ advanceMs: 0 });
  control.configure({ shiftPages: 0 });
  world.onRequest(() => {});
  await rounds(world, 2);
};

export const cutPages: Card = async (world) => {
  flood(world);
  world.onRequest(({ path, query }) => {
    if (path.includes(`/${floodProject}/executions`) && query.includes('max=500')) {
      world.sightings.see('pages cut by permissions');
    }
  });
  await rounds(world, 4);
  world.onRequest(() => {});
};

/** Ids start again; what nobody had read by then nobody can read any more, so all is read before. */
export const newDatabase: Card = async (world) => {
  const { control } = world.simulator;
  control.setExecutionMode('passive');
  for (let count = 0; count < 6; count += 1) await world.round({ isCalm: true, advanceMs: 20_000 });
  await settle(world);
  control.restart({ newDatabase: true });
  world.contract.newDatabasesAt.push(countEnded(world));
  control.setExecutionMode('active');
  await rounds(world, 3);
};

export const lie: Card = async (world, turn) => {
  const { control } = world.simulator;
  control.configure({ totalOffset: turn % 2 === 0 ? 7 : -7 });
  world.onRequest(({ path }) => {
    if (path.endsWith('/executions')) world.sightings.see('totals that lied');
  });
  await rounds(world, 5);
  control.configure({ totalOffset: 0 });
  world.onRequest(() => {});
  await rounds(world, 2);
};

export const stepBack: Card = async (world) => {
  const skewMs = -1000 * world.random.between(30, 600);
  for (const member of [0, 1]) world.simulator.control.setClockSkew(skewMs, member);
  world.sightings.see('steps back of the server clock');
  await rounds(world, 6);
  for (const member of [0, 1]) world.simulator.control.setClockSkew(0, member);
  await rounds(world, 3);
};

export const skew: Card = async (world, turn) => {
  world.simulator.control.setClockSkew((turn % 2 === 0 ? 1000 : -1000) * world.random.between(60, 600), 1);
  for (let count = 0; count < 8; count += 1) {
    await world.round();
    world.sightings.see('rounds over members with skewed clocks');
  }
  world.simulator.control.setClockSkew(0, 1);
  await rounds(world, 3);
};

export const importOld: Card = async (world, turn) => {
  const { project, jobs } = toPlace(world, turn);
  for (let count = 0; count < 3; count += 1) {
    const endedAtMs = world.nowMs() - 3_600_000 * world.random.between(45, 60);
    world.simulator.control.addFinished(project, { jobId: jobs[0], startedAtMs: endedAtMs - 5000, endedAtMs });
  }
  await rounds(world, 3);
};

/** Ends that nobody could read for longer than the overlap: only the passes over the past find them. */
export const veryLate: Card = async (world, turn) => {
  const { project } = toPlace(world, turn);
  const endedAtMs = world.nowMs();
  const visibleAtMs = endedAtMs + 60_000 * world.random.between(5, 40);
  world.simulator.control.addFinished(project, { startedAtMs: endedAtMs - 5000, endedAtMs, visibleAtMs });
  await rounds(world, 2);
};

function toPlace({ estate: { places } }: World, turn: number) {
  return places[turn % places.length] ?? places[0];
}

function countEnded({ simulator }: World): number {
  return simulator.truth().executions.filter(({ visibleAtMs }) => visibleAtMs !== undefined).length;
}
