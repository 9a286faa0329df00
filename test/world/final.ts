import { type Execution, endedAt, toStatus } from '../../simulator/world/installation.ts';
import type { LedgerEntry } from '../../src/state/ledger.ts';
import { toTraceId } from '../../src/tracing/plan/ids.ts';
import type { Collector } from './collector.ts';
import { judgeJobs } from './job-facts.ts';
import { isOfExcludedJob, isOfExcludedProject } from './left-out.ts';
import { findUnordered, isImport, isLeftOut, mayBeSentAgain } from './pardons.ts';
import { toPaceMs } from './plan.ts';
import { findForgotten, isOfForgottenId } from './restored-copies.ts';
import type { Scene } from './scene.ts';
import { judgeSchedules } from './schedules.ts';
import type { Shown } from './shown.ts';
import { compareTotals, toStart } from './totals.ts';
import { findDifference } from './trace-content.ts';
import { tell } from './watch-scrapes.ts';

type Final = {
  readonly scene: Scene;
  readonly shown: Shown;
  readonly entriesOf: (id: number) => readonly LedgerEntry[];
  readonly lagSeconds: number | undefined;
  readonly spooled: number;
  readonly pending: number;
};

type OnFault = (oracle: string, says: string) => void;

/** Checks the conditions that must be true once all problems are over. */
export function judgeEnd(final: Final, onFault: OnFault): void {
  const { scene, lagSeconds, spooled, pending } = final;
  scene.service.play();
  const counted = countLost(final, onFault);
  compareTotals(scene, final.shown, counted, onFault);
  judgeJobs(scene, final.shown, counted, onFault);
  judgeSchedules(scene, final.shown, onFault);
  const maxLagSeconds = (scene.plan.maxDelayMs + toPaceMs(scene.plan)) / 1000 + 90;
  if (lagSeconds === undefined || lagSeconds > maxLagSeconds)
    onFault('lag comes back', `${lagSeconds} s, at most ${maxLagSeconds}`);
  if (scene.plan.traces === 'off') return;
  if (spooled > 0) onFault('the spool is emptied', `${spooled} traces are left`);
  if (pending > 0) onFault('no trace waits for ever', `${pending} are pending`);
  else if (scene.truth.fewerSinceMs === undefined) compareFailures(final.shown, onFault);
  compareTraces(scene, scene.collector, counted, onFault);
}

