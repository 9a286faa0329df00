import { createCommonCauses } from '../../../src/diagnosis/changes/common-causes.ts';
import type { Area, Fields } from '../../../src/diagnosis/changes/deciding/areas.ts';
import type { Change } from '../../../src/diagnosis/changes/deciding/change.ts';
import { emptyJournal } from '../../../src/diagnosis/changes/deciding/journal.ts';
import { areas as names } from '../../../src/diagnosis/changes/deciding/kinds.ts';
import type { CountedRun } from '../../../src/diagnosis/changes/deciding/runs.ts';
import { createSurroundings } from '../../../src/diagnosis/changes/surroundings.ts';
import { noPause } from '../../../src/domain/pause.ts';
import { toFacts } from '../../../src/executions/counting/job-facts.ts';
import type { JobFacts } from '../../../src/executions/counting/totals.ts';
import { type JobStart, planHoursAhead } from '../../../src/expected-runs/deciding/hours-ahead.ts';
import { type Sources, sourceKeys } from '../../../src/expected-runs/deciding/sources.ts';
import type { SeenRun, WatchedJob } from '../../../src/expected-runs/deciding/watched-job.ts';
import { findRisks, type RisksAhead } from '../../../src/expected-runs/risks/find-risks.ts';
import { createNodeNotes, type FailingNode, noteUsual } from '../../../src/expected-runs/risks/nodes.ts';
import type { RiskReason } from '../../../src/expected-runs/risks/risk.ts';
import { createDraw } from '../../executions/drift-shapes.ts';
import { hourMs, minuteMs, nowMs as startMs } from './some-risks.ts';

/** Trouble that is planted; without an end, nobody mends it. */
type Planted = {
  readonly kind: 'node' | 'gone' | 'job' | 'child' | 'key' | 'project' | 'passive' | 'owner';
  readonly name: string;
  readonly fromMs: number;
  readonly toMs: number;
};

type VirtualJob = {
  readonly name: string;
  readonly project: string;
  readonly everyMs: number;
  readonly offsetMs: number;
  readonly durationMs: number;
  /** How much later it starts from the change of clocks on. */
  readonly shiftMs: number;
  readonly nodes: readonly string[];
  readonly owner: string;
  readonly keys: readonly string[];
  readonly children: readonly string[];
};

/** `unseen` are runs listed for trouble that is over, which nothing has shown yet. */
export type Score = Record<'listed' | 'right' | 'unseen' | 'wrong' | 'stale' | 'harmed' | 'found', number>;
const noScore: Score = { listed: 0, right: 0, unseen: 0, wrong: 0, stale: 0, harmed: 0, found: 0 };

export type Night = Score & { readonly lists: readonly string[]; readonly byReason: ReadonlyMap<RiskReason, Score> };

const dayMs = 24 * hourMs;
const nightMs = startMs + dayMs;
const horizonMs = 12 * hourMs;
const threads = 14;

