import { noPause } from '../../../src/domain/pause.ts';
import { type JobStart, planHoursAhead } from '../../../src/expected-runs/deciding/hours-ahead.ts';
import { type Sources, sourceKeys } from '../../../src/expected-runs/deciding/sources.ts';
import type { SeenRun, WatchedJob } from '../../../src/expected-runs/deciding/watched-job.ts';
import { findRisks, type RisksAhead } from '../../../src/expected-runs/risks/find-risks.ts';
import type { RiskReason } from '../../../src/expected-runs/risks/risk.ts';
import { createDraw } from '../../domain/durations/drift-shapes.ts';
import { createKnown, type Now, readAround } from './known-night.ts';
import {
  harms,
  isMissing,
  nightMs,
  type Planted,
  planJobs,
  plant,
  timesOf,
  toHarm,
  type VirtualJob,
} from './planned-night.ts';
import { hourMs, minuteMs, nowMs as startMs } from './some-risks.ts';

/** `unseen` counts listed runs of problems whose end is not visible. */
export type Score = Record<'listed' | 'right' | 'unseen' | 'wrong' | 'stale' | 'harmed' | 'found', number>;
const noScore: Score = { listed: 0, right: 0, unseen: 0, wrong: 0, stale: 0, harmed: 0, found: 0 };

type Night = Score & { readonly lists: readonly string[]; readonly byReason: ReadonlyMap<RiskReason, Score> };

const dayMs = 24 * hourMs;
const horizonMs = 12 * hourMs;
const threads = 14;

/**
 * Plays a quiet day and a night with trouble, and checks the list every half hour. Clocks change in every other night. With
 * `kills`, the exporter restarts before every third check.
 */
export async function playNight(seed: number, { kills = false } = {}): Promise<Night> {
  const draw = createDraw(seed);
  const jobs = planJobs(draw, seed % 2 === 0 ? (seed % 4) * hourMs - hourMs : 0);
  const planted = plant(draw, jobs);
  const known = createKnown(jobs, draw);
  const night = { ...noScore, lists: [] as string[], byReason: new Map<RiskReason, Score>() };
  for (let atMs = startMs; atMs < nightMs + horizonMs; atMs += 30 * minuteMs) {
    known.play(atMs, planted);
    if (atMs < nightMs) continue;
    if (kills && (atMs / minuteMs / 30) % 3 === 0) known.startAnew();
    const found = await look(known, jobs, { atMs, planted });
    night.lists.push(JSON.stringify(found.runs));
    judge(found, { known, jobs, planted, atMs, night });
  }
  return night;
}

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
        job: { project: job.project, group: '', name: job.name },
        limit: { id: job.name, most: 1 },
      })),
    );
  const underWay = known
    .running()
    .map(({ endMs, job }) => ({ endMs, job: { project: job.project, group: '', name: job.name }, jobId: job.name }));
  const { crowds } = await planHoursAhead({ startsWithin, underWay, fromMs: atMs, threads });
  const watched = jobs.map((job): WatchedJob => {
    const nodes = known.usual().get(job.name);
    const timesMs = timesOf(job, atMs, atMs + dayMs);
    const timetable = { source: 'forecast', askedAtMs: atMs, untilMs: atMs + dayMs, timesMs, confirmedMs: 0 } as const;
    const own = { id: job.name, project: job.project, group: '', name: job.name, ownerUuid: job.owner };
    const state = { sinceMs: 0, decidedMs: 0, listedAtMs: atMs, off: [], runs: [], verdicts: [] };
    return { ...own, ...state, timetable, ...(nodes && { nodes }) };
  });
  return findRisks(
    {
      jobs: watched,
      nowMs: atMs,
      untilMs: atMs + horizonMs,
      sources: toSources(now),
      factsOf: (_project, _group, name) => known.facts().get(name),
      durationMs: (_project, _group, name) => durations.get(name),
      nodes: known.failing(),
      surroundings: readAround(known, jobs, now),
      running,
      crowds,
      areThreadsKnown: true,
      isCritical: () => false,
    },
    noPause,
  );
}

