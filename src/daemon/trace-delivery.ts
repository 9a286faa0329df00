import { hash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { Change } from '../diagnosis/changes/deciding/change.ts';
import type { ToSpooled } from '../diagnosis/changes/kept-journal.ts';
import { scrub } from '../domain/secret.ts';
import type { SpoolBounds, SpooledSignal, SpooledTrace, TraceEncoding } from '../state/spool.ts';
import type { DeliveryStatus } from '../status/status.ts';
import { encodeLogs, encodeTrace } from '../tracing/deliver/encode.ts';
import { createPost } from '../tracing/deliver/post.ts';
import { createQuarantine } from '../tracing/deliver/quarantine.ts';
import { secretsOf } from '../tracing/deliver/secrets.ts';
import { createSender, type Sender } from '../tracing/deliver/sender.ts';
import type { OtlpSettings } from '../tracing/deliver/settings.ts';
import { dropReasons, hasRoomForLogs, type LineSending } from '../tracing/enrich/send-lines.ts';
import { toChangeRecords, toRecordIds } from '../tracing/plan/change-records.ts';
import type { Plan } from '../tracing/plan/plan-trace.ts';
import { toDeliveryObserver } from './instruments.ts';
import { keepsLines } from './server-settings.ts';
import type { ToDelivery, TracesOptions } from './trace-pipeline.ts';

/** Sends the spool to the OTLP endpoints. Traces and log records are sent independently, so that neither waits for the other. */
export const createDelivery: ToDelivery = (options, pending) => {
  const { state, otlp, log } = options;
  const encoding = toEncoding(otlp);
  const numbers = toDeliveryObserver(options.self);
  const sender = createSpoolSender(options, numbers, { signal: 'traces', settings: otlp });
  const ofLogs = otlp.logs && createSpoolSender(options, numbers, { signal: 'logs', settings: otlp.logs });
  const senders = [sender, ...(ofLogs === undefined ? [] : [ofLogs])];
  const wake = (): void => {
    for (const each of senders) each.wake();
  };
  const bounds = toSpoolBounds(options);
  return {
    spooling: {
      spool: state.spool,
      bounds,
      encoding,
      encode: ({ trace }: Plan) => encodeTrace(trace, encoding),
      lines:
        otlp.logs && keepsLines(options.config.diagnosis)
          ? toLineSending(options, toEncoding(otlp.logs), bounds)
          : undefined,
      onSpooled: wake,
    },
    eventsOf:
      otlp.logs && options.config.diagnosis.events
        ? (server) =>
            createToSpooled(server, options, { ...toLineSending(options, toEncoding(otlp.logs ?? otlp), bounds) })
        : undefined,
    status: () => ({
      ...sender.status(),
      failing: sender.status().failing ?? toFailingLogs(ofLogs?.status().failing),
      // The message has only the host, because the rest of the URL may contain secrets.
      collector: new URL(otlp.endpoint).host,
      pending: pending(),
      bounds,
      quarantineBounds,
    }),
    quarantined: createQuarantine({
      spool: state.spool,
      wake,
      observe: {
        ...numbers,
        handled: (action, count) => log.warn({ action, traces: count }, 'quarantined traces changed on request'),
      },
    }),
    wake,
    start: () => {
      for (const each of senders) each.start();
    },
    stop: async () => {
      await Promise.all(senders.map((each) => each.stop(stopLimitMs)));
    },
  };
};

function toFailingLogs(failing: DeliveryStatus['failing']): DeliveryStatus['failing'] {
  return failing && { ...failing, reason: `log records: ${failing.reason}`, what: 'Log records' };
}

function toLineSending(
  { state, self, config }: TracesOptions,
  encoding: TraceEncoding,
  bounds: SpoolBounds,
): LineSending {
  self.logLines.inc({ result: 'sent' }, 0);
  for (const reason of dropReasons) self.logLines.inc({ result: 'dropped', reason }, 0);
  return {
    spool: state.spool,
    bounds,
    encode: (records) => ({ encoding: `logs-${encoding}`, bytes: encodeLogs(records, encoding) }),
    maxBytesPerHour: config.diagnosis.logBytesPerHour,
    dropped: (reason, lines) => self.logLines.inc({ result: 'dropped', reason }, lines),
  };
}

/** Makes requests for the changes of each project and of the server. A new source of nodes may cause thousands of changes. */
function createToSpooled(
  server: string,
  { config, clock, version }: TracesOptions,
  { encode, dropped, ...shared }: LineSending,
): ToSpooled {
  const scope = { name: 'automation-exporter', version };
  return async (changes) => {
    if (changes.length === 0) return [];
    if (!(await hasRoomForLogs(shared))) {
      dropped('spool_full', changes.length);
      return [];
    }
    const projects = [...Map.groupBy(changes, ({ project }) => project)];
    return projects.flatMap(([project, all]) =>
      splitChanges(all).map((own): SpooledTrace => {
        const about = { server, service: config.traces.serviceName, scope, observedMs: clock.now() };
        const records = toChangeRecords(own, { ...about, project });
        return {
          // The key contains a hash, because a database can index only short keys.
          key: JSON.stringify([server, 'changes', project, hash('sha256', toRecordIds(records).join())]),
          server,
          executionId: 'changes',
          startedAtMs: Math.min(...own.map(({ beforeMs }) => beforeMs)),
          spooledAtMs: clock.now(),
          spans: own.length,
          ...encode(records),
        };
      }),
    );
  };
}

function splitChanges(changes: readonly Change[]): (readonly Change[])[] {
  const requests = Math.ceil(changes.length / maxChanges);
  return Array.from({ length: requests }, (_, at) => changes.slice(at * maxChanges, (at + 1) * maxChanges));
}

const maxChanges = 500;

function createSpoolSender(
  { state, version, clock, wait, log, selfTracing, toPost = createPost }: Parameters<ToDelivery>[0],
  numbers: ReturnType<typeof toDeliveryObserver>,
  { signal, settings }: { readonly signal: SpooledSignal; readonly settings: OtlpSettings },
): Sender {
  const words = wordsOf[signal];
  const plainPost = toPost({
    settings,
    readFile: (path) => readFile(path, 'utf8'),
    userAgent: `automation-exporter/${version}`,
    clock,
  });
  const post = selfTracing?.ofPost(plainPost) ?? plainPost;
  const sender = createSender({
    spool: state.spool,
    signal,
    post,
    clock,
    wait,
    // Messages of the backend are scrubbed here, because they are also stored, not only logged.
    scrub: (text) => scrub(text, secretsOf(settings)),
    quarantineBounds,
    observe: {
      ...numbers,
      warned: (message) => log.warn({ says: message }, `trace backend accepted ${words.plural} with a warning`),
      quarantine: ({ server, executionId }, reason, why) =>
        log.error(
          { server, execution: executionId, reason },
          `${words.single} quarantined: ${quarantinedBecause[why]}`,
        ),
      dropped: ({ server, executionId }) =>
        log.error({ server, execution: executionId }, 'quarantined trace dropped: quarantine is full'),
      request: () => undefined,
      failing: (reason) => log.warn({ reason }, `${words.delivery} failing: ${words.plural} are kept and retried`),
      recovered: () => log.info({}, `${words.delivery} recovered`),
    },
  });
  return {
    ...sender,
    stop: async (limitMs) => {
      await sender.stop(limitMs);
      post.close();
    },
  };
}

const wordsOf = {
  traces: { single: 'trace', plural: 'traces', delivery: 'trace delivery' },
  logs: { single: 'log records', plural: 'log records', delivery: 'delivery of log records' },
} as const;

function toEncoding({ protocol }: OtlpSettings): TraceEncoding {
  return protocol === 'http/json' ? 'json' : 'protobuf';
}

function toSpoolBounds({ config: { traces } }: TracesOptions): SpoolBounds {
  return { maxBytes: traces.spool.maxBytes, maxTraces: traces.spool.maxPending };
}

const quarantinedBecause = {
  refused: 'rejected by the trace backend',
  unanswered: 'no response, although other traces get one',
} as const;

const quarantineBounds: SpoolBounds = { maxBytes: 64 * 2 ** 20, maxTraces: 10_000 };
const stopLimitMs = 2000;
