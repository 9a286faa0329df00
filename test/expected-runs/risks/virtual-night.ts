import { noPause } from '../../../src/domain/pause.ts';
import { toFacts } from '../../../src/executions/counting/job-facts.ts';
import type { JobFacts } from '../../../src/executions/counting/totals.ts';
import { type JobStart, planHoursAhead } from '../../../src/expected-runs/deciding/hours-ahead.ts';
import { type Sources, sourceKeys } from '../../../src/expected-runs/deciding/sources.ts';
import type { SeenRun, WatchedJob } from '../../../src/expected-runs/deciding/watched-job.ts';
import { findRisks, type RisksAhead } from '../../../src/expected-runs/risks/find-risks.ts';
import { createNodeNotes, type FailingNode, noteUsual } from '../../../src/expected-runs/risks/nodes.ts';
import { createDraw } from '../../executions/drift-shapes.ts';
import { hourMs, minuteMs, nowMs as startMs } from './some-risks.ts';

/** Trouble that is planted; without an end, nobody mends it. */
type Planted = {
  readonly kind: 'node' | 'job' | 'passive' | 'owner';
  readonly name: string;
  readonly fromMs: number;
  readonly toMs: number;
};

type VirtualJob = {
  readonly name: string;
  readonly everyMs: number;
  readonly offsetMs: number;
  readonly durationMs: number;
  readonly nodes: readonly string[];
  readonly owner: string;
};

type Score = { listed: number; right: number; harmed: number; found: number; stale: number };

const dayMs = 24 * hourMs;
const nightMs = startMs + dayMs;
const horizonMs = 12 * hourMs;
const threads = 14;

/** Plays a day without trouble and a night with some, and compares what is listed each half hour with what comes. */
export async function playNight(seed: number): Promise<Score> {
  const draw = createDraw(seed);
  const jobs = planJobs(draw);
  const planted = plant(draw, jobs);
  const known = createKnown(jobs, draw);
  const score: Score = { listed: 0, right: 0, harmed: 0, found: 0, stale: 0 };
  for (let atMs = startMs; atMs < nightMs + horizonMs; atMs += 30 * minuteMs) {
    known.play(atMs, planted);
    if (atMs < nightMs) continue;
    const found = await look(known, jobs, { atMs, planted });
    judge(found, { known, jobs, planted, atMs, score });
  }
  return score;
}

function planJobs(draw: () => number): readonly VirtualJob[] {
  const pick = <Item>(items: readonly Item[]): Item => items[Math.floor(draw() * items.length)] as Item;
  const usual = Array.from({ length: 40 }, (_, index): VirtualJob => {
    const everyMs = pick([15, 30, 60, 120]) * minuteMs;
    const nodes = [...new Set([1, 2].map(() => `n${Math.floor(draw() * 10)}`))];
    const offsetMs = Math.floor(draw() * (everyMs / minuteMs)) * minuteMs;
    return {
      name: `j${index}`,
      everyMs,
      offsetMs,
      durationMs: (0.02 + 0.1 * draw()) * everyMs,
      nodes,
      owner: pick(['m1', 'm2']),
    };
  });
  const nodes = ['apart'];
  const slow: VirtualJob = {
    name: 'slow',
    everyMs: 20 * minuteMs,
    offsetMs: 0,
    durationMs: 26 * minuteMs,
    nodes,
    owner: 'm1',
  };
  // Together they need more threads than there are.
  const crowd = Array.from({ length: 16 }, (_, index): VirtualJob => {
    return { name: `c${index}`, everyMs: dayMs, offsetMs: 3 * hourMs, durationMs: 5 * minuteMs, nodes, owner: 'm1' };
  });
  return [...usual, slow, ...crowd];
}

function plant(draw: () => number, jobs: readonly VirtualJob[]): readonly Planted[] {
  const span = () => {
    const fromMs = nightMs + Math.floor(draw() * 8) * hourMs - hourMs + 7 * minuteMs;
    return { fromMs, toMs: fromMs + (1 + Math.floor(draw() * 4)) * hourMs };
  };
  return [
    { kind: 'node', name: `n${Math.floor(draw() * 10)}`, ...span() },
    { kind: 'job', name: jobs[Math.floor(draw() * 40)]?.name ?? '', ...span() },
    { kind: 'passive', name: '', ...span() },
    { kind: 'owner', name: 'm2', ...span() },
  ];
}

