import type { Clock } from '../clock.ts';
import { createQueue, type Queue } from '../engine/queue.ts';
import type { Schedule } from '../engine/schedule.ts';
import { toUuid } from '../random.ts';
import type { Dialect, Release } from '../release.ts';
import type { Credential } from './access.ts';
import { createMember, type Execution, type Job, type Member, type Project } from './installation.ts';
import { createKeys, type StoredKey } from './keys.ts';
import { createSettings, type Settings } from './settings.ts';
import { type Conditions, fairWeather, type Work } from './work.ts';

/** A future event at a known time. */
export type WorldEvent =
  | { readonly kind: 'trigger'; readonly job: Job; readonly generation: number }
  | { readonly kind: 'habit'; readonly habit: Habit }
  | { readonly kind: 'begin'; readonly execution: Execution }
  | { readonly kind: 'end'; readonly execution: Execution }
  | { readonly kind: 'show'; readonly execution: Execution }
  /** Adds a run to the average of a job. If the job ran as a step of `during`, nothing is added after the end of `during`. */
  | { readonly kind: 'count'; readonly job: Job; readonly ms: number; readonly during: Execution | undefined }
  | { readonly kind: 'store'; readonly execution: Execution; readonly attempt: number }
  | { readonly kind: 'incident'; readonly apply: (world: World) => void; readonly everyMs: number | undefined };

/** Occasional manual work: people run a command, or a job without a schedule. */
export type Habit = {
  readonly schedule: Schedule;
  readonly user: string;
  readonly project: Project;
  readonly job: Job | undefined;
  readonly work: Work | undefined;
};

export type IncompleteStorage = { readonly execution: Execution; queued: boolean; readonly sinceMs: number };

/** The whole simulated installation. Only the engine and the controls change the world. */
export type World = {
  readonly clock: Clock;
  readonly dialect: Dialect;
  readonly release: Release;
  readonly seed: number;
  readonly speed: number;
  readonly projects: Map<string, Project>;
  readonly jobs: Map<string, Job>;
  readonly executions: Map<number, Execution>;
  readonly members: Member[];
  readonly credentials: Map<string, Credential>;
  readonly keys: Map<string, StoredKey>;
  readonly incomplete: Map<number, IncompleteStorage>;
  readonly queue: Queue<WorldEvent>;
  /** The finished executions in the order in which they became visible. */
  history: Execution[];
  readonly settings: Settings;
  conditions: Conditions;
  executionMode: 'active' | 'passive';
  /** The time up to which the engine has played, which is never set back. */
  playedMs: number;
  nextId: number;
  retained: number;
};

type Given = Pick<World, 'clock' | 'dialect' | 'release' | 'seed' | 'speed' | 'retained'>;
type Size = { readonly members: number; readonly threadPoolSize: number; readonly birthMs: number };

export function createWorld(given: Given, { members: count, threadPoolSize, birthMs }: Size): World {
  const members = Array.from({ length: count }, (_, index) =>
    createMember(`auto-${index + 1}`, toUuid('member', given.seed, index), birthMs, threadPoolSize),
  );
  return {
    ...given,
    projects: new Map(),
    jobs: new Map(),
    executions: new Map(),
    members,
    credentials: new Map(),
    keys: createKeys(birthMs),
    incomplete: new Map(),
    queue: createQueue(),
    history: [],
    settings: createSettings(given.release),
    conditions: fairWeather,
    executionMode: 'active',
    playedMs: birthMs,
    nextId: 1,
  };
}