function toSources({ atMs, planted }: Now): Sources {
  const find = (kind: Planted['kind']) =>
    planted.find((one) => one.kind === kind && one.fromMs <= atMs && atMs < one.toMs);
  const span = (value: string, fromMs: number, throughMs = atMs) => [{ value, fromMs, throughMs }];
  const toSwitch = (value: string, off: Planted | undefined) =>
    off ? span(value, off.fromMs) : span('active', startMs);
  return new Map([
    [sourceKeys.contact, span('answered', startMs)],
    [sourceKeys.mode(), toSwitch('passive', find('passive'))],
    [sourceKeys.member('m1'), span('answered', startMs)],
    [sourceKeys.member('m2'), span('answered', startMs, find('owner')?.fromMs)],
    [sourceKeys.project('ops'), toSwitch('executions_disabled', find('executions'))],
    [sourceKeys.project('lab'), toSwitch('schedule_disabled', find('schedules'))],
  ]);
}

/** Plays the runs of the next hours; returns the runs that overlap the previous run, and the runs without a thread. */
function playComing(jobs: readonly VirtualJob[], running: ReturnType<Judged['known']['running']>, atMs: number) {
  const runs = running.map(({ endMs }) => ({ fromMs: atMs, toMs: Math.max(endMs, atMs + 1) }));
  const skipped = new Map<string, readonly number[]>();
  for (const job of jobs) {
    let freeMs = Math.max(0, ...running.flatMap((run) => (run.job === job ? run.endMs : [])));
    const late: number[] = [];
    for (const time of timesOf(job, atMs, atMs + horizonMs)) {
      if (time < freeMs) {
        late.push(time);
        continue;
      }
      freeMs = time + job.durationMs;
      runs.push({ fromMs: time, toMs: freeMs });
    }
    skipped.set(job.name, late);
  }
  const isCrowded = (time: number) => runs.filter(({ fromMs, toMs }) => fromMs <= time && time < toMs).length > threads;
  const all = new Map(jobs.map((job) => [job.name, timesOf(job, atMs, atMs + horizonMs)]));
  const full = new Set([...new Set([...all.values()].flat())].filter(isCrowded));
  const crowded = new Map([...all].map(([name, times]) => [name, times.filter((time) => full.has(time))]));
  return { overlap: skipped, saturated: crowded };
}

type Judged = Now & {
  readonly known: ReturnType<typeof createKnown>;
  readonly jobs: readonly VirtualJob[];
  readonly night: Score & { readonly byReason: Map<RiskReason, Score> };
};

/** The kinds of trouble that cause each reason; the other two reasons need no trouble. */
const kindsOf: Record<Exclude<RiskReason, 'overlap' | 'saturated'>, readonly Planted['kind'][]> = {
  passive: ['passive'],
  executions_disabled: ['executions'],
  schedule_disabled: ['schedules'],
  owner_gone: ['owner'],
  node_gone: ['gone'],
  node_failing: ['node'],
  access: ['key'],
  job_failing: ['node', 'gone', 'job', 'child', 'key', 'project'],
  child_failing: ['child'],
  common_cause: ['node', 'gone', 'job', 'child', 'key', 'project'],
};

