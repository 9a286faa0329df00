/** The kinds of factors that several jobs may share. */
const factorKinds = ['node', 'member', 'child', 'key', 'project', 'trigger', 'user'] as const;
type FactorKind = (typeof factorKinds)[number];

export type Factor = { readonly kind: FactorKind; readonly subject: string };

export type JobResult = {
  readonly endedAtMs: number;
  readonly isFailed: boolean;
  readonly factors: readonly Factor[];
  /** True if the definition of the job was not read, so that its keys and referenced jobs are unknown. */
  readonly isUnread?: boolean;
  /** The last stored node, if the job succeeded on more nodes than are stored. All other nodes have later names. */
  readonly lastNode?: string | undefined;
};

/** A common cause of failures. The numbers count jobs. */
export type CommonCause = Factor & {
  /** The time of the first failure among the failed jobs. */
  readonly sinceMs: number;
  readonly failed: number;
  /** The number of failed jobs with the factor. */
  readonly covered: number;
  readonly succeeded: number;
  /** The number of successful jobs with the factor. */
  readonly spared: number;
  readonly probability: number;
};

/** Returns the factor of most jobs that failed in the last minutes, if successful jobs lack it. */
export function findCommonCause(results: Iterable<JobResult>, nowMs: number): CommonCause | undefined {
  const { failed, succeeded } = toGroups(results, nowMs);
  if (failed.length < minFailed) return undefined;
  const numbers = { failed: failed.length, succeeded: succeeded.length };
  const counts = countFactors(failed, succeeded);
  // Factors are chosen only by their numbers of jobs. If the choice depended on results, chance could look like a cause.
  const tried = [...counts.values()].filter(({ covered, spared }) => covered + spared >= minCover * failed.length);
  const tests = countTests(tried.map(({ covered, spared }) => toLeast({ ...numbers, having: covered + spared })));
  const named = tried
    .filter(({ covered }) => covered >= minCover * failed.length)
    .map((count) => ({ ...count, ...numbers, probability: toProbability({ ...count, ...numbers }) * tests }))
    .filter(({ probability }) => probability < maxProbability)
    .sort((one, other) => other.covered - one.covered || one.spared - other.spared || rank(one) - rank(other));
  return named[0];
}

export function recount(cause: CommonCause, results: Iterable<JobResult>, nowMs: number): CommonCause {
  const { failed, succeeded } = toGroups(results, nowMs);
  const { covered = 0, spared = 0 } = countFactors(failed, succeeded).get(toKey(cause)) ?? {};
  return { ...cause, failed: failed.length, covered, succeeded: succeeded.length, spared };
}

/** Reports whether a cause lasts: one of its jobs failed recently, and most of its jobs still fail. */
export function isLasting(cause: Factor, results: Iterable<JobResult>, nowMs: number): boolean {
  let failed = 0;
  let succeeded = 0;
  for (const { endedAtMs, isFailed, factors } of results) {
    if (endedAtMs <= nowMs - windowMs || !factors.some((factor) => isSame(factor, cause))) continue;
    if (isFailed) failed += 1;
    else succeeded += 1;
  }
  return failed > succeeded;
}

export function isSame(one: Factor, other: Factor): boolean {
  return one.kind === other.kind && one.subject === other.subject;
}

const minFailed = 5;
const minCover = 0.6;
/** A wrong cause may be found by chance with a probability of 0.001 per hour, and an hour has about five independent checks. */
const maxProbability = 0.001 / 5;
const windowMs = 15 * 60_000;
/** If the window has few successes, successes of a longer time count too. */
export const longWindowMs = 2 * 3_600_000;
const fewSuccesses = 3;

function toGroups(results: Iterable<JobResult>, nowMs: number) {
  const failed: JobResult[] = [];
  const recent: JobResult[] = [];
  const earlier: JobResult[] = [];
  for (const result of results) {
    if (result.endedAtMs <= nowMs - longWindowMs) continue;
    const isRecent = result.endedAtMs > nowMs - windowMs;
    if (!result.isFailed) (isRecent ? recent : earlier).push(result);
    else if (isRecent) failed.push(result);
  }
  const isFew = recent.length < fewSuccesses * failed.length;
  return { failed, succeeded: isFew ? [...recent, ...earlier] : recent };
}

type Count = Factor & Pick<CommonCause, 'covered' | 'spared' | 'sinceMs'>;

function countFactors(failed: readonly JobResult[], succeeded: readonly JobResult[]): ReadonlyMap<string, Count> {
  const counts = new Map<string, Count>();
  const add = ({ factors, endedAtMs }: JobResult, isFailed: boolean): void => {
    const own = new Map(factors.map((factor) => [toKey(factor), factor]));
    for (const [key, factor] of own) {
      const { covered, spared, sinceMs } = counts.get(key) ?? { covered: 0, spared: 0, sinceMs: endedAtMs };
      counts.set(key, {
        ...factor,
        covered: covered + Number(isFailed),
        spared: spared + Number(!isFailed),
        sinceMs: isFailed ? Math.min(sinceMs, endedAtMs) : sinceMs,
      });
    }
  };
  for (const result of failed) add(result, true);
  for (const result of succeeded) add(result, false);
  // A job may have succeeded with unknown factors. They count as successful, so that they never look like a cause.
  const unread = succeeded.filter(({ isUnread }) => isUnread).length;
  for (const [key, count] of counts)
    if (count.kind === 'child' || count.kind === 'key') counts.set(key, { ...count, spared: count.spared + unread });
  for (const { lastNode } of succeeded)
    for (const [key, count] of lastNode === undefined ? [] : counts)
      if (count.kind === 'node' && count.subject > String(lastNode))
        counts.set(key, { ...count, spared: count.spared + 1 });
  return counts;
}

function toKey({ kind, subject }: Factor): string {
  return `${kind} ${subject}`;
}

function rank({ kind }: Factor): number {
  return factorKinds.indexOf(kind);
}

/** Returns the smallest probability that a factor can reach: if all jobs with it failed, or all failed jobs have it. */
function toLeast({ failed, succeeded, having }: Pick<Table, 'failed' | 'succeeded'> & { having: number }): number {
  const covered = Math.min(failed, having);
  return toProbability({ failed, succeeded, covered, spared: having - covered });
}

/** Counts the factors to test, by Tarone. Factors that cannot be significant do not count. */
function countTests(leastOfEach: readonly number[]): number {
  for (let tests = 1; tests < leastOfEach.length; tests += 1)
    if (leastOfEach.filter((least) => least < maxProbability / tests).length <= tests) return tests;
  return leastOfEach.length;
}

type Table = Pick<CommonCause, 'failed' | 'covered' | 'succeeded' | 'spared'>;

/** Returns the probability that chance alone puts so many jobs with the factor among failed jobs (Fisher's exact test). */
export function toProbability({ failed, covered, succeeded, spared }: Table): number {
  const all = failed + succeeded;
  const having = covered + spared;
  const logs = toLogFactorials(all);
  const choose = (from: number, count: number): number =>
    (logs[from] ?? 0) - (logs[count] ?? 0) - (logs[from - count] ?? 0);
  const most = Math.min(failed, having);
  let probability = 0;
  for (let count = covered; count <= most; count += 1) {
    if (having - count > succeeded) continue;
    probability += Math.exp(choose(failed, count) + choose(succeeded, having - count) - choose(all, having));
  }
  return Math.min(1, probability);
}

function toLogFactorials(most: number): Float64Array {
  const logs = new Float64Array(most + 1);
  for (let value = 2; value <= most; value += 1) logs[value] = (logs[value - 1] ?? 0) + Math.log(value);
  return logs;
}
