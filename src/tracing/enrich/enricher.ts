import type { Client } from '../../api/client.ts';
import { ApiError } from '../../api/errors.ts';
import type { Diagnoses, Diagnosis } from '../../diagnosis/lines/diagnoses.ts';
import type { Read } from '../../diagnosis/lines/step-log.ts';
import type { Clock } from '../../domain/clock.ts';
import type { Cause, FailureClass, FirstCause, Seen } from '../../domain/failure-class.ts';
import { toJobPath } from '../../domain/job.ts';
import type { SpanSource } from '../../domain/span-source.ts';
import type { Ledger } from '../../state/ledger.ts';
import type { Spool, SpoolBounds, SpooledTrace, TraceEncoding } from '../../state/spool.ts';
import type { Detail } from '../plan/detail.ts';
import { describeRoot, type Plan } from '../plan/plan-trace.ts';
import type { Attempts } from './attempts.ts';
import { type Causes, createCauses, createLookup } from './causes.ts';
import type { FailedRuns } from './commit-hook.ts';
import { createWorkflows, gather, toBareExecution } from './gather.ts';
import { type PendingTrace, readPending, toForgetting, toPendingKey } from './pending.ts';
import { readStep } from './read-step.ts';
import { createSendLines, type LineSending } from './send-lines.ts';
import { createStepDurations, type StepDurations } from './step-durations.ts';
import { createWaitingTraces, pendingRetryMs, type Waiting, type WaitingTraces } from './waiting-traces.ts';

type EnricherObserver = {
  readonly pending: (traces: number) => void;
  readonly degraded: (reason: NonNullable<SpanSource['degraded']>) => void;
  readonly skipped: (reason: 'no_trace', executions: number) => void;
  readonly invalidCaller: () => void;
  /** Called with an error of the exporter itself; the trace is tried again. */
  readonly failed: (error: unknown) => void;
  readonly redacted: (secrets: number) => void;
};

export type EnricherOptions = {
  readonly server: string;
  readonly ledger: Ledger;
  readonly client: Client;
  readonly timeoutMs: number;
  /** The spooling of traces; undefined if traces are made only for pages. */
  readonly spooling: Spooling | undefined;
  readonly detail: Detail;
  /** The links of attempts. The links are recorded with the counted runs; the enricher loads the links. */
  readonly attempts: Attempts;
  /** Plans the trace of an execution. The epoch is needed because ids are unique only within an epoch. */
  readonly plan: (source: SpanSource, epoch: number) => Promise<Plan | undefined>;
  /** The maximum wait for a state that the server is still writing. */
  readonly sealTimeoutMs: number;
  /** The maximum wait for steps, including restarts. An older trace gets no steps, so that other traces get steps. */
  readonly backlogAgeMs: number;
  readonly clock: Clock;
  readonly observe: EnricherObserver;
  readonly isDiagnosed: boolean;
  /** Recognizes failures by their logs; undefined if no logs are read. */
  readonly diagnoses: Pick<Diagnoses, 'load' | 'note' | 'refresh'> | undefined;
  /** Returns what to keep of the logs of failures in a project. */
  readonly logsOf: (project: string) => 'none' | 'fingerprint' | 'lines';
  /** Lists what changed before a failure, most likely cause first. */
  readonly suspectsOf: (
    run: PendingTrace,
    failure: { readonly failureClass: FailureClass; readonly seen: Seen | undefined },
  ) => Promise<readonly string[]>;
  readonly failures: FailedRuns;
  /** Returns the part of a plan that is kept over restarts; undefined for a successful execution. */
  readonly toCause: (pending: PendingTrace, plan: Plan, seen: Seen | undefined) => Cause | undefined;
  /** Called with each plan, for pages. */
  readonly onPlan: (pending: PendingTrace, plan: Plan) => void;
};

export type Spooling = {
  readonly spool: Pick<Spool, 'hasRoom'>;
  readonly bounds: SpoolBounds;
  readonly encoding: TraceEncoding;
  readonly encode: (plan: Plan) => Uint8Array;
  /** Sends the log lines of failures; undefined if only pages show them. */
  readonly lines?: LineSending | undefined;
  readonly onSpooled: () => void;
};

