import { expect, it, onTestFinished } from 'vitest';
import { startSimulator } from '../../simulator/simulator.ts';
import { toSpanId, toTraceId } from '../../src/tracing/plan/ids.ts';
import { startDaemon } from '../support/daemon.ts';
import { eventually } from '../support/eventually.ts';
import { startPrometheus } from '../support/prometheus.ts';
import { describeWithTools } from '../support/tools.ts';
import { accept, startSink } from '../tracing/deliver/sink.ts';

describeWithTools('end-to-end/exemplars', ['prometheus'], ({ prometheus }) => {
  it('links durations to traces, for a Prometheus that keeps exemplars', async () => {
    const simulator = await startSimulator({ scenario: 'empty', clock: 'free' });
    onTestFinished(() => simulator.stop());
    simulator.control.createProject('pay', ['web01']);
    const job = simulator.control.createJob('pay', { name: 'settle', group: 'nightly' });
    const sink = await startSink((response) => accept(response));
    onTestFinished(() => sink.stop());
    const daemon = await startDaemon({
      yaml: `servers: [{ name: prod, url: '${simulator.url}', token_file: TOKEN, budget: { requests_per_second: 100 } }]
collectors: { executions: { enabled: true, every: 1s } }
executions: { max_delay: 1s }
metrics: { hold_new_series: 0s }
`,
      token: simulator.token,
      flags: ['--collector.disable-defaults'],
      env: { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: sink.url },
    });
    onTestFinished(daemon.stop);
    const watching = await startPrometheus({ prometheus, target: new URL(daemon.url).host, job: 'exporter' });
    onTestFinished(watching.stop);
    await eventually(async () => expect(await daemon.metrics()).toMatch(/collector_success\{.*"executions"\} 1/));
    simulator.control.runJob(job);
    simulator.advance(3_600_000);
    const [run] = simulator.truth().executions;
    const id = String(run?.id);

    await eventually(async () => {
      const range = `start=0&end=${Date.now() / 1000 + 86_400}`;
      const query = 'automation_execution_duration_seconds_bucket{job_name="settle"}';
      const found = await watching.get(`/api/v1/query_exemplars?query=${encodeURIComponent(query)}&${range}`);
      const labels = {
        trace_id: toTraceId(simulator.url, id),
        span_id: toSpanId(simulator.url, id, { kind: 'root' }),
      };
      const seconds = ((run?.endedAtMs ?? 0) - (run?.startedAtMs ?? 0)) / 1000;
      expect(found).toMatchObject([{ exemplars: [{ labels, value: String(seconds) }] }]);
    });
    expect(await daemon.metrics()).not.toContain('trace_id');
  });
});
