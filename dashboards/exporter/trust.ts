import { topOverRange } from '../pieces/exporters.ts';
import { factsTable } from '../pieces/facts-table.ts';
import type { QuestionRow } from '../pieces/grid.ts';
import { increaseOf, quantileOf } from '../pieces/histograms.ts';
import { stateTimeline } from '../pieces/state-timeline.ts';
import { numberTile, textTile } from '../pieces/tiles.ts';
import { timeSeries } from '../pieces/time-series.ts';

export function trustRow(): QuestionRow {
  return {
    id: 500,
    question: 'Can I trust these numbers?',
    panels: [
      numberTile({
        id: 501,
        title: 'Failing collectors',
        description: 'Collectors whose last poll failed. Values of failing collectors are stale or missing.',
        unit: 'short',
        width: 6,
        height: 4,
        badFrom: 1,
        queries: [{ expr: `sum by (server) (1 - ${success})`, legend: '{{server}}' }],
      }),
      numberTile({
        id: 502,
        title: 'Oldest answer',
        description:
          'Time since the last successful poll in intervals of the collector, of at least 20 s, for the collector that is furthest behind. Series expire after 3.',
        unit: 'suffix: intervals',
        width: 6,
        height: 4,
        notableFrom: 2,
        badFrom: 3,
        queries: [
          {
            expr: 'max by (server) (clamp_min(time() - automation_exporter_collector_last_success_timestamp_seconds{server=~"$server"}, 0) / clamp_min(automation_exporter_collector_interval_seconds{server=~"$server"}, 20))',
            legend: '{{server}}',
          },
        ],
      }),
      numberTile({
        id: 503,
        title: 'API errors a minute',
        description: 'Failed requests of the exporter to the server, including retries, in the last 10 minutes.',
        unit: 'short',
        width: 6,
        height: 4,
        notableFrom: 0.1,
        badFrom: 1,
        emptyReason: noErrors,
        queries: [
          {
            expr: '60 * sum by (server) (rate(automation_exporter_api_errors_total{server=~"$server"}[10m]))',
            legend: '{{server}}',
          },
        ],
      }),
      textTile({
        id: 504,
        title: 'Exporter version',
        description: 'Version of the exporter.',
        unit: 'none',
        width: 6,
        height: 4,
        queries: [{ expr: 'max by (version) (automation_exporter_build_info)', legend: '{{version}}' }],
      }),
      stateTimeline({
        id: 505,
        title: 'Collectors over time',
        description: 'Whether the polls of each collector succeed.',
        unit: 'none',
        width: 12,
        height: 8,
        words: { 0: ['Failing', 'bad'], 1: ['Working', 'good'] },
        queries: [
          { expr: `min by (server, member, collector) (${success})`, legend: '{{server}} {{member}}: {{collector}}' },
        ],
      }),
      factsTable({
        id: 506,
        title: 'Which collectors are off, and why?',
        description:
          'The reason is empty while a collector is on; otherwise it is config, version, denied, not_found or meaningless.',
        unit: 'none',
        width: 12,
        height: 8,
        columns: { server: 'Server', member: 'Member', collector: 'Collector', reason: 'Reason' },
        state: { heading: 'State', words: { 0: ['Off', 'notable'], 1: ['On', 'good'] } },
        queries: [
          {
            expr: 'max by (server, member, collector, reason) (automation_exporter_collector_enabled{server=~"$server"})',
            legend: '{{server}}: {{collector}}',
          },
        ],
      }),
      timeSeries({
        id: 507,
        title: 'API requests by status',
        description: 'Requests of the exporter to the server, by HTTP status.',
        unit: 'reqps',
        width: 8,
        height: 8,
        queries: [
          {
            expr: 'sum by (server, code) (rate(automation_exporter_api_requests_total{server=~"$server"}[$__rate_interval]))',
            legend: '{{server}}: {{code}}',
          },
        ],
      }),
      timeSeries({
        id: 508,
        title: 'API errors by kind',
        description: 'Failed requests by kind of error, as in the log.',
        unit: 'reqps',
        width: 8,
        height: 8,
        emptyReason: noErrors,
        queries: [
          {
            expr: 'sum by (server, kind) (rate(automation_exporter_api_errors_total{server=~"$server"}[$__rate_interval]))',
            legend: '{{server}}: {{kind}}',
          },
        ],
      }),
      timeSeries({
        id: 509,
        title: 'API response time, 95th percentile',
        description:
          '95th percentile of the response times, for the ten endpoints that took the most time in the selected range.',
        unit: 's',
        width: 8,
        height: 8,
        queries: [
          {
            expr: topOverRange(
              10,
              'server, api_endpoint',
              quantileOf(0.95, 'server, api_endpoint', { ...requestTimes, range: '[$__rate_interval]' }),
              increaseOf('sum', 'server, api_endpoint', { ...requestTimes, range: '[$__range] @ end()' }),
            ),
            legend: '{{server}}: {{api_endpoint}}',
          },
        ],
      }),
      timeSeries({
        id: 510,
        title: 'Poll duration by collector',
        description: 'Duration of the last poll of each collector.',
        unit: 's',
        width: 8,
        height: 8,
        queries: [
          {
            expr: 'max by (server, collector) (automation_exporter_collector_duration_seconds{server=~"$server"})',
            legend: '{{server}}: {{collector}}',
          },
        ],
      }),
      timeSeries({
        id: 511,
        title: 'Series by collector',
        description: 'Series published by each collector.',
        unit: 'short',
        width: 8,
        height: 8,
        queries: [
          {
            expr: 'max by (server, collector) (automation_exporter_collector_series{server=~"$server"})',
            legend: '{{server}}: {{collector}}',
          },
        ],
      }),
      timeSeries({
        id: 512,
        title: 'Memory of the exporter',
        description: 'Resident memory of the exporter process.',
        unit: 'bytes',
        width: 8,
        height: 8,
        queries: [
          {
            // The process has no `server` label, so its target is identified by the build information.
            expr: 'process_resident_memory_bytes and on (job, instance) automation_exporter_build_info',
            legend: '{{instance}}',
          },
        ],
      }),
    ],
  };
}

const noErrors = 'Empty until the first request fails.';

const success = 'automation_exporter_collector_success{server=~"$server"}';

const requestTimes = { name: 'automation_exporter_api_request_duration_seconds', matchers: 'server=~"$server"' };