/** Compares the list with what would happen if no trouble ended. */
function judge(found: RisksAhead, { known, jobs, planted, atMs, night }: Judged): void {
  const holds = (one: Planted): boolean => one.fromMs <= atMs && atMs < one.toMs;
  const byName = new Map(jobs.map((job) => [job.name, job]));
  const coming = playComing(jobs, known.running(), atMs);

  /** The time at which the end of a problem became visible: for a node or a job, at its next success. */
  function toSeenMs(one: Planted, reason: RiskReason, job: VirtualJob): number {
    const success = (key: string) => known.succeededMs(key, one.toMs) ?? Number.POSITIVE_INFINITY;
    if (reason === 'node_failing') return success(`node ${one.name}`);
    if (reason === 'job_failing') return success(`job ${job.name}`);
    if (reason === 'child_failing') return success(`job ${one.name}`);
    return reason === 'common_cause' ? one.toMs + 15 * minuteMs : one.toMs;
  }

  function judgeReason(
    reason: RiskReason,
    job: VirtualJob,
    { firstMs, lastMs, count }: RisksAhead['runs'][number],
  ): 'right' | 'unseen' | 'stale' | 'wrong' {
    if (reason === 'overlap' || reason === 'saturated') {
      const own = coming[reason].get(job.name)?.filter((time) => time >= firstMs && time <= lastMs) ?? [];
      return own[0] === firstMs && own.at(-1) === lastMs && count <= own.length ? 'right' : 'wrong';
    }
    const kinds = kindsOf[reason];
    const own = planted.filter((one) => kinds.includes(one.kind) && harms(one, job) && one.fromMs <= atMs);
    if (own.some(holds)) return 'right';
    if (own.length === 0) return 'wrong';
    if (own.some((one) => toSeenMs(one, reason, job) > atMs - rounds)) return 'unseen';
    // The listed problem is not the one that ended.
    const { sinceMs } = found.troubles.find((trouble) => trouble.reason === reason) ?? {};
    const isOther = own.every(({ toMs }) => (sinceMs ?? 0) > toMs);
    const isShared = reason === 'common_cause' && planted.some((one) => holds(one) && !isMissing(one));
    return isOther || isShared ? 'wrong' : 'stale';
  }

  for (const run of found.runs) {
    const job = byName.get(run.job.name);
    if (job === undefined) continue;
    const judged = run.reasons.map((reason) => [reason, judgeReason(reason, job, run)] as const);
    const isRight = judged.some(([, is]) => is === 'right') || toHarm(job, holds, planted) !== undefined;
    for (const [reason, is] of judged) {
      const score = night.byReason.get(reason) ?? { ...noScore };
      score.listed += run.count;
      score[is] += run.count;
      night.byReason.set(reason, score);
    }
    night.listed += run.count;
    night[isRight ? 'right' : (judged[0]?.[1] ?? 'wrong')] += run.count;
  }
  const listed = new Set(found.runs.map(({ job }) => job.name));
  for (const job of jobs) {
    // A problem can be listed only after it was visible.
    const isKnown = (one: Planted): boolean => {
      if (!holds(one) || one.fromMs > atMs - 5 * minuteMs) return false;
      const rowOf = (name: string) => known.facts().get(name)?.consecutiveFailures ?? 0;
      if (one.kind === 'node') return (known.failing().get(one.name)?.jobs.length ?? 0) >= 2;
      if (one.kind === 'job' || one.kind === 'child') return rowOf(one.name) >= 3;
      if (one.kind === 'key') return (known.facts().get(job.name)?.lastFailedMs ?? 0) > one.fromMs;
      if (one.kind === 'project')
        return jobs.filter(({ project, name }) => project === one.name && rowOf(name) > 0).length > 6;
      return true;
    };
    const isNext = (time: number): boolean => time > atMs + hourMs && time <= atMs + 1.5 * hourMs;
    for (const reason of ['overlap', 'saturated'] as const) {
      const own = found.runs.filter((run) => run.job.name === job.name && run.reasons.includes(reason));
      const next = coming[reason].get(job.name)?.filter(isNext) ?? [];
      night.harmed += next.length;
      night.found += next.filter((time) => own.some((run) => run.firstMs <= time && time <= run.lastMs)).length;
    }
    const times = timesOf(job, atMs + hourMs, atMs + hourMs + 30 * minuteMs).length;
    if (toHarm(job, isKnown, planted) === undefined) continue;
    night.harmed += times;
    if (listed.has(job.name)) night.found += times;
  }
}

/** The number of rounds for which the list may contain a problem after its end. */
const rounds = 2 * minuteMs;

/** Adds up the scores of nights: in total, and for each reason. */
export function addNights(nights: readonly Night[]): Night {
  const sum = { ...noScore, lists: [] as string[], byReason: new Map<RiskReason, Score>() };
  const add = (to: Score, one: Score): void => {
    for (const key of Object.keys(noScore) as (keyof Score)[]) to[key] += one[key];
  };
  for (const night of nights) {
    add(sum, night);
    for (const [reason, score] of night.byReason) {
      const of = sum.byReason.get(reason) ?? { ...noScore };
      add(of, score);
      sum.byReason.set(reason, of);
    }
  }
  return sum;
}
