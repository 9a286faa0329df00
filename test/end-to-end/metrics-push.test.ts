import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Simulator, startSimulator } from '../../simulator/simulator.ts';
import type { SunkPoint } from '../../simulator/traces/read-metrics.ts';
import { type Daemon, startDaemon } from '../support/daemon.ts';
import { eventually } from '../support/eventually.ts';

describe('end-to-end/metrics-push', () => {
  let simulator: Simulator;
  let daemon: Daemon;

  beforeAll(async () => {
    simulator = await startSimulator({ scenario: 'quiet-day' });
    daemon = await startDaemon({
      token: simulator.token,
      yaml: `
servers: [{ name: prod, url: '${simulator.url}', token_file: TOKEN }]
executions: { backfill: 2h }
metrics: { hold_new_series: 0s }
`,
      env: {
        OTEL_METRICS_EXPORTER: 'otlp',
        OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: `${simulator.url}/v1/metrics`,
        OTEL_METRIC_EXPORT_INTERVAL: '1000',
      },
    });
  });

  afterAll(async () => {
    await daemon.stop();
    await simulator.stop();
  });

  it('pushes the metrics that scrapes show', async () => {
    const pushed = await eventually(async () => {
      const points = (await (await fetch(`${simulator.url}/simulator/metric-points`)).json()) as SunkPoint[];
      if (!points.some(({ name }) => name === 'automation_executions_total')) throw new Error('not yet');
      return points;
    });
    const text = await daemon.metrics();
    const scraped = new Set([...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name]) => name));
    const names = new Set(pushed.map(({ name }) => name.replace(/_(sum|count)$/, '')));
    // Requests and handles of Node change between scrape and push.
    expect([...names].filter((name) => !scraped.has(name) && !name.startsWith('nodejs_active_'))).toEqual([]);
    expect(pushed.find(({ name }) => name === 'automation_up')).toMatchObject({
      labels: { server: 'prod' },
      kind: 'gauge',
      value: 1,
      resource: {
        'service.name': 'automation-exporter',
        'service.instance.id': expect.stringMatching(/.+:\d+$/) as string,
      },
    });
    expect(text).toMatch(/^automation_exporter_metrics_pushes_total\{result="delivered"\} [1-9]/m);
    expect(text).toContain('automation_exporter_metrics_pushes_total{result="failed"} 0\n');
  });
});
