import type { Api } from '../api/client.ts';
import { type SystemInfo, systemInfo } from '../api/endpoints/system.ts';
import { gauge, info } from '../metrics/family.ts';
import { defineCollector } from '../schedule/collector.ts';

type TimedInfo = { answer: SystemInfo; midRequestMs: number; hidesMembers: boolean };

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
    startTime: gauge(
      'automation_server_start_time_seconds',
      'Start time of the server; absent if several members answer at one address [stats.uptime.since].',
    ),
    clockSkew: gauge(
      'automation_server_clock_skew_seconds',
      "Offset of the server's clock from the exporter's, positive when it is ahead [timestamp.epoch].",
    ),
    load: gauge(
      'automation_server_load_average',
      'Load average of the server; absent if the server reports whole numbers only [stats.cpu.loadAverage].',
    ),
    processors: gauge('automation_server_processors', 'Number of processors of the server [stats.cpu.processors].'),
    memoryMax: gauge('automation_server_memory_max_bytes', 'Maximum memory of the JVM [stats.memory.max].'),
    memoryTotal: gauge(
      'automation_server_memory_total_bytes',
      'Memory that the JVM has allocated [stats.memory.total].',
    ),
    memoryFree: gauge(
      'automation_server_memory_free_bytes',
      'Unused part of the allocated memory [stats.memory.free].',
    ),
    threads: gauge(
      'automation_server_threads_active',
      'Active threads of the thread group that serves requests [stats.threads.active].',
    ),
    running: gauge(
      'automation_scheduler_running_executions',
      'Jobs that the scheduler is running, including internal ones [stats.scheduler.running].',
    ),
    poolSize: gauge(
      'automation_scheduler_thread_pool_size',
      'Maximum number of executions that the scheduler runs at the same time [stats.scheduler.threadPoolSize].',
    ),
  },
  fetch: async (api: Api): Promise<TimedInfo> => {
    const timed = await api.getTimed(systemInfo);
    return { ...timed, hidesMembers: api.server().hidesMembers };
  },
  map: ({ answer: { server, os, jvm, stats, timestampMs, loadIsRounded }, midRequestMs, hidesMembers }, metrics) => [
    ...metrics.server.rows({
      version: server.version,
      build: server.build,
      node: server.node,
      server_uuid: server.serverUUID,
      api_version: server.apiVersion,
    }),
    ...metrics.os.rows(os),
    ...metrics.jvm.rows({ ...jvm, implementation_version: jvm.implementationVersion }),
    // The start is withheld if several members answer, because their different starts would look like restarts.
    ...metrics.startTime.rows(hidesMembers ? undefined : toSeconds(stats.uptime.since)),
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

/** Returns the load average. Platforms without a load average report -1. */
function notNegative(load: number | undefined): number | undefined {
  return load !== undefined && load >= 0 ? load : undefined;
}
