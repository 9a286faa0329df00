import type { Client } from '../../api/client.ts';
import { ApiError, isOfWholeServer } from '../../api/errors.ts';
import type { Clock } from '../../domain/clock.ts';
import type { SpanSource } from '../../domain/span-source.ts';
import type { Ledger } from '../../state/ledger.ts';
import type { Spool, SpoolBounds, TraceEncoding } from '../../state/spool.ts';
import type { Detail } from '../plan/detail.ts';
import type { Plan } from '../plan/plan-trace.ts';
import { createAttempts } from './attempts.ts';
import { gather, toBareExecution } from './gather.ts';
import { type PendingTrace, readPending, toForgetting, toPendingKey } from './pending.ts';
import { toQueueOrder } from './queue-order.ts';
import { createSealClock } from './seal-clock.ts';
import { createWorkflows } from './workflows.ts';

export type EnricherObserver = {
  readonly pending: (traces: number) => void;
  readonly degraded: (reason: 'backlog' | 'seal_timeout') => void;
  readonly skipped: (reason: 'no_trace', executions: number) => void;
  readonly invalidCaller: () => void;
  /** Something went wrong that is not the server's: it is tried again. */
  readonly failed: (error: unknown) => void;
};

export type EnricherOptions = {
  readonly server: string;
  readonly ledger: Ledger;
  readonly client: Client;
  readonly timeoutMs: number;
  readonly spool: Pick<Spool, 'hasRoom'>;
  readonly bounds: SpoolBounds;
  readonly encoding: TraceEncoding;
  readonly detail: Detail;
  /** Ids are only unique within their epoch. */
  readonly plan: (source: SpanSource, epoch: number) => Plan | undefined;
  readonly encode: (plan: Plan) => Uint8Array;
  /** The longest wait for a state that the server is still writing. */
  readonly sealTimeoutMs: number;
  /** The wait after which a trace gets no steps, so that later ones may: in our queue, over restarts, or for a state. */
  readonly backlogAgeMs: number;
  readonly clock: Clock;
  readonly observe: EnricherObserver;
  /** Called with every plan, for pages. */
  readonly onPlan: (pending: PendingTrace, plan: Plan) => void;
  /** Called when something was spooled. */
  readonly onSpooled: () => void;
};

export type Enricher = {
  /** More executions have been counted; they are in the ledger. */
  readonly add: (pending: readonly PendingTrace[]) => void;
  readonly size: () => number;
  /** Makes the traces that can be made now; resolves to when it is worth another try. */
  readonly run: (signal: AbortSignal) => Promise<{ readonly againInMs: number | undefined }>;
};

