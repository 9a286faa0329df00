import { createRandom } from '../../simulator/random.ts';
import type { Change } from '../../src/diagnosis/changes/deciding/change.ts';
import {
  type Factor,
  findCommonCause,
  isSame,
  type JobResult,
} from '../../src/diagnosis/changes/deciding/common-cause.ts';
import { type Failure, findSuspects } from '../../src/diagnosis/changes/deciding/suspects.ts';
import { count, minuteMs, numbers, type Random } from './planted.ts';

// Worlds of other shapes than those of `planted.ts` and `planted-causes.ts`, on which the limits were chosen.

const startedAtMs = 200 * 24 * 60 * minuteMs;
const failure: Failure = {
  project: 'pay',
  job: 'pay/settle',
  startedAtMs,
  successMs: startedAtMs - 60 * minuteMs,
  failureClass: 'work',
  failedNodes: ['db03'],
  keys: new Set(['keys/db']),
  children: new Set(['pay/parts']),
};

/** A change of which only the readings around it are known, or whose time the server gives. */
function changed(what: Pick<Change, 'kind' | 'project' | 'subject' | 'what'>, atMs: number, spanMs: number): Change {
  if (spanMs === 0) return { ...what, atMs, afterMs: atMs - 60 * minuteMs, beforeMs: atMs + 60 * minuteMs };
  return { ...what, afterMs: atMs - spanMs / 2, beforeMs: atMs + spanMs / 2 };
}

const definition = (job: string, what: string) => ({ kind: 'definition', project: 'pay', subject: job, what }) as const;
const key = (subject: string) => ({ kind: 'key', project: '', subject, what: 'changed' }) as const;
const node = (subject: string, what = 'hostname changed') => ({ kind: 'node', project: 'pay', subject, what }) as const;
const ofServer = (kind: 'release' | 'restart' | 'plugin' | 'mode', what: string) =>
  ({ kind, project: '', subject: '', what }) as const;

type World = { readonly failure: Failure; readonly cause: Change | undefined; readonly others: readonly Change[] };
type Shape = (random: Random) => World;

const within = (random: Random, span: Failure = failure): number =>
  (span.successMs ?? 0) + random() * (startedAtMs - (span.successMs ?? 0));

export const suspectShapes: Readonly<Record<string, Shape>> = {
  'all definitions of a project imported at once': (random) => {
    const atMs = within(random);
    const others = numbers(count(random, 10, 60)).map((job) =>
      changed(definition(`pay/job${job}`, 'steps changed'), atMs, minuteMs),
    );
    return { failure, cause: changed(definition('pay/settle', 'steps, options changed'), atMs, minuteMs), others };
  },
  'ten keys rotated in an hour': (random) => {
    const others = numbers(9).map((index) => changed(key(`keys/other${index}`), within(random), 0));
    return {
      failure: { ...failure, failureClass: 'access' },
      cause: changed(key('keys/db'), within(random), 0),
      others,
    };
  },
  'ten keys rotated, the definition not readable': (random) => {
    const others = numbers(9).map((index) => changed(key(`keys/other${index}`), within(random), 0));
    const blind: Failure = { ...failure, failureClass: 'access', keys: undefined };
    return { failure: blind, cause: changed(key('keys/db'), within(random), 0), others };
  },
  'all nodes changed by their source': (random) => {
    const atMs = within(random);
    const others = numbers(20).map((index) => changed(node(`web${index}`), atMs, 30 * minuteMs));
    return {
      failure: { ...failure, failureClass: 'target' },
      cause: changed(node('db03'), atMs, 30 * minuteMs),
      others,
    };
  },
  'a referenced job edited, and the job itself elsewhere': (random) => ({
    failure,
    cause: changed(definition('pay/parts', 'steps changed'), within(random), 2 * minuteMs),
    others: [changed(definition('pay/settle', 'notifications changed'), within(random), 2 * minuteMs)],
  }),
  'an upgrade with a restart, new plugins and a passive hour': (random) => {
    const atMs = startedAtMs - (1 + random() * 20) * minuteMs;
    const others = [
      changed(ofServer('restart', 'restarted'), atMs, 0),
      changed(ofServer('mode', 'passive, was active'), atMs - 5 * minuteMs, minuteMs),
      ...numbers(5).map(() => changed(key('keys/other'), within(random), 0)),
    ];
    return {
      failure: { ...failure, failureClass: 'system' },
      cause: changed(ofServer('release', '5.19.0 → 5.20.1'), atMs, 0),
      others,
    };
  },
  'a weekly job after a busy week': (random) => {
    const weekly: Failure = { ...failure, successMs: startedAtMs - 7 * 24 * 60 * minuteMs };
    const others = numbers(count(random, 20, 60)).map((index) => {
      const what = [
        definition(`pay/job${index}`, 'steps changed'),
        key(`keys/k${index}`),
        node(`web${index}`, 'tags changed'),
      ];
      const own = [definition('pay/settle', 'schedule changed'), ofServer('restart', 'restarted')];
      const all = [...what, ...own];
      return changed(all[Math.floor(random() * all.length)] ?? key('keys/k'), within(random, weekly), minuteMs);
    });
    return {
      failure: weekly,
      cause: changed(definition('pay/settle', 'steps changed'), within(random, weekly), 2 * minuteMs),
      others,
    };
  },
  'below API 56, definitions read once a day': (random) => ({
    failure,
    cause: changed(definition('pay/settle', 'steps changed'), within(random), 24 * 60 * minuteMs),
    others: [
      changed(
        { kind: 'switch', project: 'pay', subject: 'pay/settle', what: 'schedule switched on' },
        within(random),
        minuteMs,
      ),
      changed(node('db03', 'tags changed'), within(random), 30 * minuteMs),
    ],
  }),
  'nothing of ours: the program failed': (random) => ({
    failure,
    cause: undefined,
    others: [
      changed(key('keys/db'), within(random), 0),
      changed(node('db03', 'tags changed'), within(random), 30 * minuteMs),
      changed(definition('pay/settle', 'notifications changed'), within(random), minuteMs),
      changed(ofServer('restart', 'restarted'), within(random), 0),
    ],
  }),
  'nothing of ours, but somebody edited the steps without harm': (random) => ({
    failure,
    cause: undefined,
    others: [changed(definition('pay/settle', 'steps changed'), within(random), minuteMs)],
  }),
};

