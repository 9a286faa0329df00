import { describe } from 'vitest';
import type { Simulator } from '../../../simulator/simulator.ts';
import { type Row, testRows } from './row.ts';

const metricsOn = ({ control }: Simulator) => control.switchMetrics(true);

const rows: readonly Row[] = [
  {
    section: 'A 4.3',
    path: 'metrics/ping',
    since: 25,
    says: [
      { at: [25, 47], text: 'pong\n' },
      { at: [25, 58], server: 58, dialect: 'rundeck', prepare: metricsOn, text: 'pong' },
    ],
  },
  {
    section: 'A 4.3',
    path: 'metrics/threads',
    since: 25,
    says: [
      { at: [25, 47], text: '"main" id=1 state=RUNNABLE\n\n"scheduler-worker-1" id=2 state=RUNNABLE\n' },
      {
        at: [25, 58],
        server: 58,
        dialect: 'rundeck',
        prepare: metricsOn,
        json: [
          { name: 'main', id: 1, state: 'RUNNABLE', stackTrace: [] },
          { name: 'scheduler-worker-1', id: 2, state: 'RUNNABLE', stackTrace: [] },
        ],
      },
    ],
  },
  {
    section: 'A 2.5, 4.3',
    path: 'metrics/healthcheck',
    since: 25,
    says: [
      {
        at: [25, 47],
        dialect: 'service',
        json: {
          'dataSource.connection.time': {
            healthy: true,
            message: 'Datasource connection healthy with timeout 5 seconds',
          },
          'quartz.scheduler.threadPool': { healthy: true },
        },
      },
      {
        at: [25, 47],
        dialect: 'rundeck',
        prepare: ({ control }) => control.failHealthCheck('quartz.scheduler.threadPool'),
        status: 500,
        json: {
          'dataSource.connection.time': {
            healthy: true,
            message: 'Datasource connection healthy with timeout 5 seconds',
            duration: 1,
            timestamp: '2026-01-15T12:00:00.000Z',
          },
          'quartz.scheduler.threadPool': {
            healthy: false,
            message: 'Made to fail on demand',
            duration: 1,
            timestamp: '2026-01-15T12:00:00.000Z',
          },
        },
      },
      { at: [58], dialect: 'rundeck', prepare: metricsOn, json: { rundeck: { healthy: true } } },
      {
        at: [58],
        dialect: 'rundeck',
        status: 404,
        json: {
          error: true,
          apiversion: 58,
          errorCode: 'api.error.invalid.request',
          message: 'Invalid API Request: /api/58/metrics/healthcheck',
          args: ['/api/58/metrics/healthcheck'],
        },
      },
    ],
  },
];

describe('simulator/documents/metrics', () => {
  testRows(rows);
});
