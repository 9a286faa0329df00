import type { Client } from '../api/client.ts';
import type { Config, ServerConfig } from '../config/config.ts';
import type { ToSpooled } from '../diagnosis/changes/kept-journal.ts';
import { createDiagnoses } from '../diagnosis/lines/diagnoses.ts';
import { createScrub } from '../diagnosis/lines/scrub.ts';
import type { Clock } from '../domain/clock.ts';
import type { Cause, CauseKey, FailedRun } from '../domain/failure-class.ts';
import type { Log } from '../domain/log.ts';
import { createPause, finishInPieces } from '../domain/pause.ts';
import type { TracePort } from '../executions/trace-port.ts';
import type { Self } from '../metrics/self.ts';
import type { CommitHook } from '../state/ledger.ts';
import type { State } from '../state/state.ts';
import { toCause } from '../status/cause.ts';
import type { DeliveryStatus } from '../status/status.ts';
import { createWait, type Wait } from '../tracing/deliver/pause.ts';
import type { createPost } from '../tracing/deliver/post.ts';
import type { Quarantine } from '../tracing/deliver/quarantine.ts';
import type { Otlp } from '../tracing/deliver/settings.ts';
import { type Attempts, createAttempts } from '../tracing/enrich/attempts.ts';
import { createTraceCommitHook } from '../tracing/enrich/commit-hook.ts';
import { createEnricher, type Enricher, type EnricherOptions, type Spooling } from '../tracing/enrich/enricher.ts';
import { createKeptPlans, type KeptPlans } from '../tracing/enrich/kept-plans.ts';
import { createEnrichLoop, type EnrichLoop } from '../tracing/enrich/loop.ts';
import type { StepShift } from '../tracing/enrich/step-durations.ts';
import { planInPieces } from '../tracing/plan/plan-trace.ts';
import type { TraceSettings } from '../tracing/plan/settings.ts';
import type { SelfTracing } from './self-tracing.ts';
import { toTraceSettings } from './server-settings.ts';

export type TracesOptions = {
  readonly config: Pick<Config, 'traces' | 'diagnosis'>;
  readonly otlp: Otlp;
  readonly state: State;
  readonly self: Self;
  readonly log: Log;
  readonly clock: Clock;
  readonly version: string;
  /** The plans for pages, which are kept across reloads. */
  readonly keptPlans?: KeptPlans;
  readonly selfTracing?: Pick<SelfTracing, 'ofPost'> | undefined;
  /** Sends the traces; undefined if only pages show them. */
  readonly toDelivery: ToDelivery | undefined;
  /** Replaces the exporter's own connection in tests. */
  readonly toPost?: typeof createPost | undefined;
  /** Replaces the waits of the clock in tests. */
  readonly wait?: Wait | undefined;
};

/** Creates the delivery of the spool. `pending` returns how many executions have no trace yet. */
export type ToDelivery = (options: TracesOptions & { wait: Wait }, pending: () => number) => Delivery;

export type Delivery = {
  readonly spooling: Spooling;
  /** Makes the events for the changes of a server; undefined if no events are sent. */
  readonly eventsOf: ((server: string) => ToSpooled) | undefined;
  readonly status: () => DeliveryStatus;
  readonly quarantined: Quarantine;
  readonly wake: () => void;
  readonly start: () => void;
  /** Ends the request in progress. Undelivered traces stay in the spool. */
  readonly stop: () => Promise<void>;
};

export type Traces = ReturnType<typeof createTraces>;

/** The parts of tracing that the executions of a server need, and the loop that makes their traces. */
type ServerTraces = { readonly commitHook: CommitHook; readonly loop: EnrichLoop };

/** The parts of a server that tracing needs. */
export type Joined = {
  readonly client: Client;
  readonly port: Pick<TracePort, 'failures' | 'serverNowMs' | 'onTraced'>;
  /** Lists the changes before a failure, most likely cause first. */
  readonly suspectsOf: EnricherOptions['suspectsOf'];
};

/** Turns counted executions into delivered traces, or only into pages. Each server has a pipeline, and all share one delivery. */
export function createTraces(options: TracesOptions) {
  const { keptPlans = createKeptPlans(), clock, toDelivery } = options;
  const shared = { ...options, keptPlans, wait: options.wait ?? createWait(clock) };
  const enrichers = new Map<string, Enricher>();
  const delivery = toDelivery?.(shared, () => countPending([...enrichers.values()]));
  return {
    /** Builds the pipeline for the executions of one server. The loop of the pipeline runs until it is stopped. */
    ofServer: (server: ServerConfig, joined: Joined): ServerTraces => {
      const attempts = createAttempts();
      const enricher = createServerEnricher(server, joined, { ...shared, attempts, spooling: delivery?.spooling });
      enrichers.set(server.name, enricher);
      return joinEnricher(server, enricher, { ...shared, attempts, port: joined.port, isSent: delivery !== undefined });
    },
    eventsOf: (server: string): ToSpooled | undefined => delivery?.eventsOf?.(server),
    planOf: keptPlans.find,
    hasPlan: keptPlans.has,
    /** Returns the cause of an execution that did not succeed, even after its trace was removed. */
    causeOf: (server: string, run: CauseKey): Cause | undefined => enrichers.get(server)?.causeOf(run),
    failureOf: (server: string, id: number) => enrichers.get(server)?.failureOf(id),
    lastFailureOf: (server: string, job: string): FailedRun | undefined => enrichers.get(server)?.lastFailureOf(job),
    stepShiftsOf: (server: string, job: string): readonly StepShift[] => enrichers.get(server)?.stepShiftsOf(job) ?? [],
    delivery: (): DeliveryStatus | undefined => delivery?.status(),
    quarantined: delivery?.quarantined,
    /** Removes pending traces of a server that is no longer watched. */
    forget: (server: string) => enrichers.delete(server),
    /** Call when another process may have added traces to the spool. */
    wake: () => delivery?.wake(),
    start: () => delivery?.start(),
    stop: async (): Promise<void> => delivery?.stop(),
  };
}

