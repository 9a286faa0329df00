import { describe } from 'vitest';
import type { Simulator } from '../../../src/simulator/simulator.ts';
import { noon, settleId } from '../caller.ts';
import { anyNumber, anyText, anyUuid, errorOf, including, type Row, testRows } from './row.ts';

const one = {
  id: 1,
  href: '{base}/api/47/execution/1',
  permalink: '{base}/project/pay/execution/show/1',
  status: 'succeeded',
  project: 'pay',
  user: 'scheduler',
  'date-started': { unixtime: 1768478340123, date: '2026-01-15T11:59:00Z' },
  'date-ended': { unixtime: 1768478350456, date: '2026-01-15T11:59:10Z' },
  job: {
    id: '11111111-1111-4111-a111-111111111111',
    averageDuration: 10333,
    name: 'settle',
    group: 'nightly',
    project: 'pay',
    description: 'Settles the day',
    options: { mode: 'full' },
    href: '{base}/api/47/job/11111111-1111-4111-a111-111111111111',
    permalink: '{base}/project/pay/job/show/11111111-1111-4111-a111-111111111111',
  },
  description: 'true',
  argstring: '-mode full',
  successfulNodes: ['web01', 'web02'],
};
const two = {
  id: 2,
  href: '{base}/api/47/execution/2',
  permalink: '{base}/project/pay/execution/show/2',
  status: 'failed',
  project: 'pay',
  user: 'amira',
  'date-started': { unixtime: 1768478370000, date: '2026-01-15T11:59:30Z' },
  'date-ended': { unixtime: 1768478380000, date: '2026-01-15T11:59:40Z' },
  description: 'true',
  argstring: null,
  failedNodes: ['web01', 'web02'],
};
// The type of an execution is in no document, and on every real server (J 3).
const real = { one: { ...one, executionType: 'scheduled' }, two: { ...two, executionType: 'user' } };
const twoAt58 = { ...real.two, href: '{base}/api/58/execution/2', jobDeleted: false };
const paging = { count: 2, total: 2, offset: 0, max: 20 };
const none = { paging: { count: 0, total: 0, offset: 0, max: 20 }, executions: [] };
const average10 = { average: '10s', max: '10s', min: '10s' };
const nothing = { total: 0, duration: { average: '0s', max: '0s', min: '0s' } };

/** Two hours, 83 minutes, and half a second. */
function addLong({ control }: Simulator): void {
  control.addFinished('pay', { startedAtMs: noon - 7_200_000, endedAtMs: noon - 1000 });
  control.addFinished('pay', { startedAtMs: noon - 83 * 60_000 - 5000, endedAtMs: noon - 1000, status: 'aborted' });
  control.addFinished('pay', { startedAtMs: noon - 1400, endedAtMs: noon - 1000, status: 'timedout' });
}

const state = (status: string, nodeState: Readonly<Record<string, unknown>>) => ({
  executionState: status,
  ...nodeState,
});
const times = {
  startTime: '2026-01-15T11:59:30Z',
  updateTime: '2026-01-15T11:59:40Z',
  endTime: '2026-01-15T11:59:40Z',
};
const failure = {
  errorMessage: 'Result code was 1',
  meta: { failureReason: 'NonZeroResultCode', resultCode: 1 },
};

/** The state of the failed command; `timed` is the duration that real servers write on steps and nodes. */
function stateOfTwo(timed: Readonly<Record<string, unknown>>): unknown {
  const ends = { startTime: times.startTime, updateTime: anyText, endTime: anyText };
  const onNode = state('FAILED', { ...ends, ...timed, ...failure });
  return {
    executionId: 2,
    serverNode: 'auto-1',
    ...state('FAILED', times),
    completed: true,
    targetNodes: ['web01', 'web02'],
    allNodes: ['web01', 'web02'],
    stepCount: 1,
    steps: [
      {
        id: '1',
        stepctx: '1',
        nodeStep: true,
        ...state('FAILED', { ...times, ...timed, ...failure }),
        nodeStates: { web01: onNode, web02: onNode },
      },
    ],
    nodes: {
      web01: [{ stepctx: '1', executionState: 'FAILED' }],
      web02: [{ stepctx: '1', executionState: 'FAILED' }],
    },
  };
}