/** Commit 2 of the life of an execution: what is pending gets its steps and becomes a trace in the spool, in one transaction. */
export function createEnricher(options: EnricherOptions): Enricher {
  const { server, ledger, client, timeoutMs, spool, bounds, encoding, detail, clock, observe } = options;
  const waiting = new Map<string, Waiting>();
  const sealClock = createSealClock(clock.ticks);
  const workflows = createWorkflows(clock.ticks);
  const attempts = createAttempts();
  let isLoaded = false;
  /** Set when an execution arrived after the queue was ordered: it may be more urgent than the next one. */
  let hasNew = false;

  function add(pending: readonly PendingTrace[]): void {
    for (const each of pending) {
      const entry = { pending: each, sinceTicks: undefined, retryAtTicks: 0, isUnanswered: false };
      waiting.set(toPendingKey(each), entry);
    }
    hasNew ||= pending.length > 0;
    observe.pending(waiting.size);
  }

  async function load(): Promise<void> {
    if (isLoaded) return;
    const documents = await ledger.load(server);
    attempts.load(documents);
    add(readPending(documents));
    isLoaded = true;
  }

  function isLate({ seenAtMs }: PendingTrace): boolean {
    return clock.now() - seenAtMs > options.backlogAgeMs;
  }

  /** A few that the server never answers must not hold up all others: they are asked for again after these. */
  function listNext(): readonly Waiting[] {
    const each = [...waiting.values()];
    const byPending = new Map(each.map((entry) => [entry.pending, entry]));
    const line = toQueueOrder(byPending.keys(), isLate).flatMap((pending) => byPending.get(pending) ?? []);
    const isBehind = ({ isUnanswered, pending }: Waiting): boolean => isUnanswered && !isLate(pending);
    return [...line.filter((entry) => !isBehind(entry)), ...line.filter(isBehind)];
  }

  function noteAnswer(entry: Waiting): void {
    sealClock.answered();
    entry.sinceTicks ??= sealClock.ticks();
  }

  /**
   * For how long it has been asked for: what stood in our own line did not wait for a state, and in all it waits no longer
   * than the backlog may.
   */
  function toAskedMs(entry: Waiting): number {
    return entry.sinceTicks === undefined ? 0 : sealClock.ticks() - entry.sinceTicks;
  }

  /** Gathers the parts of one execution that are known by now; undefined while more of it is worth waiting for. */
  async function find(entry: Waiting, signal: AbortSignal): Promise<SpanSource | undefined> {
    const { pending } = entry;
    if (isLate(pending)) return { execution: toBareExecution(pending), degraded: 'backlog' };
    const isLastTry = toAskedMs(entry) > options.sealTimeoutMs;
    const api = client.within({ lane: 'enrichment', forMs: timeoutMs, signal });
    const { source, isPending } = await gather(api, pending, { detail, workflows, isLastTry });
    noteAnswer(entry);
    if (!isPending) return source;
    return isLastTry ? { ...source, degraded: 'seal_timeout' } : undefined;
  }

  async function seal(pending: PendingTrace, found: SpanSource): Promise<void> {
    const { id, epoch } = pending;
    const source = { ...found, previousAttemptId: attempts.previousOf({ id, epoch }) };
    const plan = options.plan(source, epoch);
    const key = toPendingKey(pending);
    const noted = attempts.note({ id, epoch, nextId: found.execution.nextAttemptId }, clock.now());
    const documents = [toForgetting(pending), ...noted.documents];
    if (plan === undefined) {
      await ledger.commit(server, { documents });
      observe.skipped('no_trace', 1);
    } else {
      const trace = {
        key: JSON.stringify([server, key]),
        server,
        executionId: String(pending.id),
        startedAtMs: pending.startedAtMs,
        spooledAtMs: clock.now(),
        encoding,
        spans: plan.trace.spans.length,
        bytes: options.encode(plan),
      };
      await ledger.commit(server, { documents, spooled: [trace] });
      if (plan.caller === 'invalid') observe.invalidCaller();
      if (found.degraded !== undefined) observe.degraded(found.degraded);
      options.onPlan(pending, plan);
      options.onSpooled();
    }
    noted.done();
    waiting.delete(key);
    observe.pending(waiting.size);
  }

  /** Asks again later; the longer it has been waited for, the later. */
  function postpone(entry: Waiting): void {
    const ageMs = toAskedMs(entry);
    const laterMs = Math.min(longestRetryMs, Math.max(pendingRetryMs, ageMs / 4));
    const leftMs = options.sealTimeoutMs - ageMs;
    entry.retryAtTicks = clock.ticks() + (leftMs >= 0 ? Math.min(laterMs, leftMs + 1) : laterMs);
  }

  /** Reports whether it makes sense to go on with others after such a fault. */
  function noteFault(entry: Waiting, error: unknown): boolean {
    entry.retryAtTicks = clock.ticks() + faultRetryMs;
    // A server that does not answer this one will not answer the next.
    if (error instanceof ApiError) {
      if (isOfWholeServer(error)) sealClock.silent();
      else if (error.details.unsent === true) sealClock.answered();
      else noteAnswer(entry);
      // A request that was not sent is not a fault of this one.
      if (error.details.unsent !== true) entry.isUnanswered = true;
      return false;
    }
    observe.failed(error);
    // A state that cannot be written will not take the next one either.
    return !isOfState(error);
  }

  async function run(signal: AbortSignal): Promise<{ readonly againInMs: number | undefined }> {
    await load();
    hasNew = false;
    for (const entry of listNext()) {
      if (hasNew || signal.aborted || !(await spool.hasRoom(bounds))) break;
      if (entry.retryAtTicks > clock.ticks()) continue;
      // Traces without a request never wait: a long queue of only these would keep out scrapes and signals.
      await clock.nextTurn();
      try {
        const source = await find(entry, signal);
        if (source === undefined) postpone(entry);
        else await seal(entry.pending, source);
      } catch (error) {
        if (signal.aborted || !noteFault(entry, error)) break;
      }
    }
    return { againInMs: waiting.size === 0 ? undefined : hasNew ? 0 : pendingRetryMs };
  }

  return { add, size: () => waiting.size, run };
}

type Waiting = {
  readonly pending: PendingTrace;
  /** When a question for it was answered first, by the seal clock. */
  sinceTicks: number | undefined;
  retryAtTicks: number;
  /** It was asked for, and no answer came. */
  isUnanswered: boolean;
};

/** By its name: this room knows of the state what it looks like, and no more. */
function isOfState(error: unknown): boolean {
  return error instanceof Error && error.name === 'StateError';
}

const pendingRetryMs = 5000;
const longestRetryMs = 60_000;
const faultRetryMs = 15_000;
