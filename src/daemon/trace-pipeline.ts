import { readFile } from 'node:fs/promises';
import type { Client } from '../api/client.ts';
import type { Config, ServerConfig } from '../config/config.ts';
import type { Clock } from '../domain/clock.ts';
import type { CommitHook, TracingSide } from '../executions/trace-port.ts';
import type { Log } from '../log.ts';
import type { Self } from '../metrics/self.ts';
import type { SpoolBounds, TraceEncoding } from '../state/spool.ts';
import type { State } from '../state/state.ts';
import type { DeliveryStatus } from '../status/status.ts';
import { encodeTrace } from '../tracing/deliver/encode.ts';
import { createWait, type Wait } from '../tracing/deliver/pause.ts';
import { createPost } from '../tracing/deliver/post.ts';
import { createQuarantine, type Quarantine } from '../tracing/deliver/quarantine.ts';
import { secretsOf } from '../tracing/deliver/secrets.ts';
import { createSender, type Sender } from '../tracing/deliver/sender.ts';
import type { OtlpSettings } from '../tracing/deliver/settings.ts';
import { createTraceCommitHook } from '../tracing/enrich/commit-hook.ts';
import { createEnricher, type Enricher } from '../tracing/enrich/enricher.ts';
import { createKeptPlans, type KeptPlans } from '../tracing/enrich/kept-plans.ts';
import { createEnrichLoop, type EnrichLoop } from '../tracing/enrich/loop.ts';
import { planTrace } from '../tracing/plan/plan-trace.ts';
import type { TraceSettings } from '../tracing/plan/settings.ts';
import { toDeliveryObserver } from './instruments.ts';
import type { SelfTracing } from './self-tracing.ts';
import { toTraceSettings } from './trace-settings.ts';

export type TracesOptions = {
  readonly config: Pick<Config, 'traces'>;
  readonly otlp: OtlpSettings;
  readonly state: State;
  readonly self: Self;
  readonly log: Log;
  readonly clock: Clock;
  readonly version: string;
  /** The plans, for pages; kept over a reload. */
  readonly keptPlans?: KeptPlans;
  readonly selfTracing?: Pick<SelfTracing, 'ofPost'> | undefined;
  /** Carries the traces, if not a connection of our own. */
  readonly toPost?: typeof createPost | undefined;
  /** Waits, if not by the clock. */
  readonly wait?: Wait | undefined;
};

export type Traces = {
  /** Builds the pipeline of one server's executions; its loop runs until it is stopped. */
  readonly ofServer: (server: ServerConfig, joined: Joined) => ServerTraces;
  /** The trace of one of the executions that ended last, as it was planned. */
  readonly planOf: KeptPlans['find'];
  readonly hasPlan: KeptPlans['has'];
  readonly delivery: () => DeliveryStatus;
  readonly quarantined: Quarantine;
  readonly start: () => void;
  /** Ends the request under way; what was not delivered stays in the spool. */
  readonly stop: () => Promise<void>;
};

/** The half of tracing that a server's executions are given, and the loop that makes their traces. */
export type ServerTraces = { readonly commitHook: CommitHook; readonly loop: EnrichLoop };

/** The requests of tracing to a server, and its half of the port to the server's executions. */
export type Joined = { readonly client: Client; readonly port: TracingSide };

/** From counted executions to delivered traces: a pipeline for each server, and one delivery for all of them. */
export function createTraces(options: TracesOptions): Traces {
  const { keptPlans = createKeptPlans(), clock, otlp, state } = options;
  const shared = { ...options, keptPlans, wait: options.wait ?? createWait(clock), encoding: toEncoding(otlp) };
  const numbers = toDeliveryObserver(options.self);
  const { sender, close } = createDelivery(shared, numbers);
  const bounds = toSpoolBounds(options);
  const enrichers: Enricher[] = [];
  return {
    ofServer: (server, joined) => {
      const enricher = createServerEnricher(server, joined, { ...shared, bounds, onSpooled: sender.wake });
      enrichers.push(enricher);
      return joinEnricher(server, enricher, { ...shared, port: joined.port });
    },
    planOf: keptPlans.find,
    hasPlan: keptPlans.has,
    delivery: () => ({
      ...sender.status(),
      // The host, and nothing else of its address: that may hold secrets.
      collector: new URL(otlp.endpoint).host,
      pending: countPending(enrichers),
      bounds,
      quarantineBounds,
    }),
    quarantined: createQuarantine({
      spool: state.spool,
      wake: sender.wake,
      observe: {
        ...numbers,
        handled: (action, count) =>
          options.log.warn({ action, traces: count }, 'quarantined traces changed on request'),
      },
    }),
    start: sender.start,
    stop: async () => {
      await sender.stop(stopLimitMs);
      close();
    },
  };
}

type Shared = TracesOptions & {
  readonly keptPlans: KeptPlans;
  readonly wait: Wait;
  readonly encoding: TraceEncoding;
};

