import { createRandom } from '../../simulator/random.ts';
import {
  type Factor,
  findCommonCause,
  isSame,
  type JobResult,
} from '../../src/diagnosis/changes/deciding/common-cause.ts';
import { count, minuteMs, numbers, type Random } from './planted.ts';

type Plan = {
  readonly jobs: number;
  readonly nodes: number;
  readonly everyMinutes: (random: Random) => number;
  /** The probability that a run fails without a cause. */
  readonly noise: number;
  /** The share of runs with the cause that fail during the trouble. */
  readonly harm: number;
  readonly share: number;
  readonly kind: Factor['kind'] | undefined;
  /** The number of jobs that fail together for a hidden reason. */
  readonly storm?: number;
};

const often = (random: Random): number => count(random, 3, 15);

const usual: Plan = { jobs: 120, nodes: 10, everyMinutes: often, noise: 0.01, harm: 1, share: 0.2, kind: 'node' };
const calm: Plan = { ...usual, jobs: 150, nodes: 6, harm: 0, kind: undefined };

export const causePlans: Readonly<Record<string, Plan>> = {
  'a small estate, half of it on one node': { ...usual, jobs: 16, nodes: 4, share: 0.5 },
  'a large estate, 3 % of it on one node': { ...usual, jobs: 400, nodes: 30, noise: 0.002, share: 0.03 },
  'a node that harms two of three runs': { ...usual, jobs: 100, harm: 0.67 },
  'one of three members': { ...usual, share: 0.33, kind: 'member' },
  'a referenced job': { ...usual, share: 0.1, kind: 'child' },
  'a key': { ...usual, share: 0.15, kind: 'key' },
  'hourly jobs only': { ...usual, everyMinutes: () => 60 },
  'many flaky jobs beside it': { ...usual, jobs: 200, noise: 0.1 },
  'no cause, very flaky jobs': { ...calm, noise: 0.3 },
  'no cause that shows, a third of all jobs fail at once': { ...calm, noise: 0.01, storm: 0.33 },
  'no cause, a small estate': { ...calm, jobs: 20, nodes: 3, noise: 0.15, share: 0.3 },
};

/** Checks each minute for an hour after the start of the trouble. */
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

/** Counts how often the planted cause and how often a wrong cause is named, and measures the delay. */
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
