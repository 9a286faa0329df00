import { describe, expect } from 'vitest';
import { anyNumber, anyText, anyUuid, errorOf, type Row, testRows } from './row.ts';

import { one, real, two, twoAt58 } from './small-executions.ts';

const state = (status: string, nodeState: Readonly<Record<string, unknown>>) => ({
  executionState: status,
  ...nodeState,
});
const times = {
  startTime: '2026-01-15T11:59:30Z',
  updateTime: '2026-01-15T11:59:40Z',
  endTime: '2026-01-15T11:59:40Z',
};

/** The state of the failed command; `timed` is the duration, which real servers write on steps and nodes. */
function stateOfTwo(
  timed: Readonly<Record<string, unknown>>,
  [failureReason, errorMessage]: [string, string],
): unknown {
  const failure = { errorMessage, meta: { failureReason, resultCode: 1 } };
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
        // If a step failed on nodes, the failure is shown at the nodes.
        ...state('FAILED', { ...times, ...timed }),
        nodeStates: { web01: onNode, web02: onNode },
      },
    ],
    nodes: { web01: [{ stepctx: '1', executionState: 'FAILED' }], web02: [{ stepctx: '1', executionState: 'FAILED' }] },
  };
}

const line = {
  time: '11:59:40',
  absolute_time: '2026-01-15T11:59:40Z',
  log: expect.stringMatching(
    /^Execution failed: 2 in project pay: .* step failures: \{1=Dispatch failed on 2 nodes: /,
  ) as unknown,
  level: 'ERROR',
  user: 'amira',
  node: 'auto-1',
};
const output = {
  execCompleted: true,
  hasFailedNodes: true,
  execState: 'failed',
  execDuration: 10000,
  retryBackoff: 0,
  clusterExec: false,
  completed: true,
  percentLoaded: anyNumber,
  compacted: false,
};
// The size includes the end mark, which no client reads.
const asNumbers = { ...output, id: 2, lastModified: 1768478380000, offset: 880, totalSize: 886 };
const asText = { ...output, id: '2', lastModified: '1768478380000', offset: '932', totalSize: 938 };
const metadata = { node: 'auto-1' };

const rows: readonly Row[] = [
  {
    section: 'B 2.5, 4.2',
    path: 'execution/1',
    since: 14,
    says: [
      { at: [14, 47], dialect: 'rundeck', json: real.one },
      { at: [14, 47], dialect: 'service', json: one },
      { at: [47], dialect: 'service', options: { members: 2 }, json: { ...one, serverUUID: anyUuid } },
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
      { at: [14, 47, 58], dialect: 'service', json: stateOfTwo({}, ['NonZeroResultCode', 'Result code was 1']) },
      // Since 4.16, the default SSH executor gives the same reason for every failure.
      {
        at: [14, 47, 58],
        dialect: 'rundeck',
        json: stateOfTwo({ duration: anyNumber }, ['Unknown', 'Remote command failed with exit status 1']),
      },
      {
        at: [14, 45],
        server: 45,
        dialect: 'rundeck',
        options: { release: '4.14.0' },
        json: stateOfTwo({ duration: anyNumber }, ['NonZeroResultCode', 'Result code was 1']),
      },
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
];

describe('simulator/documents/execution-detail', () => {
  testRows(rows);
});
