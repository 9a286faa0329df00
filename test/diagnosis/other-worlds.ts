import { createRandom } from '../../simulator/random.ts';
import type { Change } from '../../src/diagnosis/changes/deciding/change.ts';
import { type Failure, findSuspects } from '../../src/diagnosis/changes/deciding/suspects.ts';
import { causePlans, countPlan } from './other-causes.ts';
import { count, minuteMs, numbers, type Random } from './planted.ts';

// Worlds that differ from those on which the limits were chosen.

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

/** A change with its time, or with the times of the readings before and after. */
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

/** Counts worlds in which the cause is first or among the first three, and worlds with a wrong cause. */
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

/** `node test/diagnosis/other-worlds.ts [worlds]` prints the figures. */
if (import.meta.main) {
  const worlds = Number(process.argv[2] ?? 200);
  const print = (name: string, figures: object) => process.stdout.write(`${name}: ${JSON.stringify(figures)}\n`);
  for (const [name, shape] of Object.entries(suspectShapes)) print(name, countShape(shape, worlds));
  for (const [name, plan] of Object.entries(causePlans)) print(name, countPlan(plan, worlds));
}
