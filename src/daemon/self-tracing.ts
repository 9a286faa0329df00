import { type Attributes, diag, type Span, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import {
  defaultResource,
  resourceAttributesEnvDetector,
  resourceFromAttributes,
  serviceNameEnvDetector,
} from '@opentelemetry/resources';
import { NodeSDK } from '@opentelemetry/sdk-node';
import type { Transport, TransportAnswer, TransportRequest } from '../api/wire/transport.ts';
import type { Log } from '../domain/log.ts';
import type { PollKey } from '../schedule/outcome.ts';
import type { Poll } from '../schedule/poll.ts';
import type { Post } from '../tracing/deliver/post.ts';

/** Spans of the exporter's own work. Spans never contain addresses or secrets. */
export type SelfTracing = ReturnType<typeof startSelfTracing>;

type SelfTracingOptions = { readonly version: string; readonly log: Log };

/** Starts OpenTelemetry's SDK, which reads its own variables. Import this file only if the variables are set. */
export function startSelfTracing({ version, log }: SelfTracingOptions) {
  toLog(log);
  const ours = resourceFromAttributes({ 'service.name': 'automation-exporter', 'service.version': version });
  const sdk = new NodeSDK({
    resource: defaultResource().merge(ours),
    // Attributes come from variables only. Attributes of the machine are not sent.
    resourceDetectors: [resourceAttributesEnvDetector, serviceNameEnvDetector],
    metricReaders: [],
    logRecordProcessors: [],
    textMapPropagator: null,
  });
  sdk.start();
  const tracer = trace.getTracer('automation-exporter', version);

  function inSpan<Result>(name: string, { kind, attributes }: About, work: (span: Span) => Promise<Result>) {
    return tracer.startActiveSpan(name, { kind, attributes }, async (span) => {
      try {
        return await work(span);
      } catch (error) {
        fail(span, toKind(error));
        throw error;
      } finally {
        span.end();
      }
    });
  }

  return {
    ofPoll: ({ server, member, collector }: PollKey, poll: Poll): Poll => ({
      ...poll,
      run: (signal) => {
        const attributes = { ...toKey(server, member), [named.collector]: collector };
        return inSpan(`poll ${collector}`, { kind: SpanKind.INTERNAL, attributes }, async (span) => {
          await poll.run(signal);
          const outcome = poll.last()?.outcome;
          if (outcome === undefined) return;
          span.setAttribute(named.result, outcome.result);
          if (outcome.result === 'failed') fail(span, outcome.kind);
        });
      },
    }),
    ofTransport: (server: string, transport: Transport): Transport => {
      function inRequest(method: string, { apiEndpoint }: TransportRequest, send: () => Promise<TransportAnswer>) {
        const attributes = { ...toKey(server), [named.endpoint]: apiEndpoint, [named.method]: method };
        return inSpan(`${method} ${apiEndpoint}`, { kind: SpanKind.CLIENT, attributes }, async (span) =>
          noteStatus(span, await send()),
        );
      }
      return {
        ...transport,
        get: (request) => inRequest('GET', request, () => transport.get(request)),
        postForm: (request) => inRequest('POST', request, () => transport.postForm(request)),
      };
    },
    ofPost: (post: Post): Post => ({
      ...post,
      send: (content, signal) => {
        const attributes = { [named.method]: 'POST', [named.size]: content.bytes.length };
        return inSpan('send traces', { kind: SpanKind.CLIENT, attributes }, async (span) =>
          noteStatus(span, await post.send(content, signal)),
        );
      },
    }),
    /** Sends pending spans, within the time limit of a stop. */
    stop: async (): Promise<void> => {
      // A collector that does not respond must not delay the stop.
      const limit = new Promise<void>((resolve) => void setTimeout(resolve, stopLimitMs).unref());
      await Promise.race([limit, sdk.shutdown().catch((error: unknown) => log.warn({ error }, unsent))]);
    },
  };
}

type About = { readonly kind: SpanKind; readonly attributes: Attributes };

const stopLimitMs = 2000;
const unsent = 'own traces not delivered';

const named = {
  server: 'automation.server.name',
  member: 'automation.server.member',
  collector: 'automation.exporter.collector',
  result: 'automation.exporter.result',
  endpoint: 'automation.exporter.api_endpoint',
  method: 'http.request.method',
  size: 'http.request.body.size',
  status: 'http.response.status_code',
  error: 'error.type',
} as const;

function toKey(server: string, member?: string): Attributes {
  return { [named.server]: server, ...(member === undefined ? {} : { [named.member]: member }) };
}

function noteStatus<Answer extends { readonly status: number }>(span: Span, answer: Answer): Answer {
  span.setAttribute(named.status, answer.status);
  if (answer.status >= 400) fail(span, String(answer.status));
  return answer;
}

function fail(span: Span, kind: string): void {
  span.setAttribute(named.error, kind);
  span.setStatus({ code: SpanStatusCode.ERROR });
}

/** Returns the kind of an error, because its message may contain secrets. */
function toKind(error: unknown): string {
  const { kind, name } = error as { readonly kind?: unknown; readonly name?: unknown };
  if (typeof kind === 'string') return kind;
  return typeof name === 'string' ? name : '_OTHER';
}

function toLog(log: Log): void {
  const say = (level: 'debug' | 'warn') => (message: string) => log[level]({ says: message }, 'OpenTelemetry');
  const [debug, warn] = [say('debug'), say('warn')];
  diag.setLogger({ error: warn, warn, info: debug, debug, verbose: debug });
}
