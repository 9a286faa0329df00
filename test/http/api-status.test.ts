import { describe, expect, it } from 'vitest';
import { apiStatusRoute } from '../../src/http/routes/api-status.ts';
import { serve } from './serve.ts';
import { atMs, collector, ended, executions, running, server, status, stuckTraces } from './some-status.ts';

describe('http/api-status', () => {
  it('has the content of the page as JSON', async () => {
    const broken = collector('log-storage', {
      result: 'failed',
      reason: 'timeout',
      message: 'GET log-storage: no answer within 10 s',
      lastSuccessAtMs: undefined,
      series: undefined,
      tookMs: 10_300.4,
    });
    const member = server('a', { state: 'waiting', sinceMs: undefined, release: undefined, collectors: [] });
    const changed = { executionModeSinceMs: atMs - 1_000_000, members: [member], missingPolicy: 'for: {}\n' };
    const told = executions({
      epoch: 2,
      countedSinceMs: Date.UTC(2024, 4, 19, 3, 20),
      seenMs: Date.UTC(2024, 4, 20, 3, 19),
      waitingCount: 3,
      running: [
        running({ isOverdue: true }),
        running({ id: 4712, job: undefined, averageMs: undefined, interruptedAtMs: atMs - 60_000 }),
      ],
      runningCount: 12,
      ended: [ended({ ending: 'timedout' })],
      endedCount: 40,
      runningDenied: ['hr'],
      leftOut: { jobs: 12, durations: 3, room: { jobs: 5, durations: 2, nodes: 5 }, limitedBy: 'jobs.cap' },
      hidden: [
        { project: 'stock', counted: 7, readable: 0 },
        { project: 'hr', counted: undefined, readable: 0 },
      ],
    });
    const needsAdmin = [{ collector: 'users', right: 'system admin' }];
    const lacking = { collector: 'nodes', may: false, missing: ['node read in pay'] };
    const rights = { rights: [lacking], excess: ['job run'], leastPolicy: 'policy', atMs: 0 };
    const prod = server('prod', { collectors: [broken], ...changed, needsAdmin, rights, executions: told });
    const { ask } = await serve([apiStatusRoute(async () => ({ ...status(prod), traces: stuckTraces() }))]);
    const { headers, body } = await ask('/api/status');

    expect(headers['content-type']).toBe('application/json; charset=utf-8');
    expect(JSON.parse(body)).toEqual({
      version: '0.1.0',
      at: '2024-05-20T03:19:40.000Z',
      started: '2024-05-19T22:19:40.000Z',
      configuration_loaded: '2024-05-20T01:19:40.000Z',
      well: false,
      summary: '"prod" does not show all executions',
      problems: [
        {
          kind: 'unreadable',
          server: 'prod',
          member: null,
          collector: null,
          title: '"prod" does not show all executions',
          text: '"prod" does not show all executions. History of stock: 7 counted, 0 readable; history of hr: not readable; running executions of hr: not readable.',
        },
        {
          kind: 'failing',
          server: 'prod',
          member: null,
          collector: 'log-storage',
          title: '"prod": log-storage fails',
          text: '"prod": log-storage fails. Since 01:19 UTC (2 h ago): GET log-storage: no answer within 10 s.',
        },
        {
          kind: 'undelivered',
          server: null,
          member: null,
          collector: null,
          title: 'Traces cannot be delivered',
          text: 'Traces cannot be delivered. Since 03:09 UTC (10 min ago): collector.example.org:4318: the connection was refused; is the OTLP endpoint running? (ECONNREFUSED).',
        },
        {
          kind: 'quarantined',
          server: null,
          member: null,
          collector: null,
          title: '2 traces are quarantined',
          text: '2 traces are quarantined. The trace backend rejects them.',
        },
        {
          kind: 'left_out',
          server: 'prod',
          member: null,
          collector: null,
          title: '"prod": jobs without series of their own',
          text: '"prod": jobs without series of their own. 12 jobs beyond the first 5 without their own series, 3 jobs without duration series: raise jobs.cap.',
        },
        {
          kind: 'waiting',
          server: 'prod',
          member: 'a',
          collector: null,
          title: '"prod/a" has not responded yet',
          text: '"prod/a" has not responded yet.',
        },
      ],
      servers: [
        {
          name: 'prod',
          url: 'https://prod.example.org',
          state: 'up',
          since: '2024-05-20T01:19:40.000Z',
          message: null,
          release: '5.3.0-20240520',
          api_version: 47,
          dialect: 'rundeck',
          started: '2024-05-17T03:19:40.000Z',
          execution_mode: 'active',
          execution_mode_since: '2024-05-20T03:03:00.000Z',
          collectors: [
            {
              name: 'log-storage',
              result: 'failed',
              reason: 'timeout',
              message: 'GET log-storage: no answer within 10 s',
              complaints: [],
              since: '2024-05-20T01:19:40.000Z',
              every_seconds: 15,
              last_run: '2024-05-20T03:19:28.000Z',
              last_success: null,
              next_run: '2024-05-20T03:19:43.000Z',
              under_way: false,
              took_seconds: 10.3,
              series: null,
            },
          ],
          hides_members: false,
          lease: null,
          missing_policy: 'for: {}\n',
          needs_admin: ['users'],
          rights: [{ collector: 'nodes', may: false, missing: ['node read in pay'] }],
          excess: ['job run'],
          visible_projects: 3,
          executions: {
            server_epoch: 2,
            counted_since: '2024-05-19T03:20:00.000Z',
            server_time: '2024-05-20T03:19:40.000Z',
            running_read: '2024-05-20T03:19:00.000Z',
            hidden: [
              { project: 'stock', counted: 7, readable: 0 },
              { project: 'hr', counted: null, readable: 0 },
            ],
            running_readable: 'known',
            running_denied: ['hr'],
            running_count: 12,
            overdue_count: 1,
            interrupted_count: 1,
            waiting_count: 3,
            running: [
              {
                id: 4711,
                project: 'pay',
                job: 'nightly/settle',
                started: '2024-05-20T03:16:40.000Z',
                average_seconds: 120,
                overdue: true,
                interrupted: null,
              },
              {
                id: 4712,
                project: 'pay',
                job: null,
                started: '2024-05-20T03:16:40.000Z',
                average_seconds: null,
                overdue: false,
                interrupted: '2024-05-20T03:18:40.000Z',
              },
            ],
            left_out: { jobs: 12, durations: 3, limited_by: 'jobs.cap' },
            ended_count: 40,
            ended: [
              {
                id: 4710,
                project: 'pay',
                job: 'nightly/settle',
                status: 'timedout',
                started: '2024-05-20T03:17:55.000Z',
                ended: '2024-05-20T03:18:40.000Z',
              },
            ],
          },
          members: [
            {
              name: 'a',
              url: 'https://a.example.org',
              state: 'waiting',
              since: null,
              message: null,
              release: null,
              api_version: 47,
              dialect: 'rundeck',
              started: '2024-05-17T03:19:40.000Z',
              execution_mode: 'active',
              execution_mode_since: null,
              collectors: [],
            },
          ],
        },
      ],
      traces: {
        enabled: true,
        collector: 'collector.example.org:4318',
        failing: true,
        failing_since: '2024-05-20T03:09:40.000Z',
        message: 'collector.example.org:4318: the connection was refused; is the OTLP endpoint running? (ECONNREFUSED)',
        last_delivered: '2024-05-20T03:19:28.000Z',
        pending_count: 3,
        waiting_count: 1200,
        waiting_bytes: 5_000_000,
        waiting_since: '2024-05-20T03:04:40.000Z',
        quarantined_count: 2,
        quarantined_bytes: 6800,
      },
    });
  });

  it.each(['unknown', 'denied'] as const)(
    'reports no number of running executions while the number is %s',
    async (runningSight) => {
      const prod = server('prod', { executions: executions({ runningSight }) });
      const { ask } = await serve([apiStatusRoute(async () => status(prod))]);
      expect(JSON.parse((await ask('/api/status')).body)).toMatchObject({
        servers: [
          {
            executions: {
              running_readable: runningSight,
              running_count: null,
              overdue_count: null,
              interrupted_count: null,
              waiting_count: null,
            },
          },
        ],
      });
    },
  );

  it('reports that there is no problem', async () => {
    const { ask } = await serve([apiStatusRoute(async () => status(server('prod')))]);
    const { body } = await ask('/api/status');

    expect(JSON.parse(body)).toMatchObject({ well: true, problems: [], servers: [{ executions: null }] });
  });

  it('reports that traces are off, and the traces in the state', async () => {
    const { ask } = await serve([apiStatusRoute(async () => status(server('prod')))]);
    expect(JSON.parse((await ask('/api/status')).body)).toMatchObject({
      traces: { enabled: false, collector: null, pending_count: null, waiting_count: 0, failing: false },
    });
  });

  it('responds even if the state cannot be read', async () => {
    const { ask } = await serve([apiStatusRoute(async () => ({ ...status(server('prod')), traces: undefined }))]);
    expect(JSON.parse((await ask('/api/status')).body)).toMatchObject({ well: true, traces: null });
  });
});