/**
 * Plays a day without trouble and a night with some, and compares what is listed each half hour with what comes. Clocks
 * change in every other night. With `kills`, the exporter starts anew before every third look, with what it has stored.
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

function planJobs(draw: () => number, shiftMs: number): readonly VirtualJob[] {
  const pick = <Item>(items: readonly Item[]): Item => items[Math.floor(draw() * items.length)] as Item;
  const toJob = (name: string, everyMinutes: number, fields: Partial<VirtualJob> = {}): VirtualJob => {
    const everyMs = everyMinutes * minuteMs;
    const offsetMs = Math.floor(draw() * everyMinutes) * minuteMs;
    const durationMs = (0.02 + 0.1 * draw()) * everyMs;
    const isByClock = everyMinutes >= 120;
    const none = { project: 'pay', nodes: ['apart'], owner: 'm1', keys: [], children: [] };
    return { name, everyMs, offsetMs, durationMs, shiftMs: isByClock ? shiftMs : 0, ...none, ...fields };
  };
  const many = (count: number, make: (index: number) => VirtualJob) =>
    Array.from({ length: count }, (_none, index) => make(index));
  const someNodes = () => [...new Set([1, 2].map(() => `n${Math.floor(draw() * 10)}`))];
  return [
    ...many(40, (index) =>
      toJob(`j${index}`, pick([15, 30, 60, 120]), { nodes: someNodes(), owner: pick(['m1', 'm2']) }),
    ),
    toJob('slow', 20, { offsetMs: 0, durationMs: 26 * minuteMs }),
    // Together they need more threads than there are.
    ...many(16, (index) => toJob(`c${index}`, 1440, { offsetMs: 3 * hourMs, durationMs: 5 * minuteMs, shiftMs: 0 })),
    ...many(4, (index) => toJob(`gone${index}`, pick([30, 60]), { nodes: ['g'] })),
    ...many(2, (index) => toJob(`both${index}`, 60, { nodes: ['g', 'apart'] })),
    ...many(4, (index) => toJob(`refused${index}`, pick([30, 60]), { keys: ['keys/db'] })),
    toJob('child', 15),
    ...many(4, (index) => toJob(`parent${index}`, pick([60, 120]), { children: ['child'] })),
    ...many(12, (index) => toJob(`shop${index}`, pick([5, 10, 60]), { project: 'shop', nodes: someNodes() })),
  ];
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
    { kind: 'gone', name: 'g', ...span() },
    { kind: 'key', name: 'keys/db', ...span() },
    { kind: 'child', name: 'child', ...span() },
    { kind: 'project', name: 'shop', ...span() },
  ];
}

/** Reports whether trouble harms a job. */
function harms({ kind, name }: Planted, job: VirtualJob): boolean {
  if (kind === 'passive') return true;
  if (kind === 'owner') return job.owner === name;
  if (kind === 'node') return job.nodes.includes(name);
  if (kind === 'gone') return job.nodes.every((node) => node === name);
  if (kind === 'key') return job.keys.includes(name);
  if (kind === 'project') return job.project === name;
  return job.name === name || job.children.includes(name);
}

const isMissing = ({ kind }: Planted): boolean => kind === 'passive' || kind === 'owner';

/** What happens to a run by trouble that holds at a time. */
function toHarm(job: VirtualJob, holds: (one: Planted) => boolean, planted: readonly Planted[]) {
  const now = planted.filter((one) => holds(one) && harms(one, job));
  if (now.some(isMissing)) return 'missed';
  return now.length > 0 ? 'failed' : undefined;
}

