import type { Clock } from '../../domain/clock.ts';
import type { Execution, Finished } from '../../domain/execution.ts';
import type { CommitHook, Ledger } from '../../state/ledger.ts';
import { toGreatestId } from '../counting/id-hours.ts';
import { type Measured, type MeasureRules, measure, type UnmeasuredReason } from '../counting/measure.ts';
import { toJobPath } from '../counting/naming.ts';
import { type Reconciled, reconcile, toBegin } from '../counting/reconcile.ts';
import { toJobKey } from '../counting/totals.ts';
import type { LedgerCache } from './ledger-cache.ts';
import type { LedgerChange, LedgerFacts } from './ledger-documents.ts';
import type { ProjectState } from './project-state.ts';
import { toRecent } from './recent-runs.ts';
import { isInRestoreGap } from './restore-gap.ts';
import { noteSlowClocks, planPrune } from './upkeep.ts';

/** Receives facts about the rows that were read, for the exporter's own metrics. */
export type ExecutionsObserver = {
  readonly observed: (executions: number) => void;
  readonly late: (executions: number) => void;
  readonly imported: (executions: number) => void;
  readonly unmeasured: (reason: UnmeasuredReason, executions: number) => void;
  readonly skipped: (reason: string, executions: number) => void;
  readonly dropped: (reason: 'merged' | 'cap', series: number) => void;
  readonly unknownValue: (field: string) => void;
};

export type CountOptions = {
  readonly server: string;
  readonly cache: LedgerCache;
  readonly ledger: Ledger;
  readonly rules: Pick<MeasureRules, 'buckets'>;
  readonly isWantedJob: (jobPath: string) => boolean;
  readonly observe: ExecutionsObserver;
  readonly keepMs: number;
  readonly clock: Pick<Clock, 'now'>;
  readonly commitHook?: CommitHook | undefined;
};

export type CountRequest = {
  readonly project: string;
  readonly rows: readonly Execution[];
  /** The server time of the round in which the rows were read. */
  readonly seenAtMs: number;
  /** The clocks of the members that sent the rows. The clock of a member may be set back during the round. */
  readonly serverTimes?: readonly number[];
  /** Returns the state of the project after the rows are stored in the ledger. */
  readonly advance?: (state: ProjectState) => ProjectState;
  /** The time before which ended executions are late: earlier reads should have returned them. */
  readonly lateBeforeMs?: number;
};

