import { describe, expect, it } from 'vitest';
import { toSpanId, toTraceId } from '../../src/tracing/plan/ids.ts';
import { eventually } from '../support/eventually.ts';
import { accept, type Sink } from '../tracing/deliver/sink.ts';
import { watchExecutions } from './watch-executions.ts';

/** Starts a service and a daemon that sends traces; the test sets the collector's first responses. */
async function setUp(firstStatuses: readonly number[] = []) {
  const scene = await watchExecutions('web01', {
    jobs: ['settle'],
    answer: (response, _request, index) => {
      const status = firstStatuses[index];
      if (status === undefined) accept(response);
      else response.writeHead(status, { 'retry-after': '0' }).end();
    },
    toEnv: () => ({ OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json' }),
  });
  return { ...scene, job: scene.jobs[0] ?? '' };
}

function bodies({ requests }: Sink): string[] {
  return requests.map(({ body }) => body.toString('utf8'));
}

type SentSpan = {
  readonly traceId: string;
  readonly spanId: string;
  readonly name: string;
  readonly parentSpanId?: string;
};

function toSpans(bodies: readonly string[]): SentSpan[] {
  return bodies.flatMap((body) => {
    const { resourceSpans } = JSON.parse(body) as { resourceSpans: { scopeSpans: { spans: SentSpan[] }[] }[] };
    return resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans));
  });
}

describe('end-to-end/traces', () => {
  it('sends one trace of a counted execution', async () => {
    const { simulator, job, sink, daemon } = await setUp();
    simulator.control.runJob(job);
    simulator.advance(3_600_000);
    await eventually(async () => expect(toSpans(bodies(sink)).length).toBeGreaterThan(1));
    const spans = toSpans(bodies(sink));
    const [run] = simulator.truth().executions;
    const id = String(run?.id);

    expect(new Set(spans.map(({ traceId }) => traceId))).toEqual(new Set([toTraceId(simulator.url, id)]));
    expect(spans.find(({ name }) => name === 'RUN pay/nightly/settle')?.spanId).toBe(
      toSpanId(simulator.url, id, { kind: 'root' }),
    );
    await eventually(async () => {
      const metrics = await daemon.metrics();
      expect(metrics).toContain(`\nautomation_exporter_spans_exported_total ${spans.length}\n`);
      expect(metrics).toContain('\nautomation_exporter_traces_pending{server="prod"} 0\n');
      expect(metrics).toContain('\nautomation_exporter_spool_traces 0\n');
    });
  });

  it('sends the same bytes again to a collector that was not ready', async () => {
    const { simulator, job, sink } = await setUp([503, 503]);
    simulator.control.runJob(job);
    simulator.advance(3_600_000);
    await eventually(async () => expect(bodies(sink).length).toBe(3));

    expect(new Set(bodies(sink)).size).toBe(1);
  });

  it('counts executions even without their traces', async () => {
    const { simulator, job, sink, daemon } = await setUp();
    await sink.stop();
    simulator.control.configure({ statePending: 'all' });
    simulator.control.runJob(job);
    simulator.advance(3_600_000);
    await eventually(async () => {
      const metrics = await daemon.metrics();
      expect(metrics).toMatch(/automation_executions_total\{.*"settle",status="succeeded"\} 1\n/);
      expect(metrics).toContain('\nautomation_exporter_traces_pending{server="prod"} 1\n');
    });
  });
});
