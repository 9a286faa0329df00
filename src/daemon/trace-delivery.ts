import { readFile } from 'node:fs/promises';
import type { SpoolBounds, TraceEncoding } from '../state/spool.ts';
import { encodeTrace } from '../tracing/deliver/encode.ts';
import { createPost } from '../tracing/deliver/post.ts';
import { createQuarantine } from '../tracing/deliver/quarantine.ts';
import { secretsOf } from '../tracing/deliver/secrets.ts';
import { createSender, type Sender } from '../tracing/deliver/sender.ts';
import type { OtlpSettings } from '../tracing/deliver/settings.ts';
import type { Plan } from '../tracing/plan/plan-trace.ts';
import { toDeliveryObserver } from './instruments.ts';
import type { ToDelivery, TracesOptions } from './trace-pipeline.ts';

/** Sends the spool to the OTLP endpoint. */
export const createDelivery: ToDelivery = (options, pending) => {
  const { state, otlp, log } = options;
  const encoding = toEncoding(otlp);
  const numbers = toDeliveryObserver(options.self);
  const { sender, close } = createSpoolSender(options, numbers);
  const bounds = toSpoolBounds(options);
  return {
    spooling: {
      spool: state.spool,
      bounds,
      encoding,
      encode: ({ trace }: Plan) => encodeTrace(trace, encoding),
      onSpooled: sender.wake,
    },
    status: () => ({
      ...sender.status(),
      // Only the host: the rest of the address may hold secrets.
      collector: new URL(otlp.endpoint).host,
      pending: pending(),
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
    wake: sender.wake,
    start: sender.start,
    stop: async () => {
      await sender.stop(stopLimitMs);
      close();
    },
  };
};

function createSpoolSender(
  { state, otlp, version, clock, wait, log, selfTracing, toPost = createPost }: Parameters<ToDelivery>[0],
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
    // The log removes every known secret; messages of the backend are also stored.
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

function toEncoding({ protocol }: OtlpSettings): TraceEncoding {
  return protocol === 'http/json' ? 'json' : 'protobuf';
}

function toSpoolBounds({ config: { traces } }: TracesOptions): SpoolBounds {
  return { maxBytes: traces.spool.maxBytes, maxTraces: traces.spool.maxPending };
}

const quarantinedBecause = {
  refused: 'trace quarantined: rejected by the trace backend',
  unanswered: 'trace quarantined: no response although others get one',
} as const;

const quarantineBounds: SpoolBounds = { maxBytes: 64 * 2 ** 20, maxTraces: 10_000 };
const stopLimitMs = 2000;
