import { ping } from '../api/endpoints/metrics.ts';
import { gauge } from '../metrics/family.ts';
import { defineCollector } from '../schedule/collector.ts';

export const pingCollector = defineCollector({
  name: 'ping',
  help: 'Duration of an authenticated ping',
  every: '30s',
  on: true,
  perMember: true,
  reads: [ping],
  metrics: {
    duration: gauge(
      'automation_ping_duration_seconds',
      'Duration of the last authenticated ping, measured by the exporter [metrics/ping].',
    ),
  },
  fetch: (api) => api.getTimed(ping),
  map: ({ tookMs }, { duration }) => duration.rows(tookMs / 1000),
});
