import { type Member, restartMember } from '../world/installation.ts';
import type { World } from '../world/world.ts';
import { scheduleAgain } from './engine.ts';
import { endExecution } from './finish.ts';

type Restart = {
  readonly downForMs: number;
  /** How long after the start interrupted runs are marked incomplete. */
  readonly cleanupAfterMs: number;
};

/** Stops a server process and starts it again. Runs of the server are interrupted, and its counters start at 0. */
export function restart(world: World, member: Member, { downForMs, cleanupAfterMs }: Restart): void {
  const atMs = world.playedMs;
  const lost = loseRuns(world, member, atMs);
  restartMember(member, atMs, downForMs);
  const apply = () => {
    for (const execution of lost) {
      if (execution.end === undefined) {
        const ending = { atMs: atMs + downForMs, stored: 'incomplete', timedOut: false, abortedBy: undefined };
        endExecution(world, execution, ending);
      }
    }
  };
  world.queue.push(atMs + downForMs + cleanupAfterMs, { kind: 'incident', apply, everyMs: undefined });
}

/** Removes a member for good. The runs of a lost member stay `running`; another member takes its schedules if `isTakenOver`. */
export function loseMember(world: World, member: Member, isTakenOver = true): void {
  loseRuns(world, member, world.playedMs);
  member.alive = false;
  member.waiting.length = 0;
  const heir = isTakenOver ? world.members.find((candidate) => candidate.alive) : undefined;
  for (const job of world.jobs.values()) {
    if (job.owner === member && heir !== undefined) {
      job.owner = heir;
      // The job is scheduled again, because the clocks of members differ.
      if (heir.skewMs !== member.skewMs) scheduleAgain(world, job, world.playedMs);
    }
  }
}

/** Creates a new database, which has no executions and ids from 1 again. */
export function replaceDatabase(world: World): void {
  for (const project of world.projects.values()) {
    project.open.clear();
    project.completed.remove(new Set(world.executions.values()));
  }
  for (const member of world.members) {
    member.busy = 0;
    member.waiting.length = 0;
  }
  for (const execution of world.executions.values()) execution.lostAtMs ??= world.playedMs;
  world.executions.clear();
  world.incomplete.clear();
  world.nextId = 1;
}

function loseRuns(world: World, member: Member, atMs: number) {
  const lost = [...world.executions.values()].filter(
    (execution) =>
      execution.member === member && execution.end === undefined && !execution.ended && execution.startedAtMs <= atMs,
  );
  for (const execution of lost) execution.lostAtMs ??= atMs;
  return lost;
}
