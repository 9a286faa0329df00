import { createClock } from '../../simulator/clock.ts';
import { command, work } from '../../simulator/scenarios/build.ts';
import { createService, type Service } from '../../simulator/simulator.ts';
import type { Execution, Job, Project } from '../../simulator/world/installation.ts';
import type { Collector } from './collector.ts';
import { type Change, token } from './configured.ts';
import type { Dice } from './dice.ts';
import type { Climate } from './network.ts';
import type { Plan } from './plan.ts';
import type { VirtualTime } from './virtual-time.ts';

/** The parts of a world that cards (planned events) can change, and what the server truly did. */
export type Scene = {
  readonly plan: Plan;
  readonly time: VirtualTime;
  readonly dice: Dice;
  readonly service: Service;
  readonly weather: Climate;
  readonly collector: Collector;
  readonly estate: Estate;
  readonly hands: { wallOffsetMs: number };
  readonly operator: Operator;
  readonly truth: TruthBook;
  readonly note: (event: string) => void;
};

export type Operator = {
  readonly kill: (backAfterMs: number) => void;
  readonly stop: (backAfterMs: number) => void;
  /** Stops the process for a while, as SIGSTOP does. */
  readonly hold: (forMs: number) => void;
  readonly reload: (change: Change) => void;
  readonly fillDisk: (isFull: boolean) => void;
  readonly restoreCopy: (backAfterMs: number) => void;
  /** Replaces a previous release, which wrote the state, with the current release. */
  readonly upgrade: (backAfterMs: number) => void;
  readonly isUp: () => boolean;
};

/** Events after which executions, series or names may be missing. */
export type TruthBook = {
  /** Imported executions, by id and start. */
  readonly imports: Set<string>;
  /** The projects whose series have ended, each with the time. */
  readonly gone: Map<string, number>;
  /** Absences beyond the catch-up limit: their start, and the time before which executions are skipped. */
  readonly skipped: { readonly fromMs: number; readonly beforeMs: number }[];
  /** The start of the first daemon by the clock of the service. */
  beganMs: number;
  /** The times at which hidden projects became visible. Counting begins at the last list without the project. */
  readonly listedFrom: Map<string, number>;
  /** The times at which executions were deleted. */
  readonly lostAt: number[];
  /** Earlier names of jobs, each with the time of its end. */
  readonly renamed: { readonly jobId: string; readonly name: string; readonly atMs: number }[];
  /** The times at which the daemon read a finished execution. */
  readonly readAt: Map<Execution, number[]>;
  /** Projects and jobs that the configuration or permissions excluded for a while. */
  readonly excluded: {
    readonly of: Project | Job;
    readonly by: 'configuration' | 'permission';
    readonly name: string;
    readonly fromMs: number;
    toMs: number;
  }[];
  /** The time since when the limit of series has been too low. */
  fewerSinceMs: number | undefined;
  /** Projects that the credentials cannot see now. */
  readonly hiddenProjects: string[];
  /** The times at which ids started again, with the number of ended executions. */
  readonly newDatabases: { readonly atMs: number; readonly ended: number }[];
  /** The problems of the service, the network or the daemon, each with its start and end. */
  readonly troubles: {
    readonly what: Trouble;
    readonly fromMs: number;
    toMs: number;
    /** The time by which a clock was set. */
    readonly byMs?: number;
    /** The time at which the restored copy was made. */
    readonly copiedAtMs?: number;
  }[];
};

export type Trouble =
  | 'server'
  | 'down'
  | 'slow'
  | 'daemon'
  | 'disk'
  | 'sight'
  | 'clock'
  | 'step'
  | 'states'
  | 'collector'
  | 'restored'
  | 'server mode';

export type Place = {
  name: string;
  namedAtMs: number;
  /** The time at which the project or its database was created; no run is older. */
  sinceMs: number;
  readonly jobs: string[];
  /** The time until which the daemon reads the minute in which 4,500 executions of this project ended. */
  denseUntilMs?: number;
};

type Estate = { readonly places: Place[]; madeProjects: number; madeJobs: number };

/** The start of true time, with a fraction of a millisecond. */
export const birthMs = Date.UTC(2026, 0, 15, 12, 3, 7) + 0.625;

export function createTruth(): TruthBook {
  return {
    imports: new Set(),
    gone: new Map(),
    skipped: [],
    beganMs: birthMs,
    newDatabases: [],
    lostAt: [],
    renamed: [],
    listedFrom: new Map(),
    readAt: new Map(),
    excluded: [],
    fewerSinceMs: undefined,
    hiddenProjects: [],
    troubles: [],
  };
}

export function createEstateService(plan: Plan, time: VirtualTime): { service: Service; estate: Estate } {
  const clock = createClock(() => Math.floor(time.nowMs()), 'free');
  const service = createService(
    {
      scenario: 'empty',
      seed: plan.seed,
      members: plan.members,
      retained: Number.POSITIVE_INFINITY,
      threadPoolSize: 1000,
      token,
      ...(plan.release === undefined ? {} : { release: plan.release }),
    },
    clock,
  );
  service.control.configure({ storageDelayMs: 60_000 });
  const estate: Estate = { places: [], madeProjects: 0, madeJobs: 0 };
  for (let count = 0; count < plan.projects; count += 1) addPlace(service, estate, plan);
  return { service, estate };
}