/** How often the cause is first, among the first three, or (without one) how often anything fits. */
export function countShape(shape: Shape, worlds: number) {
  const counts = { first: 0, firstThree: 0, fitsWithout: 0 };
  for (let seed = 1; seed <= worlds; seed += 1) {
    const world = shape(createRandom(seed));
    const all = [...world.others, ...(world.cause === undefined ? [] : [world.cause])];
    const shuffled = all.toSorted((one, other) => one.subject.localeCompare(other.subject));
    const suspects = findSuspects(world.failure, shuffled);
    const place = suspects.findIndex(({ kind, subject, what, beforeMs }) => {
      const { cause } = world;
      return kind === cause?.kind && subject === cause.subject && what === cause.what && beforeMs === cause.beforeMs;
    });
    if (place === 0) counts.first += 1;
    if (place >= 0 && place < 3) counts.firstThree += 1;
    if (world.cause === undefined && suspects.some(({ fits }) => fits)) counts.fitsWithout += 1;
  }
  return counts;
}

type Plan = {
  readonly jobs: number;
  readonly nodes: number;
  readonly everyMinutes: (random: Random) => number;
  /** The chance that a run fails by itself. */
  readonly noise: number;
  /** The share of the runs with the cause that it makes fail; the cause covers this share of the jobs. */
  readonly harm: number;
  readonly share: number;
  readonly kind: Factor['kind'] | undefined;
  /** Jobs that fail together for a reason that no factor shows. */
  readonly storm?: number;
};

const often = (random: Random): number => count(random, 3, 15);

