import type { Client } from '../../api/client.ts';
import { ApiError } from '../../api/errors.ts';
import type { Clock } from '../../domain/clock.ts';
import type { SpanSource } from '../../domain/span-source.ts';
import type { Ledger } from '../../state/ledger.ts';
import type { Spool, SpoolBounds, TraceEncoding } from '../../state/spool.ts';
import type { Detail } from '../detail.ts';
import type { Plan } from '../plan.ts';
import { type Gathered, gather, toBareExecution } from './gather.ts';
import { toLine } from './line.ts';
import { type PendingTrace, readPending, toForgetting, toPendingKey } from './pending.ts';
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
  /** Ids tell nothing without the epoch they were given in. */
  readonly plan: (source: SpanSource, epoch: number) => Plan | undefined;
  readonly encode: (plan: Plan) => Uint8Array;
  /** A state that is still on its way after so long is not waited for any longer. */
  readonly sealTimeoutMs: number;
  /** What has waited for longer gets no steps, so that what comes after it may. */
  readonly backlogAgeMs: number;
  readonly clock: Clock;
  readonly observe: EnricherObserver;
  /** Told of every plan, for pages. */
  readonly onPlan: (pending: PendingTrace, plan: Plan) => void;
  /** Told when something was spooled. */
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
  const waiting = new Map<string, PendingTrace>();
  const retryAtTicks = new Map<string, number>();
  const unanswered = new Set<string>();
  const workflows = createWorkflows(clock.ticks);
  /** Of attempts that were followed by another: who comes before whom. */
  const previousAttempts = new Map<string, number>();
  let isLoaded = false;
  /** Whoever came since the line was made may be more urgent than the next in it. */
  let hasNew = false;

  function add(pending: readonly PendingTrace[]): void {
    for (const each of pending) waiting.set(toPendingKey(each), each);
    hasNew ||= pending.length > 0;
    observe.pending(waiting.size);
  }

  async function load(): Promise<void> {
    if (isLoaded) return;
    add(readPending(await ledger.load(server)));
    isLoaded = true;
  }

  function isLate({ seenAtMs }: PendingTrace): boolean {
    return clock.now() - seenAtMs > options.backlogAgeMs;
  }

  /** A few that the server never answers must not hold up all others: they are asked for again after these. */
  function listNext(): readonly PendingTrace[] {
    const line = toLine(waiting.values(), isLate);
    if (unanswered.size === 0) return line;
    const isBehind = (pending: PendingTrace): boolean => unanswered.has(toPendingKey(pending)) && !isLate(pending);
    return [...line.filter((pending) => !isBehind(pending)), ...line.filter(isBehind)];
  }

  /** What is known of one by now; undefined while its state is worth waiting for. */
  async function find(pending: PendingTrace, signal: AbortSignal): Promise<SpanSource | undefined> {
    if (isLate(pending)) return { execution: toBareExecution(pending), degraded: 'backlog' };
    const isOverdue = clock.now() - pending.seenAtMs > options.sealTimeoutMs;
    const api = client.within({ lane: 'enrichment', forMs: timeoutMs, signal });
    const { source, isPending }: Gathered = await gather(api, pending, { detail, workflows }).catch(
      (error: unknown) => {
        // The server answers, and never with this one.
        if (!isOverdue || !(error instanceof ApiError) || error.details.status === undefined) throw error;
        return { source: { execution: toBareExecution(pending) }, isPending: true };
      },
    );
    if (!isPending) return source;
    return isOverdue ? { ...source, degraded: 'seal_timeout' } : undefined;
  }

  async function seal(pending: PendingTrace, found: SpanSource): Promise<void> {
    const { nextAttemptId } = found.execution;
    const { id, epoch } = pending;
    if (nextAttemptId !== undefined) remember(previousAttempts, `${epoch} ${nextAttemptId}`, id);
    const source = { ...found, previousAttemptId: previousAttempts.get(`${epoch} ${id}`) };
    const plan = options.plan(source, epoch);
    const key = toPendingKey(pending);
    const documents = [toForgetting(pending)];
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
    waiting.delete(key);
    retryAtTicks.delete(key);
    unanswered.delete(key);
    observe.pending(waiting.size);
  }

  async function run(signal: AbortSignal): Promise<{ readonly againInMs: number | undefined }> {
    await load();
    hasNew = false;
    for (const pending of listNext()) {
      if (hasNew || signal.aborted || !(await spool.hasRoom(bounds))) break;
      const key = toPendingKey(pending);
      if ((retryAtTicks.get(key) ?? 0) > clock.ticks()) continue;
      // What asks nothing waits for nothing: a long line of that alone would keep out scrapes and signals.
      await clock.nextTurn();
      try {
        const source = await find(pending, signal);
        if (source === undefined) retryAtTicks.set(key, clock.ticks() + pendingRetryMs);
        else await seal(pending, source);
      } catch (error) {
        if (signal.aborted) break;
        retryAtTicks.set(key, clock.ticks() + faultRetryMs);
        // A server that does not answer this one will not answer the next.
        if (error instanceof ApiError) {
          // What was held back says nothing about this one.
          if (error.details.unsent !== true) unanswered.add(key);
          break;
        }
        observe.failed(error);
        // Nor will a state that can not be written take the next: asking for it would be in vain.
        if (isOfState(error)) break;
      }
    }
    return { againInMs: waiting.size === 0 ? undefined : hasNew ? 0 : pendingRetryMs };
  }

  return { add, size: () => waiting.size, run };
}

/** By its name: this room knows of the state what it looks like, and no more. */
function isOfState(error: unknown): boolean {
  return error instanceof Error && error.name === 'StateError';
}

const pendingRetryMs = 5000;
const faultRetryMs = 15_000;
const mostAttempts = 10_000;

function remember(attempts: Map<string, number>, next: string, previous: number): void {
  attempts.set(next, previous);
  const [oldest] = attempts.keys();
  if (attempts.size > mostAttempts && oldest !== undefined) attempts.delete(oldest);
}
