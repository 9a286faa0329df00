import { expect, it, onTestFinished } from 'vitest';
import { toSpanId, toTraceId } from '../../src/tracing/plan/ids.ts';
import { eventually } from '../support/eventually.ts';
import { startPrometheus } from '../support/prometheus.ts';
import { describeWithTools } from '../support/tools.ts';
import { watchExecutions } from './watch-executions.ts';

describeWithTools('end-to-end/exemplars', ['prometheus'], ({ prometheus }) => {
  it('links durations to traces, for a Prometheus that stores exemplars', async () => {
    const { simulator, daemon, jobs } = await watchExecutions('web01', { jobs: ['settle'] });
    const watching = await startPrometheus({ prometheus, target: new URL(daemon.url).host, job: 'exporter' });
    onTestFinished(watching.stop);
    simulator.control.runJob(jobs[0] ?? '');
    simulator.advance(3_600_000);
    const [run] = simulator.truth().executions;
    const id = String(run?.id);

    await eventually(async () => {
      const range = `start=0&end=${Date.now() / 1000 + 86_400}`;
      const query = 'automation_execution_duration_seconds_bucket{job_name="settle"}';
      const found = await watching.get(`/api/v1/query_exemplars?query=${encodeURIComponent(query)}&${range}`);
      const labels = { trace_id: toTraceId(simulator.url, id), span_id: toSpanId(simulator.url, id, { kind: 'root' }) };
      const seconds = ((run?.endedAtMs ?? 0) - (run?.startedAtMs ?? 0)) / 1000;
      expect(found).toMatchObject([{ exemplars: [{ labels, value: String(seconds) }] }]);
    });
    expect(await daemon.metrics()).not.toContain('trace_id');
  });
});
