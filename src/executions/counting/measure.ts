import { toFacts } from './job-facts.ts';
import { type Ending, endings, otherJobs, toEnding, toJobName, toTrigger } from './naming.ts';
import type { Finished } from './reconcile.ts';
import { type Claims, isNoJob, toNodeKey } from './series-slots.ts';
import { type Cell, type CellKind, type JobFacts, type Totals, toCellKey, toJobKey } from './totals.ts';

export type MeasureRules = {
  /** Upper bounds of duration buckets, in seconds, ascending. */
  readonly buckets: readonly number[];
  /** True if what is new has been shown before, as after a restored copy: then it is not shown as 0 first. */
  readonly isShown?: boolean;
};

export type Measured = {
  readonly cells: ReadonlyMap<string, Cell>;
  readonly jobs: ReadonlyMap<string, JobFacts>;
  /** Runs without a duration, by the reason. */
  readonly unmeasured: Readonly<Record<UnmeasuredReason, number>>;
  /** Runs of a job whose labels another job had before. */
  readonly merged: number;
  /** The slots that this takes, once it is committed. */
  readonly claims: Claims;
};

export const unmeasuredReasons = ['negative', 'no_start'] as const;
export type UnmeasuredReason = (typeof unmeasuredReasons)[number];

/** Computes how new finished runs of a project change the totals: every changed cell and job, with its new value. */
export function measure(totals: Totals, project: string, runs: readonly Finished[], rules: MeasureRules): Measured {
  const change = createChange(totals, rules);
  const byEnd = [...runs].sort((one, other) => one.endedAtMs - other.endedAtMs || one.id - other.id);
  for (const run of byEnd) change.add(project, run);
  return change.result();
}

type MutableCell = { -readonly [Key in keyof Omit<Cell, 'buckets'>]: Cell[Key] } & { buckets?: number[] };

function createChange(totals: Totals, { buckets, isShown = false }: MeasureRules) {
  const cells = new Map<string, MutableCell>();
  const jobs = new Map<string, JobFacts>();
  const begun = new Set<string>();
  const claims = totals.slots.claim();
  const unmeasured = { negative: 0, no_start: 0 };
  let merged = 0;

  /** The cell to change: a copy of what there is, or a new one at 0. */
  function touch(kind: CellKind, labels: readonly string[]): MutableCell {
    const key = toCellKey(kind, labels);
    const touched = cells.get(key);
    if (touched !== undefined) return touched;
    const before = totals.cells.get(key);
    const { buckets: countsBefore, ...rest } = before ?? { kind, labels, count: 0, isReleased: isShown };
    const cell: MutableCell = { ...rest, ...(countsBefore === undefined ? {} : { buckets: [...countsBefore] }) };
    cells.set(key, cell);
    return cell;
  }

  /** All endings of a job that is known are there from the start. */
  function beginEndings(project: string, { group, name }: { readonly group: string; readonly name: string }): void {
    const key = toJobKey(project, group, name);
    if (begun.has(key)) return;
    begun.add(key);
    for (const each of endings) {
      const labels = [project, group, name, each];
      if (!totals.cells.has(toCellKey('runs', labels))) touch('runs', labels);
    }
  }

  /** All endings are there from the start of whatever else they are counted by. */
  function addTrigger(project: string, run: Finished, ending: Ending): void {
    const trigger = toTrigger(run);
    for (const each of endings) {
      const labels = [project, trigger, each];
      if (!totals.cells.has(toCellKey('project-runs', labels))) touch('project-runs', labels);
    }
    touch('project-runs', [project, trigger, ending]).count += 1;
  }

  function toOwner(project: string, group: string, name: string): { group: string; name: string } {
    if (isNoJob(name) || claims.has('jobs', toJobKey(project, group, name))) return { group, name };
    return { group: '', name: otherJobs };
  }

  /** Returns the slots that a job lacks: those given back are taken again by the next run that finds room. */
  function toLeftOut(isOther: boolean, key: string, before: JobFacts | undefined): JobFacts['leftOut'] {
    if (isOther) return 'all';
    return before?.leftOut === undefined || claims.has('durations', key) ? undefined : 'durations';
  }

  function addDuration(run: Finished, labels: { project: string; group: string; name: string; ending: Ending }): void {
    const { project, group, name, ending } = labels;
    const durationMs = run.endedAtMs - run.startedAtMs;
    const reason = run.lacksStart === true ? 'no_start' : durationMs < 0 ? 'negative' : undefined;
    if (reason !== undefined) {
      unmeasured[reason] += 1;
      return;
    }
    const isOwn = name !== otherJobs && (isNoJob(name) || claims.has('durations', toJobKey(project, group, name)));
    const owner = isOwn ? [project, group, name, ending] : [project, '', otherJobs, ending];
    const cell = touch('durations', owner);
    const counts = cell.buckets ?? Array.from({ length: buckets.length + 1 }, () => 0);
    const seconds = durationMs / 1000;
    const found = buckets.findIndex((bound) => seconds <= bound);
    const index = found === -1 ? buckets.length : found;
    counts[index] = (counts[index] ?? 0) + 1;
    cell.buckets = counts;
    cell.count += 1;
    cell.sumSeconds = (cell.sumSeconds ?? 0) + seconds;
  }

  function addNodes(run: Finished, { project, group, name }: { project: string; group: string; name: string }): void {
    if (run.succeededNodes > 0) touch('nodes', [project, group, name, 'succeeded']).count += run.succeededNodes;
    if (run.failedNodes.length > 0) touch('nodes', [project, group, name, 'failed']).count += run.failedNodes.length;
    for (const node of run.failedNodes) {
      const owner = claims.has('nodes', toNodeKey(project, node)) ? node : otherJobs;
      touch('node-failures', [project, owner]).count += 1;
    }
  }

  return {
    add: (project: string, run: Finished): void => {
      const { group, name } = toJobName(run);
      const owner = toOwner(project, group, name);
      const ending = toEnding(run);
      beginEndings(project, owner);
      touch('runs', [project, owner.group, owner.name, ending]).count += 1;
      addDuration(run, { project, ...owner, ending });
      addNodes(run, { project, ...owner });
      addTrigger(project, run, ending);
      if (isNoJob(name)) return;
      const key = toJobKey(project, group, name);
      const before = jobs.get(key) ?? totals.jobs.get(key);
      // A job without a slot is not kept, unless it had one before.
      if (owner.name === otherJobs && before === undefined) return;
      if (before?.jobId !== undefined && run.job?.id !== undefined && before.jobId !== run.job.id) merged += 1;
      const facts = toFacts({ project, group, name }, run, before);
      const leftOut = toLeftOut(owner.name === otherJobs, key, before);
      // A run of before it was gone brings nothing back.
      const isGone = before?.goneSinceMs !== undefined && run.endedAtMs <= before.goneSinceMs;
      jobs.set(key, {
        ...facts,
        ...(leftOut === undefined ? {} : { leftOut }),
        ...(isGone ? { goneSinceMs: before.goneSinceMs } : {}),
      });
    },
    result: (): Measured => ({ cells, jobs, unmeasured, merged, claims }),
  };
}