/** What happens to a run by trouble that holds at a time. */
function toHarm(
  { name, nodes, owner }: VirtualJob,
  holds: (one: Planted) => boolean,
  planted: readonly Planted[],
): 'missed' | 'failed' | undefined {
  const now = planted.filter(holds);
  if (now.some((one) => one.kind === 'passive' || (one.kind === 'owner' && one.name === owner))) return 'missed';
  const fails = (one: Planted): boolean =>
    (one.kind === 'node' && nodes.includes(one.name)) || (one.kind === 'job' && one.name === name);
  return now.some(fails) ? 'failed' : undefined;
}

/** The state of the exporter, from the runs that ended. */
function createKnown(jobs: readonly VirtualJob[], draw: () => number) {
  const facts = new Map<string, JobFacts>();
  const usual = new Map<string, ReturnType<typeof noteUsual>>();
  const failing = new Map<string, FailingNode>();
  const note = createNodeNotes();
  const next = new Map(jobs.map((job) => [job.name, startMs + job.offsetMs]));
  let under: {
    readonly job: VirtualJob;
    readonly id: number;
    readonly atMs: number;
    readonly endMs: number;
    readonly failed: readonly string[];
    readonly isFailed: boolean;
  }[] = [];
  let id = 0;

  function start(job: VirtualJob, atMs: number, planted: readonly Planted[]): void {
    const holds = (one: Planted): boolean => one.fromMs <= atMs && atMs < one.toMs;
    const harm = toHarm(job, holds, planted);
    const isGoing = under.some((run) => run.job === job && run.endMs > atMs);
    if (harm === 'missed' || isGoing) return;
    const down = planted.flatMap((one) => (one.kind === 'node' && holds(one) ? [one.name] : []));
    const failed = job.nodes.filter((node) => down.includes(node));
    const isFailed = harm === 'failed' || draw() < 0.01;
    under.push({ job, id: (id += 1), atMs, endMs: Math.round(atMs + job.durationMs), failed, isFailed });
  }

  function end({ job, id: runId, atMs, endMs, failed, isFailed }: (typeof under)[number]): void {
    const { name, nodes } = job;
    const failedNodes = failed.length > 0 || !isFailed ? failed : nodes.slice(0, 1);
    const run = {
      id: runId,
      status: isFailed ? 'failed' : 'succeeded',
      customStatus: undefined,
      project: 'pay',
      startedAtMs: atMs,
      endedAtMs: endMs,
      job: { id: name, name, group: '', averageDurationMs: job.durationMs },
      isJobDeleted: false,
      type: 'scheduled',
      succeededNodes: nodes.length - failedNodes.length,
      succeededOn: nodes.filter((node) => !failedNodes.includes(node)),
      failedNodes,
    } as const;
    facts.set(name, toFacts({ project: 'pay', group: '', name }, run, facts.get(name), endMs));
    usual.set(name, noteUsual(usual.get(name), run));
    for (const [node, now] of note(failing, [run])) {
      if (now === undefined) failing.delete(node);
      else failing.set(node, now);
    }
  }

  return {
    facts,
    usual,
    failing,
    running: () => under,
    play: (untilMs: number, planted: readonly Planted[]): void => {
      const starts = jobs.flatMap((job) => {
        const times: { job: VirtualJob; atMs: number }[] = [];
        for (let atMs = next.get(job.name) ?? 0; atMs <= untilMs; atMs += job.everyMs) {
          times.push({ job, atMs });
          next.set(job.name, atMs + job.everyMs);
        }
        return times;
      });
      for (const { job, atMs } of starts.sort((one, other) => one.atMs - other.atMs)) {
        for (const run of under.filter(({ endMs }) => endMs <= atMs).sort((one, other) => one.endMs - other.endMs))
          end(run);
        under = under.filter(({ endMs }) => endMs > atMs);
        start(job, atMs, planted);
      }
      for (const run of under.filter(({ endMs }) => endMs <= untilMs).sort((one, other) => one.endMs - other.endMs))
        end(run);
      under = under.filter(({ endMs }) => endMs > untilMs);
    },
  };
}

type Now = { readonly atMs: number; readonly planted: readonly Planted[] };