/** Checks that every failed run has exactly one class. */
function compareFailures(shown: Shown, onFault: OnFault): void {
  const classes = sumOf(shown, /^automation_execution_failures_total\{/);
  const runs = sumOf(shown, /^automation_executions_total\{.*status="(failed|timedout|failed-with-retry|other)"/);
  if (classes !== runs) onFault('every failure has a class', `${classes} have one of ${runs} failures`);
}

function sumOf(shown: Shown, series: RegExp): number {
  let sum = 0;
  for (const [key, value] of shown) if (series.test(key)) sum += value;
  return sum;
}

export function findEntry(final: Pick<Final, 'entriesOf'>, execution: Execution): LedgerEntry | undefined {
  const startMs = toStart(execution);
  const entries = final.entriesOf(execution.id).filter(({ startedAtMs }) => Math.abs(startedAtMs - startMs) < 2000);
  // A run of a new database may have the same id and the same start.
  if (execution.lostAtMs === undefined) return entries[0];
  return entries.find(({ endedAtMs }) => Math.abs(endedAtMs - endedAt(execution)) < 2000);
}

/** The executions that count, and the projects under which they were counted. */
function countLost(final: Final, onFault: OnFault): Map<Execution, string> {
  const { scene } = final;
  const counted = new Map<Execution, string>();
  const owners = new Map<string, Execution>();
  for (const execution of scene.service.world.history) {
    if (!execution.ended || isImport(scene, execution)) continue;
    const entry = findEntry(final, execution);
    if (entry === undefined) {
      if (!isLeftOut(scene, execution)) onFault('every execution is counted', `${tell(execution)} is not`);
      continue;
    }
    if (isOfExcludedProject(scene, execution)) onFault('what is left out is not counted', `${tell(execution)} is`);
    if (isOfExcludedJob(scene, execution) === true) continue;
    // Runs of two databases may have the same id and nearly the same start. The run whose start is nearer to the start
    // in the ledger entry is taken.
    const key = `${entry.id} ${entry.startedAtMs}`;
    const other = owners.get(key);
    const isNearer = other === undefined || toDistance(entry, execution) < toDistance(entry, other);
    if (isNearer) {
      owners.set(key, execution);
      counted.set(execution, entry.project);
      if (other !== undefined) counted.delete(other);
    }
  }
  return counted;
}

function toDistance({ startedAtMs, endedAtMs }: LedgerEntry, execution: Execution): number {
  return Math.abs(startedAtMs - toStart(execution)) + Math.abs(endedAtMs - endedAt(execution));
}

function compareTraces(
  scene: Scene,
  collector: Collector,
  counted: ReadonlyMap<Execution, string>,
  onFault: OnFault,
): void {
  const { plan, truth, service } = scene;
  const unordered = findUnordered(scene);
  const traceIds = new Map<Execution, string>();
  for (const execution of counted.keys())
    if (toStatus(execution, service.world.playedMs) !== 'missed')
      traceIds.set(execution, findTraceId(scene, execution));
  const wanted = new Map([...traceIds].map(([execution, traceId]) => [traceId, execution]));
  const previous = new Map([...traceIds.keys()].map((execution) => [execution.retriedBy, execution]));
  // A trace is sent again after a lost response or a crash.
  const mayRepeat = (atMs: number): boolean => truth.troubles.some((trouble) => mayBeSentAgain(trouble, atMs));
  for (const [execution, traceId] of traceIds) {
    const arrival = collector.arrivals.get(traceId);
    const owner = wanted.get(traceId) ?? execution;
    if (collector.poisoned.has(String(execution.id)) || unordered.has(execution.id)) continue;
    // If a database is replaced within seconds, before a run becomes readable, no epoch begins. A later run then has
    // this trace id.
    const isOfLater = owner !== execution && arrival?.trace.rootStartMs === toStart(owner);
    if (arrival === undefined || isOfLater) {
      if (isOfExcludedJob(scene, execution) === undefined || isOfForgottenId(scene, execution)) continue;
      onFault('every trace is delivered', `of ${tell(execution)}: never came`);
      continue;
    }
    const { trace, forms, copies, atMs } = arrival;
    if (copies > 1 && !mayRepeat(atMs)) onFault('a trace comes once', `of ${tell(execution)}: ${copies} times`);
    if (
      forms.size > 1 &&
      !truth.troubles.some((trouble) => trouble.what === 'restored' && mayBeSentAgain(trouble, atMs))
    )
      onFault('a trace is the same each time', `of ${tell(execution)}: ${forms.size} forms`);
    const startedAtMs = toStart(execution);
    if (trace.rootStartMs !== startedAtMs || trace.rootEndMs !== Math.max(startedAtMs, endedAt(execution)))
      onFault('a trace has the right times', `of ${tell(execution)}: ${trace.rootStartMs} to ${trace.rootEndMs}`);
    const isCutOff = execution.lostAtMs !== undefined && (execution.end?.atMs ?? 0) >= execution.lostAtMs;
    const differs = isCutOff ? undefined : findDifference(scene, execution, counted.get(execution) ?? '', arrival);
    if (differs !== undefined) onFault('a trace agrees with its execution', `of ${tell(execution)}: ${differs}`);
    const repeats = previous.get(execution);
    const linked = trace.links.get('retry_of');
    // If the ids started again between two attempts, the later attempt may have no link to the earlier one.
    const isCut =
      linked === undefined && repeats !== undefined && findEpoch(scene, repeats) < findEpoch(scene, execution);
    if (repeats !== undefined && linked !== traceIds.get(repeats) && !isCut)
      onFault('a retry links to the attempt before', `of ${tell(execution)}: ${linked} instead of ${repeats.id}`);
    if (execution.attempt === 0 && linked !== undefined)
      onFault('a retry links to the attempt before', `of ${tell(execution)}, which is none: ${linked}`);
    if (plan.traces === 'nodes' && trace.degraded === undefined && trace.spans.some(({ isInferred }) => isInferred))
      onFault('a trace is final', `of ${tell(execution)}: ends are inferred`);
    // The server reports interrupted runs as running forever.
    const visibleMs = execution.end?.visibleAtMs ?? 0;
    const isOfStates = truth.troubles.some(
      ({ what, fromMs, toMs }) => what === 'states' && fromMs < atMs && toMs > visibleMs,
    );
    if (!isOfStates && execution.lostAtMs === undefined && trace.degraded === 'seal_timeout')
      onFault('a trace is whole', `of ${tell(execution)}: seal_timeout`);
  }
  const forgotten = findForgotten(scene);
  for (const [traceId, { trace }] of collector.arrivals)
    if (!wanted.has(traceId) && !forgotten.has(trace.runId))
      onFault('every trace has an execution', `${trace.runId} from ${trace.rootStartMs}`);
}

function findTraceId(scene: Scene, execution: Execution): string {
  return toIdOf(execution, findEpoch(scene, execution));
}

/** Finds the epoch of each run: repeated ids have new trace ids. */
function findEpoch({ truth, collector, service }: Scene, execution: Execution): number {
  const place = truth.newDatabases.length === 0 ? 0 : service.world.history.indexOf(execution);
  const last = truth.newDatabases.filter(({ ended }) => ended <= place).length;
  const isOf = (epoch: number): boolean =>
    collector.arrivals.get(toIdOf(execution, epoch))?.trace.rootStartMs === toStart(execution);
  return Array.from({ length: last + 1 }, (_, before) => last - before).find(isOf) ?? last;
}

function toIdOf({ id }: Execution, epoch: number): string {
  return toTraceId(epoch === 0 ? 'http://service' : `http://service#${epoch + 1}`, String(id));
}
