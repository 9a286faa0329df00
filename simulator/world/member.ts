import type { Execution } from './execution.ts';
import type { Start } from './start.ts';

/** One server of the installation, with its own clock, uptime and counters. */
export type Member = {
  readonly uuid: string;
  readonly name: string;
  skewMs: number;
  startedAtMs: number;
  alive: boolean;
  /** Answers 503 with an empty body until then. */
  readyAtMs: number;
  readonly threadPoolSize: number;
  /** Scheduler threads in use, and what waits for one. */
  busy: number;
  readonly waiting: Waiting[];
  readonly storage: StorageCounters;
  readonly meters: { started: number; succeeded: number; failed: number; aborted: number; requests: number };
};

/** A schedule's run is created by its thread; a user's run exists already and waits. */
export type Waiting = { readonly start: Start; readonly execution: Execution | undefined };

export type StorageCounters = { succeeded: number; failed: number; total: number; retries: number };

export function createMember(name: string, uuid: string, startedAtMs: number, threadPoolSize: number): Member {
  return {
    uuid,
    name,
    skewMs: 0,
    startedAtMs,
    alive: true,
    readyAtMs: startedAtMs,
    threadPoolSize,
    busy: 0,
    waiting: [],
    storage: { succeeded: 0, failed: 0, total: 0, retries: 0 },
    meters: { started: 0, succeeded: 0, failed: 0, aborted: 0, requests: 0 },
  };
}

/** A restarted server begins its in-memory counters again. */
export function restartMember(member: Member, atMs: number, downForMs: number): void {
  member.startedAtMs = atMs + downForMs;
  member.readyAtMs = atMs + downForMs;
  member.alive = true;
  member.busy = 0;
  member.waiting.length = 0;
  Object.assign(member.storage, { succeeded: 0, failed: 0, total: 0, retries: 0 });
  Object.assign(member.meters, { started: 0, succeeded: 0, failed: 0, aborted: 0, requests: 0 });
}
