import { type Job, type Member, maySchedule, setSkew, startOfCommand, startOfJob } from '../world/installation.ts';
import type { Habit, World, WorldEvent } from '../world/world.ts';
import { countRun, endExecution, reachEnd, showEnd } from './finish.ts';
import { accelerate, nextTime } from './schedule.ts';
import { beginWork, requestStart } from './start.ts';
import { storeLog } from './storage.ts';

/** Plays all events up to a time in order. Plays nothing if the clock was set back. */
export function advance(world: World, toMs: number): void {
  for (;;) {
    const nextMs = world.queue.nextAtMs();
    if (nextMs === undefined || nextMs > toMs) break;
    const due = world.queue.pop();
    if (due === undefined) break;
    world.playedMs = Math.max(world.playedMs, due.atMs);
    happen(world, due.item, due.atMs);
  }
  world.playedMs = Math.max(world.playedMs, toMs);
}

/** Queues the next trigger of a job, by the clock of the member that runs it. */
export function scheduleJob(world: World, event: Extract<WorldEvent, { kind: 'trigger' }>, afterMs: number): void {
  const { schedule } = event.job.definition;
  const skewMs = event.job.owner?.skewMs ?? 0;
  if (schedule !== undefined) {
    world.queue.push(nextTime(accelerate(schedule, world.speed), afterMs + skewMs) - skewMs, event);
  }
}

/** Sets the clock of a member. Schedules skip the times that the clock skips, and repeat none. */
export function setClock(world: World, member: Member, skewMs: number): void {
  const lostMs = Math.max(0, member.skewMs - skewMs);
  setSkew(member, skewMs, world.playedMs);
  for (const job of world.jobs.values()) if (job.owner === member) scheduleAgain(world, job, world.playedMs + lostMs);
}

/** Queues the trigger of a job again. Earlier triggers of the job become void. */
export function scheduleAgain(world: World, job: Job, afterMs: number): void {
  job.generation += 1;
  scheduleJob(world, { kind: 'trigger', job, generation: job.generation }, afterMs);
}

export function scheduleHabit(world: World, habit: Habit, afterMs: number): void {
  world.queue.push(nextTime(accelerate(habit.schedule, world.speed), afterMs), { kind: 'habit', habit });
}

function happen(world: World, event: WorldEvent, atMs: number): void {
  switch (event.kind) {
    case 'trigger':
      if (event.generation !== event.job.generation) return;
      if (maySchedule(event.job)) requestStart(world, startOfJob(event.job, 'scheduled', 'scheduler'), atMs);
      scheduleJob(world, event, atMs);
      return;
    case 'habit':
      followHabit(world, event.habit, atMs);
      return;
    case 'begin':
      if (event.execution.end !== undefined) return;
      if (world.executionMode === 'passive' || !event.execution.member.alive) {
        const abortedBy = event.execution.user;
        endExecution(world, event.execution, { atMs, stored: 'aborted', timedOut: false, abortedBy });
        return;
      }
      beginWork(world, event.execution, atMs);
      return;
    case 'end':
      reachEnd(world, event.execution, atMs);
      return;
    case 'show':
      showEnd(world, event.execution);
      return;
    case 'count':
      if (event.during?.end === undefined && event.during?.lostAtMs === undefined) countRun(event.job, event.ms);
      return;
    case 'store':
      storeLog(world, event.execution, event.attempt, atMs);
      return;
    case 'incident':
      event.apply(world);
      if (event.everyMs !== undefined) world.queue.push(atMs + event.everyMs, event);
  }
}

function followHabit(world: World, habit: Habit, atMs: number): void {
  if (habit.job !== undefined) requestStart(world, startOfJob(habit.job, 'user', habit.user), atMs);
  else if (habit.work !== undefined) requestStart(world, startOfCommand(habit.project, habit.work, habit.user), atMs);
  scheduleHabit(world, habit, atMs);
}
