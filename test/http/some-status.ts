import type { CollectorStatus, ServerStatus, Status } from '../../src/http/status.ts';

export const atMs = Date.parse('2024-05-20T03:19:40Z');

/** A collector that succeeded 12 s ago, except for what is given. */
export function collector(name: string, given: Partial<CollectorStatus> = {}): CollectorStatus {
  return {
    name,
    result: 'success',
    reason: undefined,
    message: undefined,
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
    hidesMembers: false,
    missingPolicy: undefined,
    ...given,
  };
}

export function status(...servers: readonly ServerStatus[]): Status {
  return { version: '0.1.0', atMs, servers };
}
