import type {
  CollectorStatus,
  EndedStatus,
  ExecutionsOfServer,
  RunningStatus,
  ServerStatus,
  Status,
} from '../../src/http/status.ts';

export const atMs = Date.parse('2024-05-20T03:19:40Z');

/** A collector that succeeded 12 s ago, except for what is given. */
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

/** A server that is well, except for what is given. */
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
    executionMode: 'active',
    executionModeSinceMs: undefined,
    collectors: [collector('system-info'), collector('log-storage')],
    members: [],
    executions: undefined,
    hidesMembers: false,
    missingPolicy: undefined,
    needsAdmin: [],
    ...given,
  };
}

/** An execution of a nightly job that has run for 3 min of usually 2 min, except for what is given. */
export function running(given: Partial<RunningStatus> = {}): RunningStatus {
  const times = { startedAtMs: atMs - 180_000, averageMs: 120_000, isOverdue: false };
  return { id: 4711, project: 'pay', job: 'nightly/settle', ...times, ...given };
}

/** An execution that succeeded a minute ago, except for what is given. */
export function ended(given: Partial<EndedStatus> = {}): EndedStatus {
  const times = { startedAtMs: atMs - 105_000, endedAtMs: atMs - 60_000 };
  return { id: 4710, project: 'pay', job: 'nightly/settle', ending: 'succeeded', ...times, ...given };
}

/** What was read a moment ago: these and no other. */
export function executions(given: Partial<ExecutionsOfServer> = {}): ExecutionsOfServer {
  const { running: runs = [], ended: over = [] } = given;
  const counts = { runningCount: runs.length, overdueCount: runs.filter(({ isOverdue }) => isOverdue).length };
  const lists = { running: runs, ended: over, endedCount: over.length };
  return { serverNowMs: atMs, epoch: 1, waitingCount: 0, ...counts, ...lists, ...given };
}

export function status(...servers: readonly ServerStatus[]): Status {
  return { version: '0.1.0', atMs, servers };
}