export type Enricher = {
  /** Adds executions that were counted and committed. */
  readonly add: WaitingTraces['add'];
  readonly size: () => number;
  readonly causeOf: Causes['of'];
  readonly failureOf: Causes['failureOf'];
  readonly lastFailureOf: Causes['lastFailureOf'];
  readonly stepShiftsOf: StepDurations['shiftsOf'];
  /** Makes all traces that can be made now. Resolves to the time until the next call. */
  readonly run: (signal: AbortSignal) => Promise<{ readonly againInMs: number | undefined }>;
};

/** Commit 2 of the life of an execution: adds the steps to a pending trace and moves it to the spool, or only to a page. */
export function createEnricher(options: EnricherOptions): Enricher {
  const { server, ledger, spooling, attempts, clock, observe } = options;
  const waiting = createWaitingTraces(options);
  const find = createFind(options, waiting);
  const causes = createCauses();
  const steps = createStepDurations();
  const seal = createSeal(options, { causes, steps });
  let isLoaded = false;

  const add: Enricher['add'] = (pending, listed) => {
    waiting.add(pending, listed);
    observe.pending(waiting.size());
  };

  async function load(): Promise<void> {
    if (isLoaded) return;
    const documents = await ledger.load(server);
    attempts.load(documents);
    causes.load(documents);
    steps.load(documents);
    options.failures.loadFirst(documents);
    options.diagnoses?.load(documents);
    add(readPending(documents));
    isLoaded = true;
  }

  const hasRoom = async (): Promise<boolean> => (await spooling?.spool.hasRoom(spooling.bounds)) ?? true;

  async function makeTrace(entry: Waiting, signal: AbortSignal): Promise<void> {
    const source = await find(entry, signal);
    if (source === undefined) {
      waiting.postpone(entry);
      return;
    }
    await seal(entry.pending, source);
    waiting.remove(entry.pending);
    observe.pending(waiting.size());
  }

  /** Returns true if other executions should be tried after the error. */
  function noteFault(entry: Waiting, error: unknown): boolean {
    // A server without a response will not respond for the next execution.
    if (error instanceof ApiError) {
      waiting.noteApiFault(entry, error);
      return false;
    }
    waiting.postponeAfterFault(entry);
    observe.failed(error);
    // If the state cannot be written now, the next write fails too.
    return !isOfState(error);
  }

  async function run(signal: AbortSignal): Promise<{ againInMs: number | undefined }> {
    await load();
    for (const entry of waiting.inOrder()) {
      if (waiting.hasNew() || signal.aborted || !(await hasRoom())) break;
      if (!waiting.isDue(entry)) continue;
      // Without this pause, many consecutive traces that need no request would block scrapes.
      await clock.nextTurn();
      try {
        await makeTrace(entry, signal);
      } catch (error) {
        if (signal.aborted || !noteFault(entry, error)) break;
      }
    }
    return { againInMs: waiting.size() === 0 ? undefined : waiting.hasNew() ? 0 : pendingRetryMs };
  }

  const found = createLookup(causes, options.diagnoses);
  return { add, size: waiting.size, ...found, stepShiftsOf: steps.shiftsOf, run };
}

/** Reads the parts of one execution. Returns undefined if more parts may follow later. */
function createFind(options: EnricherOptions, waiting: WaitingTraces) {
  const { client, timeoutMs, detail, attempts, clock } = options;
  const wanted = { detail, isDiagnosed: options.isDiagnosed, workflows: createWorkflows(clock.ticks) };

  return async (entry: Waiting, signal: AbortSignal): Promise<SpanSource | undefined> => {
    const { pending } = entry;
    if (waiting.isLate(pending)) return { execution: toBareExecution(pending), degraded: 'backlog' };
    const isLastTry = waiting.isLastTry(entry);
    const api = client.within({ lane: 'enrichment', forMs: timeoutMs, signal });
    const { source, isPending } = await gather(api, pending, {
      ...wanted,
      listed: waiting.listedOf(entry),
      readsLogs: options.diagnoses !== undefined && options.logsOf(pending.project) !== 'none',
      isLastTry,
    });
    waiting.noteAnswer(entry);
    if (isPending) return isLastTry ? { ...source, degraded: 'seal_timeout' } : undefined;
    return isLastTry || attempts.isComplete(pending) ? source : undefined;
  };
}

