import { readFile } from 'node:fs/promises';
import type { Client } from '../api/client.ts';
import type { Config, ServerConfig } from '../config/config.ts';
import type { Clock } from '../domain/clock.ts';
import type { TracedRun } from '../executions/series/exemplars.ts';
import type { Log } from '../log.ts';
import type { Self } from '../metrics/self.ts';
import type { SpoolBounds } from '../state/spool.ts';
import type { State } from '../state/state.ts';
import { encodeTrace } from '../tracing/deliver/encode.ts';
import { createWait, type Wait } from '../tracing/deliver/pause.ts';
import { createPost } from '../tracing/deliver/post.ts';
import { createQuarantine, type Quarantine } from '../tracing/deliver/quarantine.ts';
import { secretsOf } from '../tracing/deliver/secrets.ts';
import { createSender, type SenderStatus } from '../tracing/deliver/sender.ts';
import type { OtlpSettings } from '../tracing/deliver/settings.ts';
import { createTraceCommitHook, type TraceCommitHook } from '../tracing/enrich/commit-hook.ts';
import { createEnricher, type Enricher } from '../tracing/enrich/enricher.ts';
import { createKeptPlans, type KeptPlans } from '../tracing/enrich/kept-plans.ts';
import { createEnrichLoop, type EnrichLoop } from '../tracing/enrich/loop.ts';
import { planTrace } from '../tracing/plan/plan-trace.ts';
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
  readonly ofServer: (
    server: ServerConfig,
    about: AboutServer,
  ) => { readonly commitHook: TraceCommitHook; readonly loop: EnrichLoop };
  /** The trace of one of the executions that ended last, as it was planned. */
  readonly planOf: KeptPlans['find'];
  readonly hasPlan: KeptPlans['has'];
  readonly delivery: () => Delivery;
  readonly quarantined: Quarantine;
  readonly start: () => void;
  /** Ends the request under way; what was not delivered stays in the spool. */
  readonly stop: () => Promise<void>;
};

/** The state of trace delivery. */
export type Delivery = SenderStatus & {
  /** The collector's host, and nothing else of its address: that may hold secrets. */
  readonly collector: string;
  /** Executions that were counted and have no trace yet. */
  readonly pending: number;
  /** The bounds of the queue, and of the quarantine next to it. */
  readonly bounds: SpoolBounds;
  readonly quarantineBounds: SpoolBounds;
};

type AboutServer = {
  readonly client: Client;
  /** The server's own time, once it is known. */
  readonly nowMs: () => number | undefined;
  /** Called with every trace that was planned. */
  readonly onTrace: (traced: TracedRun) => void;
};

/** From counted executions to delivered traces. */
export function createTraces(options: TracesOptions): Traces {
  const { config, otlp, state, self, log, clock, version, keptPlans = createKeptPlans() } = options;
  const { wait = createWait(clock) } = options;
  const { traces } = config;
  const plainPost = (options.toPost ?? createPost)({
    settings: otlp,
    readFile: (path) => readFile(path, 'utf8'),
    userAgent: `automation-exporter/${version}`,
    clock,
  });
  const post = options.selfTracing?.ofPost(plainPost) ?? plainPost;
  const bounds: SpoolBounds = { maxBytes: traces.spool.maxBytes, maxTraces: traces.spool.maxPending };
  const enrichers: Enricher[] = [];
  const numbers = toDeliveryObserver(self);
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

  return {
    ofServer: (server, about) => {
      const { name, timeoutMs } = server;
      const encoding = otlp.protocol === 'http/json' ? 'json' : 'protobuf';
      const toSettings = (epoch: number) => {
        const { release } = about.client.facts();
        return toTraceSettings(server, traces, { epoch, release, version, format: encoding });
      };
      const enricher = createEnricher({
        server: name,
        ledger: state.ledger,
        client: about.client,
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
          if (spans[0] !== undefined) about.onTrace({ run, traceId, spanId: spans[0].id });
        },
        onSpooled: sender.wake,
      });
      enrichers.push(enricher);
      const onFault = (error: unknown): void =>
        log.error({ server: name, error }, 'trace round failed, will be retried');
      const loop = createEnrichLoop(enricher, onFault, wait);
      const commitHook = createTraceCommitHook({
        nowMs: clock.now,
        serverNowMs: () => about.nowMs() ?? clock.now(),
        maxAgeMs: traces.maxAgeMs,
        room: () => traces.spool.maxPending - enricher.size(),
        onPending: (pending) => {
          enricher.add(pending);
          loop.wake();
        },
        skipped: (reason, executions) => self.tracesSkipped.inc({ server: name, reason }, executions),
      });
      return { commitHook, loop };
    },
    planOf: keptPlans.find,
    hasPlan: keptPlans.has,
    delivery: () => ({
      ...sender.status(),
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
        handled: (action, count) => log.warn({ action, traces: count }, 'quarantined traces changed on request'),
      },
    }),
    start: sender.start,
    stop: async () => {
      await sender.stop(stopLimitMs);
      post.close();
    },
  };
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
