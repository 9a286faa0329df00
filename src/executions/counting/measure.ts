import { observe } from '../../domain/durations/stored-histogram.ts';
import { type Ending, endings, type Finished, type JobNames } from '../../domain/execution.ts';
import type { FailureClass } from '../../domain/failure-class.ts';
import type { FailureLines, JobFacts } from '../../domain/job.ts';
import { toFacts } from './job-facts.ts';
import { otherJobs, toEnding, toJobName, toTrigger } from './naming.ts';
import { type Claims, isNoJob, type Totals, toNodeKey } from './series-slots.ts';
import { type Cell, type CellKind, toCellKey, toJobKey } from './totals.ts';

export type MeasureRules = {
  readonly buckets: readonly number[];
  /** The server time at which the runs were read. */
  readonly seenAtMs: number;
  /** The time up to which all executions are counted; new cells start at this time. */
  readonly startMs: number;
  /** True after a restore: series may have been published before, so they do not start at 0. */
  readonly isShown?: boolean;
};

export type Measured = {
  readonly cells: ReadonlyMap<string, Cell>;
  readonly jobs: ReadonlyMap<string, JobFacts>;
  readonly unmeasured: Readonly<Record<UnmeasuredReason, number>>;
  /** The number of runs whose job has the labels of another job, so that both jobs are counted together. */
  readonly merged: number;
  readonly claims: Claims;
};

const unmeasuredReasons = ['negative', 'no_start'] as const;
export type UnmeasuredReason = (typeof unmeasuredReasons)[number];

/** Computes how new finished runs of a project change the totals. Returns each changed cell and job with its new value. */
export function measure(totals: Totals, project: string, runs: readonly Finished[], rules: MeasureRules): Measured {
  const change = createChange(totals, rules);
  const byEnd = [...runs].sort((one, other) => one.endedAtMs - other.endedAtMs || one.id - other.id);
  for (const run of byEnd) change.add(project, run);
  return change.result();
}

function createChange(totals: Totals, rules: MeasureRules) {
  const { touch, begin, cells } = createCellChanges(totals, rules);
  const jobs = new Map<string, JobFacts>();
  const claims = totals.slots.claim();
  const unmeasured = { negative: 0, no_start: 0 };
  let merged = 0;

  /** Returns the job that a run counts for: `__other__` if the job of the run has no slot. */
  function toOwner({ project, group, name }: JobNames): JobNames {
    if (isNoJob(name) || claims.has('jobs', toJobKey(project, group, name))) return { project, group, name };
    return { project, group: '', name: otherJobs };
  }

  /** Returns the kinds of slots that a job lacks. The next run of the job takes a slot if one is free. */
  function toLeftOut(isOther: boolean, key: string, before: JobFacts | undefined): JobFacts['leftOut'] {
    if (isOther) return 'all';
    return before?.leftOut === undefined || claims.has('durations', key) ? undefined : 'durations';
  }

  function addDuration(run: Finished, { project, group, name }: JobNames, ending: Ending): void {
    const reason = findUnmeasured(run);
    if (reason !== undefined) {
      unmeasured[reason] += 1;
      return;
    }
    const isOwn = name !== otherJobs && (isNoJob(name) || claims.has('durations', toJobKey(project, group, name)));
    const owner = isOwn ? [project, group, name, ending] : [project, '', otherJobs, ending];
    const cell = touch('durations', owner);
    Object.assign(cell, observe(cell, (run.endedAtMs - run.startedAtMs) / 1000, rules.buckets));
  }

  function addNodes(run: Finished, { project, group, name }: JobNames): void {
    if (run.succeededNodes > 0) touch('nodes', [project, group, name, 'succeeded']).count += run.succeededNodes;
    if (run.failedNodes.length > 0) touch('nodes', [project, group, name, 'failed']).count += run.failedNodes.length;
    for (const node of run.failedNodes) {
      const owner = claims.has('nodes', toNodeKey(project, node)) ? node : otherJobs;
      touch('node-failures', [project, owner]).count += 1;
    }
  }

  function addFacts(run: Finished, job: JobNames, isOther: boolean): void {
    const key = toJobKey(job.project, job.group, job.name);
    const before = jobs.get(key) ?? totals.jobs.get(key);
    // A job without a slot gets facts only if it had a slot before.
    if (isOther && before === undefined) return;
    if (before?.jobId !== undefined && run.job?.id !== undefined && before.jobId !== run.job.id) merged += 1;
    const facts = toFacts(job, run, before, rules.seenAtMs);
    const leftOut = toLeftOut(isOther, key, before);
    // A deleted job stays deleted if the run started before the deletion.
    const isGone = before?.goneSinceMs !== undefined && run.startedAtMs <= before.goneSinceMs;
    jobs.set(key, {
      ...facts,
      ...(leftOut === undefined ? {} : { leftOut }),
      ...(isGone ? { goneSinceMs: before.goneSinceMs } : {}),
    });
  }

  return {
    add: (project: string, run: Finished): void => {
      const job: JobNames = { project, ...toJobName(run) };
      const owner = toOwner(job);
      const ending = toEnding(run);
      const trigger = toTrigger(run);
      begin('runs', [project, owner.group, owner.name]);
      touch('runs', [project, owner.group, owner.name, ending]).count += 1;
      addDuration(run, owner, ending);
      addNodes(run, owner);
      begin('project-runs', [project, trigger]);
      touch('project-runs', [project, trigger, ending]).count += 1;
      if (!isNoJob(job.name)) addFacts(run, job, owner.name === otherJobs);
    },
    result: (): Measured => ({ cells, jobs, unmeasured, merged, claims }),
  };
}