const line = {
  time: '11:59:40',
  absolute_time: '2026-01-15T11:59:40Z',
  log: 'Failed: NonZeroResultCode: Result code was 1',
  level: 'ERROR',
  user: 'amira',
  stepctx: '1',
  node: 'web01',
};
const output = {
  execCompleted: true,
  hasFailedNodes: true,
  execState: 'failed',
  execDuration: 10000,
  retryBackoff: 0,
  clusterExec: false,
  totalSize: 200,
  completed: true,
  percentLoaded: 100,
  compacted: false,
};
const asNumbers = { ...output, id: 2, lastModified: 1768478380000, offset: 200 };
const asText = { ...output, id: '2', lastModified: '1768478380000', offset: '200' };
const metadata = { stepctx: '1', node: 'web01' };

const rows: readonly Row[] = [
  {
    section: 'B 2.5, 4.2',
    path: 'project/pay/executions',
    since: 14,
    says: [
      { at: [14, 19, 20, 47], dialect: 'rundeck', json: { paging, executions: [real.two, real.one] } },
      { at: [14, 47], dialect: 'service', json: { paging, executions: [two, one] } },
      {
        at: [47],
        dialect: 'service',
        query: '?recentFilter=1h&max=1',
        json: { paging: { count: 1, total: 2, offset: 0, max: 1 }, executions: [two] },
      },
      // The description is on demand in lists of 6.x (J 3).
      {
        at: [58],
        dialect: 'rundeck',
        query: '?max=1',
        json: { paging: { count: 1, total: 2, offset: 0, max: 1 }, executions: [{ ...twoAt58, description: null }] },
      },
      {
        at: [58],
        dialect: 'rundeck',
        query: '?max=1&executionSummary=true',
        json: { paging: { count: 1, total: 2, offset: 0, max: 1 }, executions: [twoAt58] },
      },
      {
        at: [19],
        query: '?executionTypeFilter=user-scheduled&max=0',
        json: including({ paging: { count: 2, total: 2, offset: 0, max: 0 } }),
      },
      { at: [20], query: '?executionTypeFilter=user-scheduled', json: none },
    ],
  },
  { section: 'B 4.2', path: 'project/*/executions/running', since: 14, says: [{ at: [14, 47, 58], json: none }] },
  {
    section: 'B 4.2',
    path: 'project/pay/executions/running',
    since: 14,
    says: [
      { at: [14, 47, 58], json: none },
      // Real servers honour the filter one version before the document does (J 3).
      ...(
        [
          ['rundeck', 30, 1],
          ['rundeck', 31, 0],
          ['service', 31, 1],
          ['service', 32, 0],
        ] as const
      ).map(([dialect, version, count]) => ({
        at: [version],
        dialect,
        query: '?jobIdFilter=null',
        prepare: ({ control }: Simulator) => void control.runJob(settleId),
        json: {
          paging: { count, total: count, offset: 0, max: 20 },
          executions: count === 0 ? [] : [including({ id: 3, status: 'running' })],
        },
      })),
    ],
  },
  {
    section: 'B 4.2',
    path: `job/${settleId}/executions`,
    since: 14,
    says: [
      {
        at: [14, 47],
        dialect: 'rundeck',
        json: { paging: { ...paging, count: 1, total: 1 }, executions: [real.one] },
      },
      { at: [14, 47], dialect: 'service', json: { paging: { ...paging, count: 1, total: 1 }, executions: [one] } },
      { at: [14, 47], query: '?status=failed', json: none },
    ],
  },
  {
    section: 'B 4.2',
    path: 'executions/metrics',
    since: 29,
    says: [
      { at: [29, 47], json: { total: 2, duration: average10 } },
      { at: [47], query: '?recentFilter=30s', json: { total: 1, duration: average10 } },
      { at: [47], query: '?recentFilter=1s', json: nothing },
      // (7199 + 4984 + 0 + 10 + 10) / 5 seconds; whole minutes from a minute on, never hours.
      { at: [47], prepare: addLong, json: { total: 5, duration: { average: '40m', max: '119m', min: '0s' } } },
      {
        at: [47],
        query: '?recentFilter=ten',
        status: 400,
        json: errorOf(
          47,
          'api.error.history.date-relative-format',
          'The parameter "recentFilter" had an invalid value: ten',
        ),
      },
      { at: [58], dialect: 'service', json: { total: 2, duration: average10 } },
    ],
  },
  {
    section: 'B 4.2',
    path: 'project/pay/executions/metrics',
    since: 29,
    says: [
      { at: [29, 47], json: { total: 2, duration: average10 } },
      { at: [29, 30], server: 30, dialect: 'service', json: { total: 2, duration: average10 } },
      {
        at: [29, 30],
        server: 30,
        dialect: 'rundeck',
        json: { total: 2, duration: average10, status: { succeeded: 1, failed: 1 } },
      },
      {
        at: [29, 58],
        server: 58,
        dialect: 'rundeck',
        json: { total: 2, duration: average10, succeeded: 1, failed: 1, successRate: 50 },
      },
      // Aborted and timed-out ones count as failed (J 3).
      {
        at: [58],
        dialect: 'rundeck',
        prepare: addLong,
        json: {
          total: 5,
          duration: { average: '40m', max: '119m', min: '0s' },
          succeeded: 2,
          failed: 3,
          successRate: 40,
        },
      },
      { at: [47], query: '?recentFilter=30s', json: { total: 1, duration: average10 } },
    ],
  },
  {
    section: 'B 2.5, 4.2',
    path: 'execution/1',
    since: 14,
    says: [
      { at: [14, 47], dialect: 'rundeck', json: real.one },
      { at: [14, 47], dialect: 'service', json: one },
      {
        at: [47],
        dialect: 'service',
        options: { members: 2 },
        json: { ...one, serverUUID: anyUuid },
      },
    ],
  },
  {
    section: 'B 2.5',
    path: 'execution/2',
    since: 14,
    says: [
      { at: [58], dialect: 'rundeck', json: twoAt58 },
      { at: [14, 47], dialect: 'service', json: two },
    ],
  },
  {
    section: 'J 3',
    path: 'execution/77',
    since: 14,
    says: [{ at: [47], status: 404, json: errorOf(47, 'api.error.item.doesnotexist', 'Execution does not exist: 77') }],
  },
  {
    section: 'B 2.6, 4.2',
    path: 'execution/2/state',
    since: 14,
    says: [
      { at: [14, 47, 58], dialect: 'service', json: stateOfTwo({}) },
      { at: [14, 47, 58], dialect: 'rundeck', json: stateOfTwo({ duration: anyNumber }) },
    ],
  },
  {
    section: 'B 2.7, 4.2',
    path: 'execution/2/output',
    since: 14,
    says: [
      { at: [14, 42], dialect: 'service', query: '?lastlines=1', json: { ...asNumbers, entries: [line] } },
      {
        at: [43, 47],
        dialect: 'service',
        query: '?lastlines=1',
        json: { ...asNumbers, entries: [{ ...line, metadata }] },
      },
      // Real servers write some of these numbers as text (J 3).
      { at: [14, 42], dialect: 'rundeck', query: '?lastlines=1', json: { ...asText, entries: [line] } },
      {
        at: [43, 47, 58],
        dialect: 'rundeck',
        query: '?lastlines=1',
        json: { ...asText, entries: [{ ...line, metadata }] },
      },
    ],
  },
  {
    section: 'B 4.2',
    path: 'execution/2/output/node/web02/step/1',
    since: 14,
    says: [
      {
        at: [14],
        dialect: 'rundeck',
        query: '?maxlines=1',
        json: {
          ...asText,
          lastModified: '1768478373228',
          totalSize: 100,
          offset: '39',
          completed: false,
          percentLoaded: 39,
          filter: { nodename: 'web02', stepctx: '1' },
          entries: [
            {
              ...line,
              time: '11:59:30',
              absolute_time: '2026-01-15T11:59:30Z',
              log: 'true: begins on web02',
              level: 'NORMAL',
              node: 'web02',
            },
          ],
        },
      },
    ],
  },
  ...['execution/2/output/node/web02', 'execution/2/output/step/1', 'execution/2/output/state'].map((path) => ({
    section: 'B 4.2',
    path,
    since: 14,
    says: [{ at: [14, 47], json: including({ execState: 'failed', completed: true }) }],
  })),
];

describe('simulator/documents/executions', () => {
  testRows(rows);
});
