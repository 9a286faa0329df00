import { createCommonCauses } from '../../../src/diagnosis/changes/common-causes.ts';
import type { Area, Fields } from '../../../src/diagnosis/changes/deciding/areas.ts';
import type { Change } from '../../../src/diagnosis/changes/deciding/change.ts';
import { emptyJournal } from '../../../src/diagnosis/changes/deciding/journal.ts';
import { areas as names } from '../../../src/diagnosis/changes/deciding/kinds.ts';
import type { CountedRun } from '../../../src/diagnosis/changes/deciding/runs.ts';
import { createSurroundings } from '../../../src/diagnosis/changes/surroundings.ts';
import type { JobFacts } from '../../../src/domain/job.ts';
import { toFacts } from '../../../src/executions/counting/job-facts.ts';

import { createNodeNotes, type FailingNode, noteUsual } from '../../../src/expected-runs/risks/nodes.ts';
import { harms, nightMs, type Planted, timesOf, toHarm, type VirtualJob } from './planned-night.ts';
import { hourMs, minuteMs, nowMs as startMs } from './some-risks.ts';

/** Creates the state of the exporter from the runs that have ended. */
export function createKnown(jobs: readonly VirtualJob[], draw: () => number) {
  let facts = new Map<string, JobFacts>();
  let usual = new Map<string, ReturnType<typeof noteUsual>>();
  let failing = new Map<string, FailingNode>();
  let note = createNodeNotes();
  let playedMs = startMs - 1;
  const byName = new Map(jobs.map((job) => [job.name, job]));
  const results = new Map<string, CountedRun>();
  /** The ends of successful runs in the night, by job and by node. */
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
    if (endMs >= nightMs) for (const key of succeeded) noteSuccess(key, endMs);
    usual.set(name, noteUsual(usual.get(name), run));
    for (const [node, now] of note(failing, [run])) {
      if (now === undefined) failing.delete(node);
      else failing.set(node, now);
    }
  }

  function noteSuccess(key: string, endMs: number): void {
    const ends = successes.get(key) ?? [];
    ends.push(endMs);
    successes.set(key, ends);
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
    /** The first success of a job or node after a time. */
    succeededMs: (key: string, afterMs: number) => successes.get(key)?.find((endMs) => endMs > afterMs),
    /** Restarts the exporter; only stored data is left. */
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

/** What the server shows at a time: nodes, keys, jobs and their definitions. */
export function readAround(known: ReturnType<typeof createKnown>, jobs: readonly VirtualJob[], { atMs, planted }: Now) {
  const holds = (one: Planted): boolean => one.fromMs <= atMs && atMs < one.toMs;
  const toArea = (things: readonly (readonly [string, Fields])[]): Area => {
    return { things: new Map(things), sinceMs: startMs, readMs: atMs };
  };
  const listed = new Set(jobs.flatMap(({ nodes }) => nodes));
  for (const one of planted) if (one.kind === 'gone' && holds(one)) listed.delete(one.name);
  const areas = new Map<string, Area>([
    [names.keysIn(''), toArea([['keys/db', {}]])],
    ...['pay', 'shop', 'ops', 'lab'].flatMap((project) => [
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

export type Now = { readonly atMs: number; readonly planted: readonly Planted[] };