type Shared = TracesOptions & { readonly keptPlans: KeptPlans; readonly wait: Wait };

type OfServer = Shared & { readonly attempts: Attempts };

type ForEnricher = OfServer & { readonly spooling: Spooling | undefined };

/** Makes the traces of the pending executions of one server, and reports each trace to the room of executions. */
function createServerEnricher(
  server: ServerConfig,
  { client, port, suspectsOf }: Joined,
  shared: ForEnricher,
): Enricher {
  const { config, state, self, log, clock, version, keptPlans, attempts, spooling } = shared;
  const { name, timeoutMs } = server;
  const { traces, diagnosis } = config;
  const logsOf = toLogsOf(diagnosis);
  const toSettings = (epoch: number): TraceSettings => {
    const { release } = client.facts();
    return toTraceSettings(server, traces, { epoch, release, version, format: spooling?.encoding ?? 'protobuf' });
  };
  return createEnricher({
    server: name,
    ledger: state.ledger,
    client,
    timeoutMs,
    spooling,
    detail: traces.detail,
    attempts,
    plan: (source, epoch) => finishInPieces(planInPieces(source, toSettings(epoch)), createPause(clock)),
    sealTimeoutMs: traces.sealTimeoutMs,
    backlogAgeMs: Math.max(backlogAgeMs, 2 * traces.sealTimeoutMs),
    clock,
    observe: {
      pending: (pending) => self.tracesPending.set({ server: name }, pending),
      degraded: (reason) => self.tracesDegraded.inc({ server: name, reason }),
      skipped: (reason, executions) => self.tracesSkipped.inc({ server: name, reason }, executions),
      invalidCaller: () => self.traceparentInvalid.inc({ server: name }),
      failed: (error) => log.error({ server: name, error }, 'trace creation failed, will be retried'),
      redacted: (secrets) => self.logRedactions.inc({ server: name }, secrets),
    },
    isDiagnosed: diagnosis.enabled,
    failures: port.failures,
    diagnoses: diagnosis.enabled ? createDiagnoses(createScrub(diagnosis.redact.matches)) : undefined,
    logsOf,
    suspectsOf,
    toCause: (run, plan, seen) => toCause(plan, run, { isSent: spooling !== undefined, seen }),
    onPlan: (run, plan) => {
      keptPlans.keep(name, run.id, plan);
      const { traceId, spans } = plan.trace;
      // An exemplar must lead to a trace, so only sent traces get one.
      if (spooling !== undefined && spans[0] !== undefined) port.onTraced({ run, traceId, spanId: spans[0].id });
    },
  });
}

function toLogsOf({ logs, overrides }: Config['diagnosis']): EnricherOptions['logsOf'] {
  return (project) => overrides.find(({ match }) => match.matches(project))?.logs ?? logs;
}

/** Runs an enricher in a loop, and passes the counted executions to it. */
function joinEnricher(
  { name }: ServerConfig,
  enricher: Enricher,
  { config, self, log, clock, wait, attempts, port, isSent }: OfServer & Pick<Joined, 'port'> & { isSent: boolean },
): ServerTraces {
  const { maxAgeMs, spool } = config.traces;
  const onFault = (error: unknown): void => log.error({ server: name, error }, 'trace round failed, will be retried');
  const loop = createEnrichLoop(enricher, onFault, wait);
  const commitHook = createTraceCommitHook({
    attempts,
    nowMs: clock.now,
    serverNowMs: () => port.serverNowMs() ?? clock.now(),
    maxAgeMs,
    room: () => (isSent ? spool.maxPending : Math.min(spool.maxPending, maxForPages)) - enricher.size(),
    failures: config.diagnosis.enabled ? port.failures : undefined,
    onPending: (...pending) => {
      enricher.add(...pending);
      loop.wake();
    },
    skipped: (reason, executions) => self.tracesSkipped.inc({ server: name, reason }, executions),
  });
  return { commitHook, loop };
}

/** The maximum number of executions that wait for their steps if only pages show traces. Pages show no more executions. */
const maxForPages = 1000;

function countPending(enrichers: readonly Enricher[]): number {
  let pending = 0;
  for (const enricher of enrichers) pending += enricher.size();
  return pending;
}

/** How long a trace waits for its steps. */
const backlogAgeMs = 3_600_000;