/** Sends the spool to the OTLP endpoint. */
function createDelivery(
  { state, otlp, version, clock, wait, log, selfTracing, toPost = createPost }: Shared,
  numbers: ReturnType<typeof toDeliveryObserver>,
): { readonly sender: Sender; readonly close: () => void } {
  const plainPost = toPost({
    settings: otlp,
    readFile: (path) => readFile(path, 'utf8'),
    userAgent: `automation-exporter/${version}`,
    clock,
  });
  const post = selfTracing?.ofPost(plainPost) ?? plainPost;
  const sender = createSender({
    spool: state.spool,
    post,
    clock,
    wait,
    // The log scrubs every known secret; what the collector says is kept, too.
    scrub: (text) => {
      let clean = text;
      for (const secret of secretsOf(otlp)) clean = clean.replaceAll(secret, '<secret>');
      return clean;
    },
    quarantineBounds,
    observe: {
      ...numbers,
      warned: (message) => log.warn({ says: message }, 'trace backend accepted traces with a warning'),
      quarantine: ({ server, executionId }, reason, why) =>
        log.error({ server, execution: executionId, reason }, quarantinedBecause[why]),
      dropped: ({ server, executionId }) =>
        log.error({ server, execution: executionId }, 'quarantined trace dropped: quarantine is full'),
      request: () => undefined,
      failing: (reason) => log.warn({ reason }, 'trace delivery failing: traces are kept and retried'),
      recovered: () => log.info({}, 'trace delivery recovered'),
    },
  });
  return { sender, close: post.close };
}

type ForEnricher = Shared & { readonly bounds: SpoolBounds; readonly onSpooled: () => void };

/** Makes the traces of one server's pending executions, and reports each to the server's executions. */
function createServerEnricher(server: ServerConfig, { client, port }: Joined, shared: ForEnricher): Enricher {
  const { config, state, self, log, clock, version, keptPlans, encoding, bounds, onSpooled } = shared;
  const { name, timeoutMs } = server;
  const { traces } = config;
  const toSettings = (epoch: number): TraceSettings => {
    const { release } = client.facts();
    return toTraceSettings(server, traces, { epoch, release, version, format: encoding });
  };
  return createEnricher({
    server: name,
    ledger: state.ledger,
    client,
    timeoutMs,
    spool: state.spool,
    bounds,
    encoding,
    detail: traces.detail,
    plan: (source, epoch) => planTrace(source, toSettings(epoch)),
    encode: ({ trace }) => encodeTrace(trace, encoding),
    sealTimeoutMs: traces.sealTimeoutMs,
    backlogAgeMs: Math.max(backlogAgeMs, 2 * traces.sealTimeoutMs),
    clock,
    observe: {
      pending: (pending) => self.tracesPending.set({ server: name }, pending),
      degraded: (reason) => self.tracesDegraded.inc({ server: name, reason }),
      skipped: (reason, executions) => self.tracesSkipped.inc({ server: name, reason }, executions),
      invalidCaller: () => self.traceparentInvalid.inc({ server: name }),
      failed: (error) => log.error({ server: name, error }, 'trace creation failed, will be retried'),
    },
    onPlan: (run, plan) => {
      keptPlans.keep(name, run.id, plan);
      const { traceId, spans } = plan.trace;
      if (spans[0] !== undefined) port.onTraced({ run, traceId, spanId: spans[0].id });
    },
    onSpooled,
  });
}

/** Runs an enricher in a loop, and hands it what the server's executions count. */
function joinEnricher(
  { name }: ServerConfig,
  enricher: Enricher,
  { config, self, log, clock, wait, port }: Shared & Pick<Joined, 'port'>,
): ServerTraces {
  const { maxAgeMs, spool } = config.traces;
  const onFault = (error: unknown): void => log.error({ server: name, error }, 'trace round failed, will be retried');
  const loop = createEnrichLoop(enricher, onFault, wait);
  const commitHook = createTraceCommitHook({
    nowMs: clock.now,
    serverNowMs: () => port.serverNowMs() ?? clock.now(),
    maxAgeMs,
    room: () => spool.maxPending - enricher.size(),
    onPending: (pending) => {
      enricher.add(pending);
      loop.wake();
    },
    skipped: (reason, executions) => self.tracesSkipped.inc({ server: name, reason }, executions),
  });
  return { commitHook, loop };
}

function toEncoding({ protocol }: OtlpSettings): TraceEncoding {
  return protocol === 'http/json' ? 'json' : 'protobuf';
}

function toSpoolBounds({ config: { traces } }: TracesOptions): SpoolBounds {
  return { maxBytes: traces.spool.maxBytes, maxTraces: traces.spool.maxPending };
}

function countPending(enrichers: readonly Enricher[]): number {
  let pending = 0;
  for (const enricher of enrichers) pending += enricher.size();
  return pending;
}

const quarantinedBecause = {
  refused: 'trace quarantined: rejected by the trace backend',
  unanswered: 'trace quarantined: no response although others get one',
} as const;

const quarantineBounds: SpoolBounds = { maxBytes: 64 * 2 ** 20, maxTraces: 10_000 };
/** The wait after which a trace is made without its steps. */
const backlogAgeMs = 3_600_000;
const stopLimitMs = 2000;
