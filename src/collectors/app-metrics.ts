import { appMetrics } from '../api/endpoints/app-metrics.ts';
import { counter, gauge, summary } from '../metrics/family.ts';
import { defineCollector } from '../schedule/collector.ts';

export const appMetricsCollector = defineCollector({
  name: 'app-metrics',
  help: "The application's own gauges, counters, meters and timers",
  every: '30s',
  on: true,
  perMember: true,
  reads: [appMetrics],
  metrics: {
    value: gauge(
      'automation_app_value',
      'A gauge or counter of the application; counters of the application may decrease [gauges, counters].',
      'name',
      'project',
    ),
    events: counter(
      'automation_app_events_total',
      'Events counted by a meter of the application since the server started [meters].',
      'name',
      'project',
    ),
    duration: summary(
      'automation_app_duration_seconds',
      'Durations measured by a timer of the application; without a sum [timers].',
      'name',
      'project',
    ),
    distribution: summary(
      'automation_app_distribution',
      'Values measured by a histogram of the application; without a sum [histograms].',
      'name',
      'project',
    ),
  },
  fetch: (api) => api.get(appMetrics),
  map: ({ gauges, counters, meters, timers, histograms }, metrics) => [
    ...[...gauges, ...counters].flatMap(({ value, ...labels }) => metrics.value.rows(value, labels)),
    ...meters.flatMap(({ value, ...labels }) => metrics.events.rows(value, labels)),
    ...timers.flatMap(({ count, quantiles, ...labels }) => metrics.duration.rows({ count, quantiles }, labels)),
    ...histograms.flatMap(({ count, quantiles, ...labels }) => metrics.distribution.rows({ count, quantiles }, labels)),
  ],
});