export function addPlace(service: Service, estate: Estate, plan: Plan, hasJobs = true): Place {
  service.play();
  estate.madeProjects += 1;
  const name = `p${estate.madeProjects}`;
  service.control.createProject(name, ['node01', 'node02']);
  const atMs = service.world.playedMs;
  const place: Place = { name, namedAtMs: atMs, sinceMs: atMs, jobs: [] };
  estate.places.push(place);
  const some = plan.projects >= manyProjects ? 1 : 1 + (estate.madeProjects % 3);
  const jobs = hasJobs ? some : 0;
  for (let count = 0; count < jobs; count += 1) addJobTo(service, estate, place, plan);
  return place;
}

const manyProjects = 100;

export function addJobTo(service: Service, estate: Estate, place: Place, plan: Plan): void {
  estate.madeJobs += 1;
  const number = estate.madeJobs;
  const steps = [command('fetch', 1.7, 0.05), command('load', 2.9, 0.1), command('check', 0.4, 0.02)];
  const everyMs = plan.gapMs * 4 + number * 137;
  const id = service.control.createJob(place.name, {
    name: `job ${number}`,
    group: number % 2 === 0 ? 'nightly' : '',
    work: work(['node01', 'node02'], steps.slice(0, 1 + (number % 3))),
    schedule:
      plan.listsEveryMs === undefined
        ? { everyMs, offsetMs: (number * 977) % everyMs }
        : { cron: crons[(number - 1) % crons.length] ?? '', zone: 'Europe/Berlin' },
    ...(number % 4 === 0 ? { retry: { attempts: 2, delayMs: 3000 } } : {}),
    multiple: number % 5 === 0,
  });
  place.jobs.push(id);
}

/** Schedules: working hours, nights, weekends, and every few hours. */
const crons = ['20 9-17/2 * * 1-5', '30 2 * * *', '5 4 * * 0,6', '15 */6 * * *', '45 22 * * 5', '*/40 8-11 * * *'];

const endings = ['succeeded', 'succeeded', 'succeeded', 'failed', 'aborted', 'timedout', 'odd word'] as const;

/** Starts short runs; some become visible 50 s late. */
export function startTraffic(scene: Scene, untilMs: number): void {
  const dice = scene.dice.of('traffic');
  const { time, plan, service } = scene;
  function next(): void {
    const { length } = scene.estate.places;
    const gapMs = (plan.gapMs / Math.max(1, length)) * -Math.log(1 - dice.next());
    time.after(gapMs, () => {
      if (time.nowMs() > untilMs) return;
      const place = scene.estate.places[dice.between(0, length - 1)];
      const project = place === undefined ? undefined : service.world.projects.get(place.name);
      if (place !== undefined && project !== undefined && !project.disabled) finishOne(scene, place, dice);
      next();
    });
  }
  next();
}

export function finishOne(
  { service, time }: Pick<Scene, 'service' | 'time'>,
  place: Place,
  dice: Dice,
  agoMs = 0,
): void {
  // The clock of the service dates the ends.
  const skewMs = service.world.members[0]?.skewMs ?? 0;
  const sinceMs = Math.ceil(place.sinceMs);
  const endedAtMs = Math.max(Math.floor(time.nowMs()) - Math.floor(agoMs), sinceMs + 1);
  const startedAtMs = Math.max(endedAtMs - dice.between(1, 40_000), sinceMs);
  const jobId =
    place.jobs.length === 0 || dice.chance(0.2) ? undefined : place.jobs[dice.between(0, place.jobs.length - 1)];
  const isLate = dice.chance(0.25);
  service.control.addFinished(place.name, {
    ...(jobId === undefined ? {} : { jobId }),
    startedAtMs,
    endedAtMs,
    skewMs,
    status: dice.pick(endings),
    ...(isLate ? { visibleAtMs: Math.floor(time.nowMs()) + dice.between(100, 50_000) } : {}),
  });
}

/** Deletes executions that ended before a time, as the cleaner of a server does. */
export function deleteEnded({ service: { world, control }, truth, time }: Scene, beforeMs: number): void {
  const old = world.history.filter(
    ({ end, ended, skewMs, deletedAtMs, lostAtMs }) =>
      // Runs of a lost database are not deleted. A run whose clock was ahead is deleted when its shown end is old enough.
      ended && deletedAtMs === undefined && lostAtMs === undefined && (end?.atMs ?? 0) + Math.max(0, skewMs) < beforeMs,
  );
  if (old.length > 0) truth.lostAt.push(time.nowMs());
  control.deleteExecutions(old.map(({ id }) => id));
}

/** Runs the cleaner of the server regularly until the end of the world. */
export function startCleaner(scene: Scene, keptMs: number): void {
  scene.time.after(keptMs / 4, () => {
    deleteEnded(scene, scene.time.nowMs() - keptMs);
    startCleaner(scene, keptMs);
  });
}

/** Ends a success and then a failure of each job; the success is visible later. */
export function finishLast({ service, time, estate }: Scene): void {
  const nowMs = Math.floor(time.nowMs());
  const skewMs = service.world.members[0]?.skewMs ?? 0;
  for (const { name, jobs } of estate.places) {
    const [jobId] = jobs;
    if (jobId === undefined || !service.world.projects.has(name)) continue;
    const late = { jobId, startedAtMs: nowMs - 5000, endedAtMs: nowMs - 2000, visibleAtMs: nowMs + 40_000, skewMs };
    service.control.addFinished(name, { ...late, status: 'succeeded' });
    service.control.addFinished(name, {
      jobId,
      startedAtMs: nowMs - 3000,
      endedAtMs: nowMs - 1000,
      skewMs,
      status: 'failed',
    });
  }
}