/** Commit 1 of the life of an execution: stores rows, totals and the progress of the project in one transaction. */
export function createCountExecutions(
  options: CountOptions,
): (acceptance: CountRequest) => Promise<readonly Finished[]> {
  const { server, cache, ledger, rules, isWantedJob, observe, keepMs, clock, commitHook } = options;

  /** Removes old entries. Executions that ended before `prunedThroughMs` are never counted again. */
  async function prune(state: ProjectState): Promise<ProjectState> {
    const fromMs = state.prunedThroughMs ?? state.countedFromMs;
    // The earlier of the two times is used, because a clock that is far ahead would remove entries too early.
    const nowMs = Math.min(state.scannedThroughMs, clock.now());
    const prunedThroughMs = await planPrune(ledger, server, { project: state.project, fromMs }, nowMs - keepMs);
    if (prunedThroughMs === fromMs) return state;
    return { ...state, prunedThroughMs, countedFromMs: Math.max(state.countedFromMs, prunedThroughMs) };
  }

  /** Decides which rows count and how the totals change. Changes nothing. */
  async function judge({ project, rows, seenAtMs }: CountRequest, state: ProjectState): Promise<Count> {
    const finished = rows.filter(({ endedAtMs }) => endedAtMs !== undefined);
    const known = Map.groupBy(await ledger.find(server, [...new Set(finished.map(({ id }) => id))]), ({ id }) => id);
    const facts = cache.facts();
    const { countedFromMs, earlier } = state;
    const { epochStartedAtMs, formerThroughMs, formerThroughId } = facts;
    const latestMs = Math.max(seenAtMs, clock.now());
    const isRestored = isInRestoreGap(state, facts);
    const found = reconcile({
      project,
      rows,
      known,
      countedFromMs,
      earlier,
      ids: cache.idHours,
      oneTimeIds: new Set(facts.oneTimeIds),
      slowByMs: facts.slowClocks?.map(({ byMs }) => byMs) ?? [],
      seenAtMs,
      latestMs,
      epochStartedAtMs,
      formerThroughMs,
      formerThroughId,
      formerEpochs: facts.epoch - 1,
      isWanted: (job) =>
        isWantedJob(toJobPath(project, job)) ||
        (isRestored && cache.totals.jobs.has(toJobKey(project, job.group, job.name))),
    });
    const measured = measure(cache.totals, project, found.counted, {
      ...rules,
      seenAtMs,
      startMs: Math.min(state.scannedThroughMs, clock.now()),
      isShown: isRestored,
    });
    const epoch = facts.epoch + Number(found.newEpochAtMs !== undefined);
    return { found, measured, latestMs, epoch, byEpoch: toRunsByEpoch(found, epoch) };
  }

  return async (request) => {
    const { project, seenAtMs, serverTimes = [], advance, lateBeforeMs = Number.NEGATIVE_INFINITY } = request;
    await noteSlowClocks(cache, { serverTimes, nowMs: seenAtMs, ownMs: clock.now() });
    const made: { count?: Count } = {};
    await cache.update(async () => {
      const state = cache.states.get(project);
      if (state === undefined) return undefined;
      const count = await judge(request, state);
      made.count = count;
      const advanced = await prune(advance?.(state) ?? state);
      const latestMs = Math.max(...count.found.entries.map(({ endedAtMs }) => endedAtMs));
      const read = count.found.entries.length === 0 ? [] : (commitHook?.readThrough?.(latestMs) ?? []);
      const lagMs = Math.max(0, ...(cache.facts().slowClocks ?? []).map(({ byMs }) => byMs));
      const kept = count.byEpoch.flatMap(({ runs, epoch }) => commitHook?.keep(project, runs, epoch, lagMs) ?? []);
      const alongside = [...read, ...kept];
      return { ...toChange(count, { before: state, after: advanced }, cache), alongside };
    });
    if (made.count === undefined) return [];
    report(made.count, lateBeforeMs, observe);
    for (const { runs } of made.count.byEpoch) commitHook?.kept(project, runs);
    return made.count.found.counted;
  };
}

type Count = {
  readonly found: Reconciled;
  readonly measured: Measured;
  readonly latestMs: number;
  readonly epoch: number;
  readonly byEpoch: readonly RunsOfEpoch[];
};

function toChange(
  { found, measured, latestMs, epoch }: Count,
  { before, after }: { before: ProjectState; after: ProjectState },
  cache: LedgerCache,
): LedgerChange {
  const { project } = after;
  return {
    ...toFactsChange(cache, found, { epoch, latestMs }),
    states: after === before ? [] : [after],
    entries: found.entries.map((entry) => ({ project, ...entry })),
    cells: [...measured.cells.values()],
    jobs: [...measured.jobs.values()],
    claims: measured.claims,
    idHours: found.idHours,
    latestMs,
    hasNewEpoch: found.newEpochAtMs !== undefined,
    recent: found.counted.map((run) => toRecent(project, run)),
    ...(after.prunedThroughMs === undefined || after.prunedThroughMs === before.prunedThroughMs
      ? {}
      : { prune: { project, endedBeforeMs: after.prunedThroughMs } }),
  };
}

function report({ found, measured }: Count, lateBeforeMs: number, observe: ExecutionsObserver): void {
  const { counted, imported } = found;
  observe.observed(counted.length);
  observe.late(counted.filter(({ endedAtMs }) => endedAtMs < lateBeforeMs).length);
  observe.imported(imported);
  for (const [reason, runs] of Object.entries(measured.unmeasured)) {
    // This cast is safe: the keys are reasons.
    observe.unmeasured(reason as UnmeasuredReason, runs);
  }
  observe.dropped('merged', measured.merged);
  for (const { status, customStatus } of counted) {
    if (status === 'other' && customStatus === undefined) observe.unknownValue('status');
  }
}