/** Computes how classified failures change totals and facts. Returns each changed cell and job with its new value. */
export function measureFailures(
  totals: Totals,
  failures: readonly ClassifiedFailure[],
  startMs: number,
): { readonly cells: readonly Cell[]; readonly jobs: readonly JobFacts[] } {
  const { touch, cells } = createCellChanges(totals, { startMs });
  const jobs = new Map<string, JobFacts>();
  for (const { project, group, name, failureClass, isOfGap } of failures) {
    const hasSlot = isNoJob(name) || totals.slots.has('jobs', toJobKey(project, group, name));
    const labels = [project, ...(hasSlot ? [group, name] : ['', otherJobs]), failureClass];
    const cell = touch('failures', labels);
    cell.count += 1;
    cell.isReleased ||= isOfGap === true;
  }
  // The last failure of a job is set first. An older failure with the same lines may then show that the last failure is not
  // new.
  for (const isLast of [true, false])
    for (const failure of failures) {
      const key = toJobKey(failure.project, failure.group, failure.name);
      const facts = jobs.get(key) ?? totals.jobs.get(key);
      if (facts === undefined || (facts.lastFailedId === failure.id) !== isLast) continue;
      const lastFailure = toLastFailure(facts, failure);
      if (lastFailure !== facts.lastFailure) jobs.set(key, { ...facts, lastFailure });
    }
  return { cells: [...cells.values()], jobs: [...jobs.values()] };
}

function toLastFailure({ lastFailedId, lastFailure }: JobFacts, failure: ClassifiedFailure): JobFacts['lastFailure'] {
  const { id, failureClass, lines } = failure;
  if (id !== undefined && lastFailedId === id) return { id, failureClass, lines };
  const last = lastFailure?.lines;
  if (lastFailure === undefined || last?.isNew !== true || last.fingerprint !== lines?.fingerprint) return lastFailure;
  return { ...lastFailure, lines: { ...last, isNew: false } };
}

type ClassifiedFailure = JobNames & {
  readonly id?: number | undefined;
  readonly failureClass: FailureClass;
  readonly lines?: FailureLines | undefined;
  /** True if the class may already have been published before a backup of the state was restored. */
  readonly isOfGap?: boolean | undefined;
};

type MutableCell = { -readonly [Key in keyof Cell]: Cell[Key] };

function createCellChanges(totals: Totals, { isShown = false, startMs }: Pick<MeasureRules, 'isShown' | 'startMs'>) {
  const startSeconds = Math.floor(startMs / 1000);
  const cells = new Map<string, MutableCell>();
  const begun = new Set<string>();

  function touch(kind: CellKind, labels: readonly string[]): MutableCell {
    const key = toCellKey(kind, labels);
    const touched = cells.get(key);
    if (touched !== undefined) return touched;
    const cell = { ...(totals.cells.get(key) ?? { kind, labels, count: 0, isReleased: isShown, startSeconds }) };
    cells.set(key, cell);
    return cell;
  }

  return {
    cells,
    touch,
    /** Creates cells for all endings of a run, so that each series starts at 0. */
    begin: (kind: CellKind, labels: readonly string[]): void => {
      const key = toCellKey(kind, labels);
      if (begun.has(key)) return;
      begun.add(key);
      for (const ending of endings) {
        if (!totals.cells.has(toCellKey(kind, [...labels, ending]))) touch(kind, [...labels, ending]);
      }
    },
  };
}

/** Returns the reason why a run has no duration; undefined if it has a duration. */
function findUnmeasured({ lacksStart, startedAtMs, endedAtMs }: Finished): UnmeasuredReason | undefined {
  if (lacksStart === true) return 'no_start';
  return endedAtMs < startedAtMs ? 'negative' : undefined;
}
