import { setImmediate } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { BatchSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import { measureCost } from './cost.ts';
import type { SdkTask } from './sdk-delivery.ts';
import { makeSpans } from './sdk-spans.ts';
import { createSource, planExecution } from './trace-source.ts';

/** The number of traces for a flush; their spans must fit into the processor's queue. */
const tracesPerFlush = 40;
const tracesPerTurn = 10;

/** The SDK's batch processor and its exporter with their defaults, except for gzip. */
process.env['OTEL_EXPORTER_OTLP_COMPRESSION'] = 'gzip';
const trace = planExecution(createSource(10, 4), 1);
const exporter = new OTLPTraceExporter({ url: `${workerData as string}/v1/traces` });
const processor = new BatchSpanProcessor({ exporter });
const provider = new TracerProvider({ resource: resourceFromAttributes(trace.resource), spanProcessors: [processor] });
const tracer = provider.getTracer(trace.scope.name, trace.scope.version);

async function make(traces: number, isFlushing: boolean): Promise<void> {
  for (let done = 1; done <= traces; done += 1) {
    makeSpans(tracer, trace);
    if (done % tracesPerTurn === 0) await setImmediate();
    if (isFlushing && (done % tracesPerFlush === 0 || done === traces)) await processor.forceFlush();
  }
}

async function work({ traces, afterwards }: SdkTask): Promise<void> {
  await make(traces, afterwards === 'flush');
  // The processor drops spans that it cannot send.
  if (afterwards === 'end') await processor.shutdown().catch(() => undefined);
}

parentPort?.on('message', (task: SdkTask) => {
  void measureCost(() => work(task)).then((cost) => parentPort?.postMessage(cost));
});
