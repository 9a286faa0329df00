import { toHours } from '../../src/status/running.ts';
import type {
  CollectorStatus,
  EndedStatus,
  ExecutionsOfServer,
  QuarantineStatus,
  RunningStatus,
  ServerStatus,
  Status,
  TracesStatus,
} from '../../src/status/status.ts';

export const atMs = Date.parse('2024-05-20T03:19:40Z');

/** A collector that succeeded 12 s ago; the given values replace others. */
export function collector(name: string, given: Partial<CollectorStatus> = {}): CollectorStatus {
  return {
    name,
    result: 'success',
    reason: undefined,
    message: undefined,
    complaints: [],
    everyMs: 15_000,
    isUnderWay: false,
    sinceMs: atMs - 7_200_000,
    lastRunAtMs: atMs - 12_000,
    lastSuccessAtMs: atMs - 12_000,
    nextRunAtMs: atMs + 3000,
    tookMs: 23,
    series: 14,
    ...given,
  };
}

/** A server without problems; the given values replace others. */
export function server(name: string, given: Partial<ServerStatus> = {}): ServerStatus {
  return {
    name,
    url: `https://${name}.example.org`,
    state: 'up',
    sinceMs: atMs - 7_200_000,
    message: undefined,
    release: '5.3.0-20240520',
    apiVersion: 47,
    dialect: 'rundeck',
    startedAtMs: atMs - 3 * 86_400_000,
    executionMode: 'active',
    executionModeSinceMs: undefined,
    collectors: [collector('system-info'), collector('log-storage')],
    members: [],
    executions: undefined,
    visibleProjects: 3,
    hidesMembers: false,
    missingPolicy: undefined,
    needsAdmin: [],
    ...given,
  };
}

/** An execution of a nightly job that has run for 3 min instead of the usual 2 min; the given values replace others. */
export function running(given: Partial<RunningStatus> = {}): RunningStatus {
  const times = { startedAtMs: atMs - 180_000, averageMs: 120_000, isOverdue: false };
  return { id: 4711, project: 'pay', job: 'nightly/settle', ...times, ...given };
}

/** An execution that succeeded a minute ago; the given values replace others. */
export function ended(given: Partial<EndedStatus> = {}): EndedStatus {
  const times = { startedAtMs: atMs - 105_000, endedAtMs: atMs - 60_000 };
  return { id: 4710, project: 'pay', job: 'nightly/settle', ending: 'succeeded', ...times, ...given };
}

/** The given executions, read a moment ago. */
export function executions(given: Partial<ExecutionsOfServer> = {}): ExecutionsOfServer {
  const { running: runs = [], ended: over = [] } = given;
  const counts = {
    runningCount: runs.length,
    overdueCount: runs.filter(({ isOverdue }) => isOverdue).length,
    interruptedCount: runs.filter(({ interruptedAtMs }) => interruptedAtMs !== undefined).length,
  };
  const sight = { runningSight: 'known', runningDenied: [], hidden: [] } as const;
  const lists = { running: runs, ended: over, endedCount: over.length, hours: toHours(over, atMs), ...sight };
  return {
    serverNowMs: atMs,
    seenMs: atMs,
    epoch: 1,
    countedSinceMs: undefined,
    waitingCount: 0,
    leftOut: undefined,
    ...counts,
    ...lists,
    ...given,
  };
}

/** Traces that were all delivered, the last one 12 s ago; the given values replace others. */
export function traces(given: Partial<TracesStatus> = {}): TracesStatus {
  const delivery = {
    collector: 'collector.example.org:4318',
    failing: undefined,
    lastDeliveredMs: atMs - 12_000,
    pending: 0,
    bounds: { maxTraces: 100_000, maxBytes: 256 * 2 ** 20 },
    quarantineBounds: { maxTraces: 10_000, maxBytes: 64 * 2 ** 20 },
  };
  return { delivery, waiting: 0, waitingBytes: 0, oldestMs: undefined, quarantine: 0, quarantinedBytes: 0, ...given };
}

/** Traces that could not be delivered for 10 min: some wait, and some are quarantined. */
export function stuckTraces(): TracesStatus {
  const reason = 'collector.example.org:4318: the connection was refused; is the OTLP endpoint running? (ECONNREFUSED)';
  const { delivery } = traces();
  return traces({
    delivery: delivery && { ...delivery, failing: { sinceMs: atMs - 600_000, reason }, pending: 3 },
    waiting: 1200,
    waitingBytes: 5_000_000,
    oldestMs: atMs - 900_000,
    quarantine: 2,
    quarantinedBytes: 6800,
  });
}

/** A status in which traces are delivered, and log records are not. */
export function stuckLogs(): TracesStatus {
  const { delivery } = stuckTraces();
  const reason = 'log records: logs.example.org: HTTP 503';
  const failing = { sinceMs: atMs - 600_000, reason, what: 'Log records' };
  return traces({ delivery: delivery && { ...delivery, failing } });
}

/** A trace that was quarantined 12 min ago; the given values replace others. */
export function quarantine(given: Partial<QuarantineStatus> = {}): QuarantineStatus {
  const { server: of = 'prod', executionId = '4711' } = given;
  const facts = { spans: 12, size: 3400, atMs: atMs - 720_000, reason: 'HTTP 400: bad span' };
  return { name: `${of}/${executionId}`, server: of, executionId, ...facts, ...given };
}

/** A status with these servers and without traces. */
export function status(...servers: readonly ServerStatus[]): Status {
  const { delivery: _, ...nothing } = traces();
  return {
    version: '0.1.0',
    atMs,
    startedAtMs: atMs - 18_000_000,
    loadedAtMs: atMs - 7_200_000,
    servers,
    traces: { ...nothing, delivery: undefined },
  };
}
