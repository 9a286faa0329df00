import { describe, expect, it, onTestFinished } from 'vitest';
import { startSimulator } from '../../simulator/simulator.ts';
import { toSpanId, toTraceId } from '../../src/tracing/plan/ids.ts';
import { startDaemon } from '../support/daemon.ts';
import { eventually } from '../support/eventually.ts';
import { accept, type Sink, startSink } from '../tracing/deliver/sink.ts';

/** A service with a job, and the daemon that traces it into a collector whose first answers the test gives. */
async function setUp(firstStatuses: readonly number[] = []) {
  const simulator = await startSimulator({ scenario: 'empty', clock: 'free' });
  onTestFinished(() => simulator.stop());
  simulator.control.createProject('pay', ['web01']);
  const job = simulator.control.createJob('pay', { name: 'settle', group: 'nightly' });
  const sink = await startSink((response, _request, index) => {
    const status = firstStatuses[index];
    if (status === undefined) accept(response);
    else response.writeHead(status, { 'retry-after': '0' }).end();
  });
  onTestFinished(() => sink.stop());
  const daemon = await startDaemon({
    yaml: `servers: [{ name: prod, url: '${simulator.url}', token_file: TOKEN, budget: { requests_per_second: 100 } }]
collectors: { executions: { enabled: true, every: 1s } }
executions: { max_delay: 1s }
metrics: { hold_new_series: 0s }
`,
    token: simulator.token,
    flags: ['--collector.disable-defaults'],
    env: { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: sink.url, OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json' },
  });
  onTestFinished(daemon.stop);
  await eventually(async () => expect(await daemon.metrics()).toMatch(/collector_success\{.*"executions"\} 1/));
  return { simulator, job, sink, daemon };
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
    const { resourceSpans } = JSON.parse(body) as {
      resourceSpans: { scopeSpans: { spans: SentSpan[] }[] }[];
    };
    return resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans));
  });
}

describe('end-to-end/traces', () => {
  it('sends one trace of a counted execution, with ids that anyone can compute', async () => {
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

  it('sends the same bytes again after a collector that was not ready', async () => {
    const { simulator, job, sink } = await setUp([503, 503]);
    simulator.control.runJob(job);
    simulator.advance(3_600_000);
    await eventually(async () => expect(bodies(sink).length).toBe(3));

    expect(new Set(bodies(sink)).size).toBe(1);
  });

  it('counts although traces are neither made nor delivered', async () => {
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
