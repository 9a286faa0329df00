import { type Card, playRounds, settle } from './cards.ts';
import type { World } from './world.ts';

export const outage: Card = async (world, turn) => {
  const { control } = world.simulator;
  control.addFault(turn % 2 === 0 ? { kind: 'refuse' } : { kind: 'status', status: 503 });
  for (let count = 0; count < 4; count += 1) await world.round({ advanceMs: 50_000, mayFail: true });
  control.clearFaults();
  world.sightings.see('outages longer than the overlap');
  await playRounds(world, 2);
};

/** The daemon stops for longer than the overlap. */
export const absence: Card = async (world) => {
  await world.daemon.kill();
  await world.round({ advanceMs: 200_000 });
};

/** The ids start again. Everything is read first, because unread executions would be lost. */
export const newDatabase: Card = async (world) => {
  const { control } = world.simulator;
  control.setExecutionMode('passive');
  for (let count = 0; count < 6; count += 1) await world.round({ isCalm: true, advanceMs: 20_000 });
  await settle(world);
  control.restart({ newDatabase: true });
  world.contract.newDatabasesAt.push(countEnded(world));
  control.setExecutionMode('active');
  await playRounds(world, 3);
};

export const stepBack: Card = async (world) => {
  const skewMs = -1000 * world.random.between(30, 600);
  for (const member of [0, 1]) world.simulator.control.setClockSkew(skewMs, member);
  world.sightings.see('steps back of the server clock');
  await playRounds(world, 6);
  for (const member of [0, 1]) world.simulator.control.setClockSkew(0, member);
  await playRounds(world, 3);
};

function countEnded({ simulator }: World): number {
  return simulator.truth().executions.filter(({ visibleAtMs }) => visibleAtMs !== undefined).length;
}
