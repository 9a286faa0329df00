import { createRandom } from '../../simulator/random.ts';
import type { Change } from '../../src/diagnosis/changes/deciding/change.ts';
import { type Failure, findSuspects, type Suspect } from '../../src/diagnosis/changes/deciding/suspects.ts';

export const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;

export type Random = ReturnType<typeof createRandom>;

function pick<Item>(random: Random, items: readonly Item[]): Item {
  const item = items[Math.floor(random() * items.length)];
  if (item === undefined) throw new Error('nothing to pick');
  return item;
}

export function count(random: Random, least: number, most: number): number {
  return least + Math.floor(random() * (most - least + 1));
}

export const numbers = (length: number): readonly number[] => Array.from({ length }, (_none, index) => index);
const jobs = numbers(50).map((index) => `p${index % 5}/job${index}`);
const nodes = numbers(20).map((index) => `node${index}`);
const keys = numbers(15).map((index) => `keys/key${index}`);
const sections = ['steps', 'options', 'schedule', 'nodes', 'limits', 'notifications', 'error handlers', 'plugins'];

/** A change with an exact time if the server has one, otherwise with two times. */
function toChange(random: Random, given: Omit<Change, 'afterMs' | 'beforeMs'>, trueMs: number): Change {
  if (given.kind === 'key') {
    const readMs = trueMs + random() * 60 * minuteMs;
    return { ...given, atMs: Math.floor(trueMs / 1000) * 1000, afterMs: readMs - 60 * minuteMs, beforeMs: readMs };
  }
  const everyMs = { node: 15, definition: 24 * 60 }[given.kind as string] ?? 1;
  const lateMs = random() * everyMs * minuteMs;
  const spanMs = everyMs * minuteMs * (given.kind === 'node' ? 2 : 1);
  return { ...given, afterMs: trueMs + lateMs - spanMs, beforeMs: trueMs + lateMs };
}

function toInnocent(random: Random): Omit<Change, 'afterMs' | 'beforeMs'> {
  const kind = pick(random, [
    'definition',
    'job',
    'switch',
    'key',
    'node',
    'project',
    'restart',
    'mode',
    'run',
  ] as const);
  const project = `p${count(random, 0, 4)}`;
  if (kind === 'key') return { kind, project: '', subject: pick(random, keys), what: 'changed' };
  if (kind === 'node') return { kind, project, subject: pick(random, nodes), what: 'tags changed' };
  if (kind === 'project') return { kind, project, subject: project, what: 'executions switched off' };
  if (kind === 'restart' || kind === 'mode') return { kind, project: '', subject: '', what: kind };
  const job = pick(random, jobs);
  const what = kind === 'definition' ? `${pick(random, sections)} changed` : 'changed';
  return { kind, project: job.slice(0, 2), subject: job, what };
}

const classes = ['access', 'target', 'definition', 'inventory', 'work', 'system'] as const;

function toPlanted(random: Random, failure: Failure, key: string): Omit<Change, 'afterMs' | 'beforeMs'> {
  const { project, job, failedNodes, failureClass } = failure;
  const ofJob = (what: string) => ({ kind: 'definition', project, subject: job, what }) as const;
  if (failureClass === 'access') return { kind: 'key', project: '', subject: key, what: 'changed' };
  if (failureClass === 'target')
    return { kind: 'node', project, subject: failedNodes[0] ?? '', what: 'hostname changed' };
  if (failureClass === 'system') return { kind: 'release', project: '', subject: '', what: '5.19.0 → 5.20.1' };
  if (failureClass === 'inventory') return ofJob('nodes changed');
  if (failureClass !== 'work') return ofJob('options changed');
  return random() < 0.7 ? ofJob('steps changed') : { kind: 'run', project, subject: job, what: 'arguments' };
}

type SuspectWorld = {
  readonly failure: Failure;
  readonly planted: Change | undefined;
  readonly suspects: readonly Suspect[];
};

/** A failed job, perhaps a cause, and up to 20 unrelated changes. */
function playSuspects(seed: number, hasCause: boolean): SuspectWorld {
  const random = createRandom(seed);
  const job = pick(random, jobs);
  const startedAtMs = 100 * dayMs;
  const successMs = startedAtMs - count(random, 5, 24 * 60) * minuteMs;
  const key = pick(random, keys);
  const failure: Failure = {
    project: job.slice(0, 2),
    job,
    startedAtMs,
    successMs,
    failureClass: pick(random, classes),
    failedNodes: [pick(random, nodes)],
    keys: new Set([key]),
    children: new Set(random() < 0.3 ? [pick(random, jobs)] : []),
  };
  const innocent = numbers(count(random, 0, 20)).map(() =>
    toChange(random, toInnocent(random), startedAtMs + (random() * 3 - 2) * dayMs),
  );
  const causedMs = successMs + random() * (startedAtMs - successMs);
  const planted = hasCause ? toChange(random, toPlanted(random, failure, key), causedMs) : undefined;
  const changes = planted === undefined ? innocent : [...innocent, planted];
  const shuffled = changes.map((change) => [random(), change] as const).sort(([one], [other]) => one - other);
  return {
    failure,
    planted,
    suspects: findSuspects(
      failure,
      shuffled.map(([, change]) => change),
    ),
  };
}

/** Counts causes that are first or among the first three, wrong causes, and suspects outside the span. */
export function countSuspects(worlds: number): Record<'first' | 'firstThree' | 'fitsWithout' | 'outside', number> {
  const counts = { first: 0, firstThree: 0, fitsWithout: 0, outside: 0 };
  for (let seed = 1; seed <= worlds; seed += 1) {
    const { planted, suspects, ...world } = playSuspects(seed, true);
    const place = suspects.findIndex((one) => one.kind === planted?.kind && one.beforeMs === planted.beforeMs);
    if (place === 0) counts.first += 1;
    if (place >= 0 && place < 3) counts.firstThree += 1;
    const without = playSuspects(seed + worlds, false);
    if (without.suspects.some(({ fits }) => fits)) counts.fitsWithout += 1;
    for (const each of [{ ...world, suspects }, without])
      counts.outside += each.suspects.filter((one) => isOutside(one, each.failure)).length;
  }
  return counts;
}

function isOutside({ atMs, afterMs, beforeMs }: Suspect, { successMs = 0, startedAtMs }: Failure): boolean {
  const [from, until] = atMs === undefined ? [afterMs, beforeMs] : [atMs, atMs + 1000];
  return until <= successMs || from > startedAtMs;
}

/** `node test/diagnosis/planted.ts [worlds]` prints the figures. */
if (import.meta.main) {
  const worlds = Number(process.argv[2] ?? 1000);
  process.stdout.write(`${JSON.stringify({ worlds, suspects: countSuspects(worlds) })}\n`);
}