export const causePlans: Readonly<Record<string, Plan>> = {
  'a small estate, half of it on one node': {
    jobs: 16,
    nodes: 4,
    everyMinutes: often,
    noise: 0.01,
    harm: 1,
    share: 0.5,
    kind: 'node',
  },
  'a large estate, 3 % of it on one node': {
    jobs: 400,
    nodes: 30,
    everyMinutes: often,
    noise: 0.002,
    harm: 1,
    share: 0.03,
    kind: 'node',
  },
  'a node that harms two of three runs': {
    jobs: 100,
    nodes: 10,
    everyMinutes: often,
    noise: 0.01,
    harm: 0.67,
    share: 0.2,
    kind: 'node',
  },
  'one of three members': {
    jobs: 120,
    nodes: 10,
    everyMinutes: often,
    noise: 0.01,
    harm: 1,
    share: 0.33,
    kind: 'member',
  },
  'a referenced job': { jobs: 120, nodes: 10, everyMinutes: often, noise: 0.01, harm: 1, share: 0.1, kind: 'child' },
  'a key': { jobs: 120, nodes: 10, everyMinutes: often, noise: 0.01, harm: 1, share: 0.15, kind: 'key' },
  'hourly jobs only': { jobs: 120, nodes: 10, everyMinutes: () => 60, noise: 0.01, harm: 1, share: 0.2, kind: 'node' },
  'many flaky jobs beside it': {
    jobs: 200,
    nodes: 10,
    everyMinutes: often,
    noise: 0.1,
    harm: 1,
    share: 0.2,
    kind: 'node',
  },
  'no cause, very flaky jobs': {
    jobs: 150,
    nodes: 6,
    everyMinutes: often,
    noise: 0.3,
    harm: 0,
    share: 0.2,
    kind: undefined,
  },
  'no cause that shows, a third of all jobs fail at once': {
    jobs: 150,
    nodes: 6,
    everyMinutes: often,
    noise: 0.01,
    harm: 0,
    share: 0.2,
    kind: undefined,
    storm: 0.33,
  },
  'no cause, a small estate': {
    jobs: 20,
    nodes: 3,
    everyMinutes: often,
    noise: 0.15,
    harm: 0,
    share: 0.3,
    kind: undefined,
  },
};

/** Looks each minute for an hour after the trouble began; returns what was named. */
function play(plan: Plan, seed: number) {
  const random = createRandom(seed * 7919);
  const planted: Factor | undefined = plan.kind && { kind: plan.kind, subject: 'planted' };
  const jobs = numbers(plan.jobs).map((index) => {
    const hasCause = index < plan.share * plan.jobs;
    const own: Factor[] = [
      { kind: 'node', subject: planted?.kind === 'node' && hasCause ? 'planted' : `n${count(random, 1, plan.nodes)}` },
      { kind: 'member', subject: planted?.kind === 'member' && hasCause ? 'planted' : `m${count(random, 1, 3)}` },
      { kind: 'project', subject: `p${count(random, 1, 8)}` },
      { kind: 'trigger', subject: 'scheduled' },
      ...(hasCause && planted !== undefined && planted.kind !== 'node' && planted.kind !== 'member' ? [planted] : []),
    ];
    const everyMs = plan.everyMinutes(random) * minuteMs;
    return {
      hasCause,
      factors: own,
      everyMs,
      nextMs: Math.floor(random() * everyMs),
      isInStorm: random() < (plan.storm ?? 0),
    };
  });
  const results = new Map<number, JobResult>();
  const named: (Factor | undefined)[] = [];
  for (let nowMs = 0; nowMs <= 120 * minuteMs; nowMs += minuteMs) {
    const isTrouble = nowMs >= 60 * minuteMs;
    for (const [index, job] of jobs.entries()) {
      if (job.nextMs > nowMs) continue;
      job.nextMs += job.everyMs;
      const isHarmed = isTrouble && job.hasCause && random() < plan.harm;
      const isFailed = isHarmed || (isTrouble && job.isInStorm) || random() < plan.noise;
      results.set(index, { endedAtMs: nowMs, isFailed, factors: job.factors });
    }
    named.push(findCommonCause(results.values(), nowMs));
  }
  return { planted, named };
}

/** How often the planted factor is the last one named, how often another one is named at any time, and how late the right one. */
export function countPlan(plan: Plan, worlds: number) {
  const counts = { right: 0, wrongEver: 0, medianMinutes: 0 };
  const minutes: number[] = [];
  for (let seed = 1; seed <= worlds; seed += 1) {
    const { planted, named } = play(plan, seed);
    const isRight = (one: Factor | undefined) => one !== undefined && planted !== undefined && isSame(one, planted);
    const first = named.findIndex(isRight);
    if (first >= 0) counts.right += 1;
    if (first >= 60) minutes.push(first - 60);
    if (named.some((one) => one !== undefined && !isRight(one))) counts.wrongEver += 1;
  }
  counts.medianMinutes = minutes.toSorted((one, other) => one - other)[Math.floor(minutes.length / 2)] ?? Number.NaN;
  return counts;
}

/** `node test/diagnosis/other-worlds.ts [worlds]` prints the figures. */
if (import.meta.main) {
  const worlds = Number(process.argv[2] ?? 200);
  const print = (name: string, figures: object) => process.stdout.write(`${name}: ${JSON.stringify(figures)}\n`);
  for (const [name, shape] of Object.entries(suspectShapes)) print(name, countShape(shape, worlds));
  for (const [name, plan] of Object.entries(causePlans)) print(name, countPlan(plan, worlds));
}
