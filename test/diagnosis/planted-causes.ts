import { createRandom } from '../../simulator/random.ts';
import {
  type Factor,
  findCommonCause,
  isSame,
  type JobResult,
} from '../../src/diagnosis/changes/deciding/common-cause.ts';
import { count, minuteMs, numbers, type Random } from './planted.ts';

type Job = { readonly path: string; readonly factors: readonly Factor[]; readonly everyMs: number; nextMs: number };

type CauseWorld = { readonly planted: Factor | undefined; readonly named: readonly (Factor | undefined)[] };

/** Some hours of jobs on nodes. If the world has a cause, a node fails after an hour. */
function playCommonCause(seed: number, hasCause: boolean): CauseWorld {
  const random = createRandom(seed);
  const all = makeJobs(random);
  const chance = hasCause ? 0.005 + random() * 0.03 : 0.02 + random() * 0.18;
  const busiest = toBusiestNode(all);
  const planted = hasCause ? busiest : undefined;
  const results = new Map<string, JobResult>();
  const named: (Factor | undefined)[] = [];
  const covered = new Set<string>();
  let fifthMs = Number.POSITIVE_INFINITY;
  for (let nowMs = 0; nowMs <= 3 * 60 * minuteMs; nowMs += minuteMs) {
    for (const job of all) {
      if (job.nextMs > nowMs) continue;
      job.nextMs += job.everyMs;
      const isHit = planted !== undefined && nowMs >= 60 * minuteMs && job.factors.some((own) => isSame(own, planted));
      const isFailed = isHit || random() < chance;
      if (isHit && covered.add(job.path).size === 5) fifthMs = nowMs;
      results.set(job.path, { endedAtMs: nowMs, isFailed, factors: toSeen(job, isFailed ? planted : undefined) });
    }
    named.push(findCommonCause(results.values(), nowMs));
    if (nowMs >= fifthMs + 2 * minuteMs) break;
  }
  return { planted, named };
}

/** For a failed run, a server reports only the nodes that failed. */
function toSeen({ factors }: Job, planted: Factor | undefined): readonly Factor[] {
  if (planted === undefined || !factors.some((own) => isSame(own, planted))) return factors;
  return factors.filter((own) => own.kind !== 'node' || isSame(own, planted));
}

function makeJobs(random: Random): Job[] {
  const nodeCount = count(random, 5, 40);
  const projectCount = count(random, 2, 10);
  return numbers(count(random, 40, 200)).map((index) => {
    const project = `p${count(random, 0, projectCount - 1)}`;
    const own = numbers(count(random, 1, 3)).map(
      () => ({ kind: 'node', subject: `n${count(random, 0, nodeCount - 1)}` }) as const,
    );
    const everyMs = count(random, 2, 12) * minuteMs;
    return {
      path: `${project}/job${index}`,
      everyMs,
      nextMs: Math.floor(random() * everyMs),
      factors: [
        ...own,
        { kind: 'project', subject: project },
        { kind: 'trigger', subject: random() < 0.9 ? 'scheduled' : 'user' },
        { kind: 'member', subject: `m${count(random, 0, 2)}` },
      ],
    };
  });
}

function toBusiestNode(all: readonly Job[]): Factor {
  const counts = new Map<string, number>();
  for (const { factors } of all)
    for (const { kind, subject } of factors) if (kind === 'node') counts.set(subject, (counts.get(subject) ?? 0) + 1);
  const [first] = [...counts].sort(([, one], [, other]) => other - one);
  return { kind: 'node', subject: first?.[0] ?? '' };
}

export function countCommonCauses(worlds: number): Record<'right' | 'wrong' | 'without', number> {
  const counts = { right: 0, wrong: 0, without: 0 };
  for (let seed = 1; seed <= worlds; seed += 1) {
    const { planted, named } = playCommonCause(seed, true);
    const last = named.at(-1);
    if (last !== undefined && planted !== undefined) counts[isSame(last, planted) ? 'right' : 'wrong'] += 1;
    if (playCommonCause(seed + worlds, false).named.some((one) => one !== undefined)) counts.without += 1;
  }
  return counts;
}

/** `node test/diagnosis/planted-causes.ts [worlds]` prints the figures. */
if (import.meta.main) {
  const worlds = Number(process.argv[2] ?? 1000);
  process.stdout.write(`${JSON.stringify({ worlds, causes: countCommonCauses(worlds) })}\n`);
}