/** The state of the exporter, from the runs that ended. */
function createKnown(jobs: readonly VirtualJob[], draw: () => number) {
  let facts = new Map<string, JobFacts>();
  let usual = new Map<string, ReturnType<typeof noteUsual>>();
  let failing = new Map<string, FailingNode>();
  let note = createNodeNotes();
  let playedMs = startMs - 1;
  const byName = new Map(jobs.map((job) => [job.name, job]));
  const results = new Map<string, CountedRun>();
  /** The ends of successes in the night, of each job and node. */
  const successes = new Map<string, number[]>();
  const startCauses = () =>
    createCommonCauses({
      serverNowMs: () => playedMs,
      namedBy: (id) => {
        const { keys = [], children = [] } = byName.get(id) ?? {};
        return { keys, children: children.map((child) => `pay/${child}`) };
      },
      memberName: (uuid) => uuid,
    });
  let causes = startCauses();
  let under: {
    readonly job: VirtualJob;
    readonly id: number;
    readonly atMs: number;
    readonly endMs: number;
    readonly failed: readonly string[];
    readonly nodes: readonly string[];
    readonly isFailed: boolean;
    readonly isRefused: boolean;
  }[] = [];
  let id = 0;

  function start(job: VirtualJob, atMs: number, planted: readonly Planted[]): void {
    const holds = (one: Planted): boolean => one.fromMs <= atMs && atMs < one.toMs;
    const harm = toHarm(job, holds, planted);
    const isGoing = under.some((run) => run.job === job && run.endMs > atMs);
    if (harm === 'missed' || isGoing) return;
    const down = planted.flatMap((one) => (one.kind === 'node' && holds(one) ? [one.name] : []));
    const failed = job.nodes.filter((node) => down.includes(node));
    const listed = job.nodes.filter(
      (node) => !planted.some((one) => one.kind === 'gone' && one.name === node && holds(one)),
    );
    const isRefused = planted.some((one) => one.kind === 'key' && holds(one) && harms(one, job));
    const isFailed = harm === 'failed' || draw() < 0.01;
    under.push({
      job,
      id: (id += 1),
      atMs,
      endMs: Math.round(atMs + job.durationMs),
      failed,
      isFailed,
      isRefused,
      nodes: listed,
    });
  }

  function end({ job, id: runId, atMs, endMs, failed, isFailed, isRefused, nodes }: (typeof under)[number]): void {
    const { name, project, owner } = job;
    const failedNodes = failed.length > 0 || !isFailed ? failed : nodes.slice(0, 1);
    const run = {
      id: runId,
      status: isFailed ? 'failed' : 'succeeded',
      customStatus: undefined,
      project,
      startedAtMs: atMs,
      endedAtMs: endMs,
      job: { id: name, name, group: '', averageDurationMs: job.durationMs },
      isJobDeleted: false,
      type: 'scheduled',
      succeededNodes: nodes.length - failedNodes.length,
      succeededOn: nodes.filter((node) => !failedNodes.includes(node)),
      failedNodes,
    } as const;
    const noted = toFacts({ project, group: '', name }, run, facts.get(name), endMs);
    const failureClass = isRefused ? 'access' : 'work';
    facts.set(name, isFailed ? { ...noted, lastFailure: { id: runId, failureClass } } : noted);
    const ran = { id: runId, startedAtMs: atMs, trigger: 'scheduled', memberUuid: owner, nodes };
    const counted = {
      project,
      job: `${project}/${name}`,
      jobId: name,
      endedAtMs: endMs,
      isFailed,
      failedNodes,
      facts: ran,
    };
    results.set(name, counted);
    causes.note(counted);
    const succeeded = [...(isFailed ? [] : [`job ${name}`]), ...run.succeededOn.map((node) => `node ${node}`)];
    for (const key of succeeded) successes.set(key, [...(successes.get(key) ?? []), endMs].slice(-500));
    usual.set(name, noteUsual(usual.get(name), run));
    for (const [node, now] of note(failing, [run])) {
      if (now === undefined) failing.delete(node);
      else failing.set(node, now);
    }
  }

  const endUntil = (atMs: number): void => {
    const over = under.filter(({ endMs }) => endMs <= atMs).sort((one, other) => one.endMs - other.endMs);
    under = under.filter(({ endMs }) => endMs > atMs);
    playedMs = atMs;
    for (const run of over) end(run);
  };

  return {
    facts: () => facts,
    usual: () => usual,
    failing: () => failing,
    running: () => under,
    cause: () => causes.current(),
    /** When a job or a node first succeeded after a time. */
    succeededMs: (key: string, afterMs: number) => successes.get(key)?.find((endMs) => endMs > afterMs),
    /** Another process has what is stored. */
    startAnew: (): void => {
      [facts, usual, failing] = [again(facts), again(usual), again(failing)];
      note = createNodeNotes();
      const cause = causes.current();
      causes = startCauses();
      causes.load({ runs: new Map([...again(results)].map(([name, last]) => [name, { last }])), cause });
    },
    play: (untilMs: number, planted: readonly Planted[]): void => {
      const starts = jobs.flatMap((job) => timesOf(job, playedMs, untilMs).map((atMs) => ({ job, atMs })));
      let looked = 0;
      for (const { job, atMs } of starts.sort((one, other) => one.atMs - other.atMs)) {
        endUntil(atMs);
        start(job, atMs, planted);
        const look = Math.floor(atMs / (3 * minuteMs));
        if (atMs > nightMs - 2 * hourMs && look !== looked) causes.update([]);
        looked = look;
      }
      endUntil(untilMs);
      causes.update([]);
    },
  };
}

function again<Value>(map: ReadonlyMap<string, Value>): Map<string, Value> {
  return new Map(JSON.parse(JSON.stringify([...map])) as [string, Value][]);
}