async function look(known: ReturnType<typeof createKnown>, jobs: readonly VirtualJob[], now: Now): Promise<RisksAhead> {
  const { atMs } = now;
  const durations = new Map(jobs.map(({ name, durationMs }) => [name, durationMs]));
  const running = new Map(
    known
      .running()
      .map(({ job, id, atMs: startedAtMs }): [string, SeenRun[]] => [
        job.name,
        [{ id, startedAtMs, kind: 'scheduled' }],
      ]),
  );
  const startsWithin = (fromMs: number, toMs: number): readonly JobStart[] =>
    jobs.flatMap((job) =>
      timesOf(job, fromMs, toMs).map((time) => ({
        atMs: time,
        durationMs: job.durationMs,
        job: { project: 'pay', group: '', name: job.name },
      })),
    );
  const underWay = known
    .running()
    .map(({ endMs, job }) => ({ endMs, job: { project: 'pay', group: '', name: job.name } }));
  const { crowds } = await planHoursAhead({ startsWithin, underWay, fromMs: atMs, threads });
  const watched = jobs.map((job): WatchedJob => {
    const nodes = known.usual.get(job.name);
    const timesMs = timesOf(job, atMs, atMs + dayMs);
    const timetable = { source: 'forecast', askedAtMs: atMs, untilMs: atMs + dayMs, timesMs, confirmedMs: 0 } as const;
    const names = { id: job.name, project: 'pay', group: '', name: job.name, ownerUuid: job.owner };
    const state = { sinceMs: 0, decidedMs: 0, listedAtMs: atMs, off: [], runs: [], verdicts: [] };
    return { ...names, ...state, timetable, ...(nodes && { nodes }) };
  });
  return findRisks(
    {
      jobs: watched,
      nowMs: atMs,
      untilMs: atMs + horizonMs,
      sources: toSources(now),
      factsOf: (_project, _group, name) => known.facts.get(name),
      durationMs: (_project, _group, name) => durations.get(name),
      nodes: known.failing,
      surroundings: undefined,
      running,
      crowds,
      areThreadsKnown: true,
      isCritical: () => false,
    },
    noPause,
  );
}

function timesOf({ everyMs, offsetMs }: VirtualJob, fromMs: number, toMs: number): readonly number[] {
  const times: number[] = [];
  const first = Math.floor((fromMs - startMs - offsetMs) / everyMs) + 1;
  for (let atMs = startMs + offsetMs + first * everyMs; atMs <= toMs; atMs += everyMs) times.push(atMs);
  return times;
}

function toSources({ atMs, planted }: Now): Sources {
  const [passive, owner] = (['passive', 'owner'] as const).map((kind) => planted.find((one) => one.kind === kind));
  const isPassive = passive !== undefined && passive.fromMs <= atMs && atMs < passive.toMs;
  const isGone = owner !== undefined && owner.fromMs <= atMs && atMs < owner.toMs;
  const span = (value: string, fromMs: number, throughMs: number) => [{ value, fromMs, throughMs }];
  return new Map([
    [sourceKeys.contact, span('answered', startMs, atMs)],
    [sourceKeys.mode(), isPassive ? span('passive', passive.fromMs, atMs) : span('active', startMs, atMs)],
    [sourceKeys.member('m1'), span('answered', startMs, atMs)],
    [sourceKeys.member('m2'), span('answered', startMs, isGone ? owner.fromMs : atMs)],
  ]);
}

type Judged = Now & {
  readonly known: ReturnType<typeof createKnown>;
  readonly jobs: readonly VirtualJob[];
  readonly score: Score;
};

/** Compares the list with what would come if nobody mended what is broken now. */
function judge(found: RisksAhead, { known, jobs, planted, atMs, score }: Judged): void {
  const holds = (one: Planted): boolean => one.fromMs <= atMs && atMs < one.toMs;
  const byName = new Map(jobs.map((job) => [job.name, job]));
  for (const run of found.runs) {
    const job = byName.get(run.job.name);
    if (job === undefined) continue;
    const isByNature = job.name === 'slow' || run.reasons.includes('saturated');
    score.listed += run.count;
    if (isByNature || toHarm(job, holds, planted) !== undefined) score.right += run.count;
    // A node or a job shows that it works again by its next success only.
    else if (!run.reasons.some((reason) => reason === 'node_failing' || reason === 'job_failing'))
      score.stale += run.count;
  }
  const listed = new Set(found.runs.map(({ job }) => job.name));
  for (const job of jobs) {
    // What breaks must have been seen: two jobs failed on the node, or the job failed three times.
    const isKnown = (one: Planted): boolean => {
      if (!holds(one) || one.fromMs > atMs - 5 * minuteMs) return false;
      if (one.kind === 'node') return (known.failing.get(one.name)?.jobs.length ?? 0) >= 2;
      return one.kind !== 'job' || (known.facts.get(one.name)?.consecutiveFailures ?? 0) >= 3;
    };
    const times = timesOf(job, atMs + hourMs, atMs + hourMs + 30 * minuteMs).length;
    if (toHarm(job, isKnown, planted) === undefined) continue;
    score.harmed += times;
    if (listed.has(job.name)) score.found += times;
  }
}

export function addScores(scores: readonly Score[]): Score {
  const sum: Score = { listed: 0, right: 0, harmed: 0, found: 0, stale: 0 };
  for (const one of scores) for (const key of Object.keys(sum) as (keyof Score)[]) sum[key] += one[key];
  return sum;
}
