import { defaultThresholds } from '../../alerts/thresholds.ts';
import { factsTable } from '../pieces/facts-table.ts';
import type { QuestionRow } from '../pieces/grid.ts';
import { numberTile } from '../pieces/tiles.ts';
import { timeSeries } from '../pieces/time-series.ts';

export function resourcesRow(): QuestionRow {
  return {
    id: 400,
    question: 'Does the server have room to work?',
    panels: [
      numberTile({
        id: 401,
        title: 'Scheduler threads in use',
        description: 'Share of the scheduler threads that are busy. At 100 % no further execution can start.',
        unit: 'percentunit',
        width: 8,
        height: 4,
        notableFrom: 0.8,
        badFrom: defaultThresholds.schedulerUsedRatio,
        queries: [{ expr: `${running} / ${poolSize}`, legend: '{{server}} {{member}}' }],
      }),
      numberTile({
        id: 402,
        title: 'Lowest heap usage',
        description: `Lowest share of the maximum heap in use within ${memoryWindow}, after garbage collection.`,
        unit: 'percentunit',
        width: 8,
        height: 4,
        notableFrom: 0.8,
        badFrom: defaultThresholds.memoryUsedRatio,
        queries: [{ expr: leastUsed, legend: '{{server}} {{member}}' }],
      }),
      numberTile({
        id: 403,
        title: 'Clock difference',
        description: 'Absolute difference between the clocks of the server and the exporter.',
        unit: 's',
        width: 8,
        height: 4,
        notableFrom: 5,
        badFrom: defaultThresholds.clockSkewSeconds,
        queries: [
          {
            expr: 'max by (server, member) (abs(automation_server_clock_skew_seconds{server=~"$server"}))',
            legend: '{{server}} {{member}}',
          },
        ],
      }),
      timeSeries({
        id: 404,
        title: 'Heap',
        description: 'Memory of the Java virtual machine: used, allocated and maximum.',
        unit: 'bytes',
        width: 12,
        height: 8,
        queries: [
          { expr: `sum by (server) (${used})`, legend: '{{server}} used' },
          { expr: `sum by (server) (${total})`, legend: '{{server}} taken' },
          { expr: `sum by (server) (${max})`, legend: '{{server}} maximum' },
        ],
      }),
      timeSeries({
        id: 405,
        title: 'Scheduler',
        description:
          'Running jobs and the number of scheduler threads, which is the maximum that can run at the same time.',
        unit: 'short',
        width: 12,
        height: 8,
        queries: [
          { expr: running, legend: '{{server}} {{member}} running' },
          { expr: poolSize, legend: '{{server}} {{member}} threads' },
        ],
      }),
      timeSeries({
        id: 406,
        title: 'Active threads',
        description: 'Active threads, as the server counts them.',
        unit: 'short',
        width: 12,
        height: 8,
        queries: [
          { expr: 'sum by (server) (automation_server_threads_active{server=~"$server"})', legend: '{{server}}' },
        ],
      }),
      timeSeries({
        id: 407,
        title: 'Load and processors',
        description: 'System load of the previous minute and the number of processors.',
        unit: 'short',
        width: 12,
        height: 8,
        emptyReason: 'Empty of load while the server rounds the load to a whole number.',
        queries: [
          {
            expr: 'max by (server) (automation_server_processors{server=~"$server"})',
            legend: '{{server}} processors',
          },
          { expr: 'max by (server) (automation_server_load_average{server=~"$server"})', legend: '{{server}} load' },
        ],
      }),
      factsTable({
        id: 408,
        title: 'Which server is selected?',
        description: 'Facts reported by each server.',
        unit: 'none',
        width: 12,
        height: 6,
        columns: {
          server: 'Server',
          member: 'Member',
          version: 'Version',
          build: 'Build',
          node: 'Node',
          api_version: 'API',
        },
        queries: [
          {
            expr: 'max by (server, member, version, build, node, api_version) (automation_server_info{server=~"$server"})',
            legend: '{{server}}',
          },
        ],
      }),
      factsTable({
        id: 409,
        title: 'Which Java does the server run on?',
        description: 'The Java virtual machine of each server.',
        unit: 'none',
        width: 12,
        height: 6,
        columns: { server: 'Server', member: 'Member', vendor: 'Vendor', name: 'Name', version: 'Version' },
        queries: [
          {
            expr: 'max by (server, member, vendor, name, version) (automation_server_jvm_info{server=~"$server"})',
            legend: '{{server}}',
          },
        ],
      }),
    ],
  };
}

const { memoryWindow } = defaultThresholds;

const max = 'automation_server_memory_max_bytes{server=~"$server"}';
const total = 'automation_server_memory_total_bytes{server=~"$server"}';
const free = 'automation_server_memory_free_bytes{server=~"$server"}';
const used = `${total} - ${free}`;
// The alert uses the same measure.
const leastUsed = `max by (server, member) (clamp_min(min_over_time(${total}[${memoryWindow}]) - max_over_time(${free}[${memoryWindow}]), 0) / ${max})`;
const running = 'sum by (server, member) (automation_scheduler_running_executions{server=~"$server"})';
const poolSize = 'sum by (server, member) (automation_scheduler_thread_pool_size{server=~"$server"})';
