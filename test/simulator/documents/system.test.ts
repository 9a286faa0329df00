import { describe } from 'vitest';
import type { Simulator } from '../../../simulator/simulator.ts';
import { anyNumber, anyText, anyUuid, type Row, testRows } from './row.ts';

const noonTime = { epoch: 1768478400000, unit: 'ms', datetime: '2026-01-15T12:00:00Z' };
const parts = {
  timestamp: noonTime,
  executions: { active: true, executionMode: 'active' },
  os: { arch: 'amd64', name: 'Linux', version: '6.1' },
  jvm: { name: 'OpenJDK 64-Bit Server VM', vendor: 'Example', version: '11.0.23', implementationVersion: '11.0.23+9' },
  stats: {
    uptime: { duration: 0, unit: 'ms', since: noonTime },
    cpu: { loadAverage: { unit: 'percent', average: 0.42 }, processors: 4 },
    memory: { unit: 'byte', max: 2147483648, free: anyNumber, total: 1073741824 },
    scheduler: { running: 0, threadPoolSize: 10 },
    threads: { active: 24 },
  },
  metrics: { href: '{base}/api/47/metrics/metrics?pretty=true', contentType: 'application/json' },
  threadDump: { href: '{base}/api/47/metrics/threads', contentType: 'text/plain' },
  healthcheck: { href: '{base}/api/47/metrics/healthcheck', contentType: 'application/json' },
  ping: { href: '{base}/api/47/metrics/ping', contentType: 'text/plain' },
};
const server = { node: 'auto-1', base: '/srv/automation', serverUUID: anyUuid };
const neutral = { ...server, version: '5.3.0-20260105', build: '5.3.0-0', apiversion: 47 };
const real = { ...neutral, buildGit: 'v0-g0000000', apiversion: '47' };
const passive = ({ control }: Simulator) => control.setExecutionMode('passive');
const counts = {
  enabled: true,
  pluginName: 'object-store',
  succeededCount: 0,
  failedCount: 0,
  queuedCount: 0,
  totalCount: 0,
  incompleteCount: 0,
  missingCount: 0,
};
const more = { queuedRequestCount: 0, queuedRetriesCount: 0, queuedIncompleteCount: 0, retriesCount: 0 };

/** Makes the server fail to store two logs; the second log is not retried. */
function failLogs(simulator: Simulator): void {
  simulator.control.failLogStorage(true);
  simulator.advance(2000);
  simulator.advance(10 * 60_000);
  simulator.control.runCommand('pay', 'uptime');
  simulator.advance(10_000);
}

const lost = (id: number, base = 47) => ({
  id,
  project: 'pay',
  href: `{base}/api/${base}/execution/${id}`,
  permalink: `{base}/project/pay/execution/show/${id}`,
  storage: {
    localFilesPresent: true,
    incompleteFiletypes: 'rdlog,state.json',
    queued: false,
    failed: true,
    date: '2026-01-15T12:00:01Z',
  },
  errors: ['The log storage did not accept the files'],
});

const rows: readonly Row[] = [
  {
    section: 'A 2.4, 4.3',
    path: 'system/info',
    since: 14,
    says: [
      { at: [14, 47], dialect: 'service', json: { system: { service: neutral, ...parts } } },
      {
        at: [14, 47],
        dialect: 'rundeck',
        json: {
          system: {
            rundeck: real,
            ...parts,
            // Since 4.3 the models are typed: numbers are text, and the load is useless (J 1).
            executions: { active: 'true', executionMode: 'active' },
            stats: { ...parts.stats, cpu: { loadAverage: { unit: 'percent', average: 0 }, processors: 4 } },
            extended: null,
          },
        },
      },
      {
        at: [14, 37],
        server: 37,
        dialect: 'rundeck',
        json: {
          system: {
            rundeck: { ...real, version: '3.3.8-20260105', build: '3.3.8-0', apiversion: 37 },
            ...parts,
            metrics: { href: '{base}/api/37/metrics/metrics?pretty=true', contentType: 'application/json' },
            threadDump: { href: '{base}/api/37/metrics/threads', contentType: 'text/plain' },
            healthcheck: { href: '{base}/api/37/metrics/healthcheck', contentType: 'application/json' },
            ping: { href: '{base}/api/37/metrics/ping', contentType: 'text/plain' },
            extended: null,
          },
        },
      },
      {
        at: [47],
        dialect: 'service',
        options: { members: 2 },
        prepare: passive,
        json: {
          system: {
            service: { ...neutral, serverUUID: anyUuid },
            ...parts,
            executions: { active: false, executionMode: 'passive' },
          },
        },
      },
    ],
  },
  {
    section: 'A 3, 4.4',
    path: 'system/executions/status',
    since: 32,
    says: [
      { at: [32, 35, 36, 47, 58], json: { executionMode: 'active' } },
      { at: [32, 35], prepare: passive, status: 503, json: { executionMode: 'passive' } },
      { at: [36, 47, 58], prepare: passive, json: { executionMode: 'passive' } },
      {
        at: [36, 47, 58],
        query: '?passiveAs503=true',
        prepare: passive,
        status: 503,
        json: { executionMode: 'passive' },
      },
    ],
  },
  {
    section: 'A 2.6, 4.3',
    path: 'system/logstorage',
    since: 17,
    says: [
      { at: [17, 47, 58], dialect: 'service', json: counts },
      { at: [17, 47, 58], dialect: 'rundeck', json: { ...counts, ...more } },
      {
        at: [47],
        dialect: 'service',
        prepare: (simulator) => {
          simulator.control.configure({ logStoragePlugin: undefined });
          simulator.advance(10_000);
        },
        json: { ...counts, enabled: false, pluginName: null },
      },
    ],
  },
  {
    section: 'A 4.3',
    path: 'system/logstorage/incomplete',
    since: 17,
    says: [
      { at: [17, 47, 58], query: '?max=0', json: { total: 0, max: 20, offset: 0, executions: [] } },
      {
        at: [17, 47],
        query: '?max=2',
        prepare: failLogs,
        json: { total: 3, max: 2, offset: 0, executions: [lost(1), lost(2)] },
      },
      {
        at: [58],
        query: '?max=1&offset=1',
        prepare: failLogs,
        json: { total: 3, max: 1, offset: 1, executions: [lost(2, 58)] },
      },
      {
        at: [47],
        dialect: 'rundeck',
        query: '?max=5&offset=2',
        prepare: failLogs,
        json: {
          total: 3,
          max: 5,
          offset: 2,
          executions: [
            { ...lost(3), storage: { ...lost(3).storage, queued: true, failed: false, date: anyText }, errors: null },
          ],
        },
      },
      // The document always has an array, but real servers also send null.
      {
        at: [47],
        dialect: 'service',
        query: '?max=5&offset=2',
        prepare: failLogs,
        json: {
          total: 3,
          max: 5,
          offset: 2,
          executions: [
            { ...lost(3), storage: { ...lost(3).storage, queued: true, failed: false, date: anyText }, errors: [] },
          ],
        },
      },
      { at: [47], query: '?offset=5', prepare: failLogs, json: { total: 3, max: 20, offset: 5, executions: [] } },
    ],
  },
];

describe('simulator/documents/system', () => {
  testRows(rows);
});
