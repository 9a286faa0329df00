import type { Api } from '../api/client.ts';
import { type SystemInfo, systemInfo } from '../api/endpoints/system.ts';
import { gauge, info } from '../metrics/family.ts';
import { defineCollector } from './collector.ts';

type TimedInfo = { readonly answer: SystemInfo; readonly midRequestMs: number };

/** What the server is, and how it is doing. */
export const systemInfoCollector = defineCollector({
  name: 'system-info',
  help: 'Release, operating system and JVM, memory, threads, scheduler, start time and clock',
  every: '15s',
  on: true,
  vital: true,
  perMember: true,
  reads: [systemInfo],
  metrics: {
    server: info(
      'automation_server_info',
      'The server: release, build, node and newest API version [system/info].',
      'version',
      'build',
      'node',
      'server_uuid',
      'api_version',
    ),
    os: info('automation_server_os_info', "The server's operating system [os].", 'arch', 'name', 'version'),
    jvm: info(
      'automation_server_jvm_info',
      "The server's Java virtual machine [jvm].",
      'name',
      'vendor',
      'version',
      'implementation_version',
    ),
    startTime: gauge('automation_server_start_time_seconds', 'When the server started [stats.uptime.since].'),
    clockSkew: gauge(
      'automation_server_clock_skew_seconds',
      "How far the server's clock is ahead of the exporter's [timestamp.epoch].",
    ),
    load: gauge(
      'automation_server_load_average',
      "The server's load; absent where the server rounds it to an integer [stats.cpu.loadAverage].",
    ),
    processors: gauge('automation_server_processors', 'Processors of the server [stats.cpu.processors].'),
    memoryMax: gauge('automation_server_memory_max_bytes', 'Memory that the JVM may use at most [stats.memory.max].'),
    memoryTotal: gauge('automation_server_memory_total_bytes', 'Memory that the JVM holds [stats.memory.total].'),
    memoryFree: gauge('automation_server_memory_free_bytes', 'Unused part of the held memory [stats.memory.free].'),
    threads: gauge('automation_server_threads_active', 'Active threads of the request group [stats.threads.active].'),
    running: gauge(
      'automation_scheduler_running_executions',
      'Jobs that the scheduler runs now, housekeeping included [stats.scheduler.running].',
    ),
    poolSize: gauge(
      'automation_scheduler_thread_pool_size',
      'Executions that the scheduler can run at once [stats.scheduler.threadPoolSize].',
    ),
  },
  fetch: (api: Api): Promise<TimedInfo> => api.getTimed(systemInfo),
  map: ({ answer: { server, os, jvm, stats, timestampMs, loadIsRounded }, midRequestMs }, metrics) => [
    ...metrics.server.rows({
      version: server.version,
      build: server.build,
      node: server.node,
      server_uuid: server.serverUUID,
      api_version: server.apiVersion,
    }),
    ...metrics.os.rows(os),
    ...metrics.jvm.rows({ ...jvm, implementation_version: jvm.implementationVersion }),
    ...metrics.startTime.rows(toSeconds(stats.uptime.since)),
    ...metrics.clockSkew.rows(timestampMs === undefined ? undefined : (timestampMs - midRequestMs) / 1000),
    ...metrics.load.rows(loadIsRounded ? undefined : notNegative(stats.cpu.loadAverage.average)),
    ...metrics.processors.rows(stats.cpu.processors),
    ...metrics.memoryMax.rows(stats.memory.max),
    ...metrics.memoryTotal.rows(stats.memory.total),
    ...metrics.memoryFree.rows(stats.memory.free),
    ...metrics.threads.rows(stats.threads.active),
    ...metrics.running.rows(stats.scheduler.running),
    ...metrics.poolSize.rows(stats.scheduler.threadPoolSize),
  ],
});

function toSeconds(timestampMs: number | undefined): number | undefined {
  return timestampMs === undefined ? undefined : timestampMs / 1000;
}

/** Platforms without a load average give -1. */
function notNegative(load: number | undefined): number | undefined {
  return load !== undefined && load >= 0 ? load : undefined;
}
