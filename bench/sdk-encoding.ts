import { parentPort, workerData } from 'node:worker_threads';
import { ProtobufTraceSerializer } from '@opentelemetry/otlp-transformer';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { type ReadableSpan, TracerProvider } from '@opentelemetry/sdk-trace';
import { makeSpans } from './sdk-spans.ts';
import { createSource, planExecution } from './trace-source.ts';

/** A thread that encodes with the SDK: each message starts a round, and the answer is the number of encoded spans. */
const { steps, nodes, spansARound } = workerData as Readonly<Record<'steps' | 'nodes' | 'spansARound', number>>;
const trace = planExecution(createSource(steps, nodes), 1);
let ended: ReadableSpan[] = [];
const provider = new TracerProvider({
  resource: resourceFromAttributes(trace.resource),
  spanProcessors: [
    {
      onStart: () => undefined,
      onEnd: (span) => void ended.push(span),
      forceFlush: async () => undefined,
      shutdown: async () => undefined,
    },
  ],
});
const tracer = provider.getTracer(trace.scope.name, trace.scope.version);

parentPort?.on('message', () => {
  let spans = 0;
  while (spans < spansARound) {
    ended = [];
    makeSpans(tracer, trace);
    ProtobufTraceSerializer.serializeRequest(ended);
    spans += ended.length;
  }
  parentPort?.postMessage(spans);
});