/** Moves the trace of an execution from pending to the spool, in one transaction. */
function createSeal(options: EnricherOptions, { causes, steps }: { causes: Causes; steps: StepDurations }) {
  const { server, ledger, spooling, attempts, clock, observe } = options;
  const sendLines = spooling?.lines && createSendLines(spooling.lines, clock);
  const diagnose = createDiagnose(options);

  function toSpooled(pending: PendingTrace, ...more: readonly string[]) {
    return {
      key: JSON.stringify([server, toPendingKey(pending), ...more]),
      server,
      executionId: String(pending.id),
      startedAtMs: pending.startedAtMs,
      spooledAtMs: clock.now(),
    };
  }

  function toSpooledTrace(pending: PendingTrace, plan: Plan, { encoding, encode }: Spooling): SpooledTrace {
    return { ...toSpooled(pending), encoding, spans: plan.trace.spans.length, bytes: encode(plan) };
  }

  async function listSuspects(pending: PendingTrace, failure: FirstCause | undefined, seen: Seen | undefined) {
    return failure === undefined ? [] : options.suspectsOf(pending, { failureClass: failure.failureClass, seen });
  }

  return async (pending: PendingTrace, found: SpanSource): Promise<void> => {
    const source = { ...found, previousAttemptId: attempts.previousOf(pending) };
    const planned = await options.plan(source, pending.epoch);
    const diagnosis = await diagnose(pending, planned, found);
    const { seen, kept } = diagnosis ?? {};
    const isLate = found.degraded === 'backlog' || found.degraded === 'seal_timeout';
    const suspects = isLate ? [] : await listSuspects(pending, planned?.failure, seen);
    const described = planned && describeRoot(planned, { seen, suspects });
    const plan = described && kept ? { ...described, lines: kept.lines } : described;
    const lines = plan && kept && (await sendLines?.(plan, kept));
    const forgotten = attempts.forget(pending);
    const cause = causes.note(pending, plan && options.toCause(pending, plan, seen));
    const failure = options.failures.settle(
      pending,
      plan?.failure?.failureClass ?? 'unread',
      seen && { fingerprint: seen.fingerprint, isNew: seen.firstMs >= pending.endedAtMs, beforeMs: seen.beforeMs },
    );
    const durations = steps.note(pending, found);
    const documents = [
      toForgetting(pending),
      ...forgotten.documents,
      ...cause.documents,
      ...failure.documents,
      ...durations.documents,
      ...(diagnosis?.documents ?? []),
    ];
    if (plan === undefined) {
      await ledger.commit(server, { documents });
      observe.skipped('no_trace', 1);
    } else {
      const spooled = spooling === undefined ? [] : [toSpooledTrace(pending, plan, spooling)];
      if (lines?.sent !== undefined) spooled.push({ ...toSpooled(pending, 'lines'), ...lines.sent });
      await ledger.commit(server, { documents, spooled });
      if (plan.caller === 'invalid') observe.invalidCaller();
      if (found.degraded !== undefined) observe.degraded(found.degraded);
      options.onPlan(pending, plan);
      spooling?.onSpooled();
    }
    forgotten.done();
    cause.done();
    failure.done();
    durations.done();
    diagnosis?.done();
    lines?.done();
    if (kept !== undefined) observe.redacted(kept.removed);
  };
}

/** Recognizes a failure by its log and chooses the lines to keep. Of a long log, reads the lines of the failed step too. */
function createDiagnose({ client, timeoutMs, diagnoses, logsOf }: EnricherOptions) {
  async function readMore(id: number, cause: FirstCause, logBytes: number): Promise<Read> {
    const api = client.within({ lane: 'enrichment', forMs: timeoutMs });
    return { isCut: true, step: await readStep(api, id, cause, logBytes) };
  }

  return async (
    { id, project, job, endedAtMs }: PendingTrace,
    plan: Plan | undefined,
    { log, cutLogBytes }: SpanSource,
  ): Promise<Diagnosis | undefined> => {
    if (plan?.failure === undefined || job?.name === undefined || log === undefined) return undefined;
    const path = toJobPath({ project, group: job.group, name: job.name });
    const keepsLines = logsOf(project) === 'lines';
    const read = keepsLines && cutLogBytes !== undefined ? await readMore(id, plan.failure, cutLogBytes) : {};
    return diagnoses?.note({ job: path, jobId: job.id, endedAtMs, keepsLines, read }, plan.failure, log);
  };
}

/** The error is compared by name, because this room must not import the state. */
function isOfState(error: unknown): boolean {
  return error instanceof Error && error.name === 'StateError';
}