type RunsOfEpoch = { readonly runs: readonly Finished[]; readonly epoch: number };

/** Splits runs by epoch, because one read may return rows of two databases. */
function toRunsByEpoch({ counted, ofEpochBefore }: Reconciled, epoch: number): RunsOfEpoch[] {
  const byEpoch = [
    // If both epochs have facts about a job, the facts of the current epoch are stored.
    { runs: [...ofEpochBefore], epoch: Math.max(1, epoch - 1) },
    { runs: counted.filter((run) => !ofEpochBefore.has(run)), epoch },
  ];
  return byEpoch.filter(({ runs }) => runs.length > 0);
}

function toFactsChange(
  cache: LedgerCache,
  found: Reconciled,
  { epoch, latestMs }: Pick<Count, 'epoch' | 'latestMs'>,
): { readonly facts?: LedgerFacts } {
  const { epochStartedAtMs } = found;
  const facts = cache.facts();
  const over = new Set(found.entries.map(({ id }) => id));
  const oneTimeIds = facts.oneTimeIds?.filter((id) => !over.has(id));
  const counted = new Set(found.counted.map(({ id }) => id));
  const uncounted = found.entries.filter((run) => !counted.has(run.id) && toBegin(run) <= latestMs);
  const { uncountedThroughMs: beforeMs = 0 } = facts;
  const uncountedThroughMs = Math.max(beforeMs, ...uncounted.map(toBegin));
  if (
    epochStartedAtMs === facts.epochStartedAtMs &&
    oneTimeIds?.length === facts.oneTimeIds?.length &&
    uncountedThroughMs === beforeMs
  )
    return {};
  const recent = cache.recent();
  const formerThroughMs = Math.max(beforeMs, ...recent.map(toBegin));
  // The hours do not include future-dated runs.
  const ids = [toGreatestId(cache.idHours) ?? 0, ...recent.map(({ id }) => id)];
  const former = epoch === facts.epoch ? {} : { formerThroughMs, formerThroughId: Math.max(...ids) };
  return { facts: { ...facts, ...former, uncountedThroughMs, epoch, epochStartedAtMs, oneTimeIds } };
}

/** Stores the ids of waiting one-time runs, because some servers do not mark finished one-time runs. */
export async function noteOneTimeRuns(cache: LedgerCache, running: readonly Execution[]): Promise<void> {
  const waiting = running.filter(({ status, endedAtMs }) => status === 'scheduled' && endedAtMs === undefined);
  const known = new Set(cache.facts().oneTimeIds);
  const fresh = waiting.filter(({ id }) => !known.has(id));
  if (fresh.length === 0) return;
  await cache.update(async () => {
    const facts = cache.facts();
    const oneTimeIds = [...(facts.oneTimeIds ?? []), ...fresh.map(({ id }) => id)].slice(-maxOneTimeIds);
    return { facts: { ...facts, oneTimeIds } };
  });
}

const maxOneTimeIds = 5000;

/** The number of imports since the last other execution, and the ages of the first and last import. */
export type ImportsSince = { readonly executions: number; readonly firstAgoMs: number; readonly lastAgoMs: number };

type Counts = Pick<ExecutionsObserver, 'observed' | 'imported'>;

/** Tracks whether any execution other than an import was counted since the process started. */
export function createImportsSince(ticks: () => number) {
  let since: { executions: number; readonly firstTicks: number; lastTicks: number } | undefined;
  return {
    /** Wraps an observer to record its calls. */
    watch: <Observer extends Counts>(observe: Observer): Observer => ({
      ...observe,
      observed: (executions: number) => {
        if (executions > 0) since = undefined;
        observe.observed(executions);
      },
      imported: (executions: number) => {
        if (executions > 0) {
          since ??= { executions: 0, firstTicks: ticks(), lastTicks: ticks() };
          since.executions += executions;
          since.lastTicks = ticks();
        }
        observe.imported(executions);
      },
    }),
    now: (): ImportsSince | undefined =>
      since && {
        executions: since.executions,
        firstAgoMs: ticks() - since.firstTicks,
        lastAgoMs: ticks() - since.lastTicks,
      },
  };
}