/** What was read of the server at a time: nodes, keys, jobs and their definitions. */
function readAround(known: ReturnType<typeof createKnown>, jobs: readonly VirtualJob[], { atMs, planted }: Now) {
  const holds = (one: Planted): boolean => one.fromMs <= atMs && atMs < one.toMs;
  const toArea = (things: readonly (readonly [string, Fields])[]): Area => {
    return { things: new Map(things), sinceMs: startMs, readMs: atMs };
  };
  const listed = new Set(jobs.flatMap(({ nodes }) => nodes));
  for (const one of planted) if (one.kind === 'gone' && holds(one)) listed.delete(one.name);
  const areas = new Map<string, Area>([
    [names.keysIn(''), toArea([['keys/db', {}]])],
    ...['pay', 'shop'].flatMap((project) => [
      [names.nodesOf(project), toArea([...listed].map((node) => [node, {}]))] as const,
      [
        names.jobsOf(project),
        toArea(jobs.flatMap((job) => (job.project === project ? [[job.name, { path: job.name }] as const] : []))),
      ] as const,
    ]),
    ...jobs.map(({ name, keys, children }) => {
      const fields = { '.keys': keys.join('\n'), '.children': children.join('\n') };
      return [names.definitionOf(name), toArea([['', fields]])] as const;
    }),
  ]);
  const changes = planted.flatMap(({ kind, name: subject, fromMs, toMs }) => {
    if (kind !== 'gone' && kind !== 'key') return [];
    const about = kind === 'key' ? ({ kind, project: '' } as const) : ({ kind: 'node', project: 'pay' } as const);
    return [fromMs, toMs]
      .filter((time) => time <= atMs)
      .map((time): Change => ({ ...about, subject, what: 'changed', afterMs: time - 1, beforeMs: time }));
  });
  const journal = { ...emptyJournal, sheets: new Map([[1, changes]]) };
  return createSurroundings({
    kept: { areas, journal: () => journal },
    cause: known.cause,
    memberName: (uuid) => uuid,
  })();
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
        job: { project: job.project, group: '', name: job.name },
      })),
    );
  const underWay = known
    .running()
    .map(({ endMs, job }) => ({ endMs, job: { project: job.project, group: '', name: job.name } }));
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

function timesOf({ everyMs, offsetMs, shiftMs }: VirtualJob, fromMs: number, toMs: number): readonly number[] {
  const times: number[] = [];
  const first = Math.floor((fromMs - startMs - offsetMs - hourMs) / everyMs);
  for (let atMs = startMs + offsetMs + first * everyMs; atMs <= toMs + hourMs; atMs += everyMs) {
    const shifted = atMs >= nightMs + 7 * hourMs ? atMs + shiftMs : atMs;
    if (shifted > fromMs && shifted <= toMs) times.push(shifted);
  }
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
  readonly night: Score & { readonly byReason: Map<RiskReason, Score> };
};

/** Which trouble each reason is about; the others are so by nature. */
const kindsOf: Partial<Record<RiskReason, readonly Planted['kind'][]>> = {
  passive: ['passive'],
  owner_gone: ['owner'],
  node_gone: ['gone'],
  node_failing: ['node'],
  access: ['key'],
  job_failing: ['node', 'gone', 'job', 'child', 'key', 'project'],
  child_failing: ['child'],
  common_cause: ['node', 'gone', 'job', 'child', 'key', 'project'],
};

/** Compares the list with what would come if nobody mended what is broken now. */
function judge(found: RisksAhead, { known, jobs, planted, atMs, night }: Judged): void {
  const holds = (one: Planted): boolean => one.fromMs <= atMs && atMs < one.toMs;
  const byName = new Map(jobs.map((job) => [job.name, job]));

  /** When it could be seen that trouble was over; a node or a job shows it by its next success only. */
  function toSeenMs(one: Planted, reason: RiskReason, job: VirtualJob): number {
    const success = (key: string) => known.succeededMs(key, one.toMs) ?? Number.POSITIVE_INFINITY;
    if (reason === 'node_failing') return success(`node ${one.name}`);
    if (reason === 'job_failing') return success(`job ${job.name}`);
    if (reason === 'child_failing') return success(`job ${one.name}`);
    return reason === 'common_cause' ? one.toMs + 15 * minuteMs : one.toMs;
  }

  function judgeReason(reason: RiskReason, job: VirtualJob): 'right' | 'unseen' | 'stale' | 'wrong' {
    const kinds = kindsOf[reason];
    if (kinds === undefined) return 'right';
    const own = planted.filter((one) => kinds.includes(one.kind) && harms(one, job) && one.fromMs <= atMs);
    if (own.some(holds)) return 'right';
    if (own.length === 0) return 'wrong';
    return own.some((one) => toSeenMs(one, reason, job) > atMs - rounds) ? 'unseen' : 'stale';
  }

  for (const run of found.runs) {
    const job = byName.get(run.job.name);
    if (job === undefined) continue;
    const judged = run.reasons.map((reason) => [reason, judgeReason(reason, job)] as const);
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
    // What breaks must have been seen.
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
    const times = timesOf(job, atMs + hourMs, atMs + hourMs + 30 * minuteMs).length;
    if (toHarm(job, isKnown, planted) === undefined) continue;
    night.harmed += times;
    if (listed.has(job.name)) night.found += times;
  }
}

/** The end of trouble may be counted two rounds later. */
const rounds = 2 * minuteMs;

/** Adds the scores of nights, in all and by reason. */
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
