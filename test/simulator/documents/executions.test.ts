import { describe } from 'vitest';
import type { Simulator } from '../../../simulator/simulator.ts';
import { noon } from '../caller.ts';
import { errorOf, type Row, testRows } from './row.ts';

import { one, real, two, twoAt58 } from './small-executions.ts';

const paging = { count: 2, total: 2, offset: 0, max: 20 };
const none = { paging: { count: 0, total: 0, offset: 0, max: 20 }, executions: [] };
const average10 = { average: '10s', max: '10s', min: '10s' };
const nothing = { total: 0, duration: { average: '0s', max: '0s', min: '0s' } };

/** Adds runs of two hours, of 83 minutes, and of half a second. */
function addLong({ control }: Simulator): void {
  control.addFinished('pay', { startedAtMs: noon - 7_200_000, endedAtMs: noon - 1000 });
  control.addFinished('pay', { startedAtMs: noon - 83 * 60_000 - 5000, endedAtMs: noon - 1000, status: 'aborted' });
  control.addFinished('pay', { startedAtMs: noon - 1400, endedAtMs: noon - 1000, status: 'timedout' });
}

function addMinutes(...seconds: readonly number[]) {
  return ({ control }: Simulator): void => {
    for (const each of seconds) control.addFinished('pay', { startedAtMs: noon - each * 1000, endedAtMs: noon });
  };
}

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
      // In 6.x, lists contain the description only on request (J 3).
      {
        at: [58],
        dialect: 'rundeck',
        query: '?max=1',
        json: { paging: { count: 1, total: 2, offset: 0, max: 1 }, executions: [{ ...twoAt58, description: null }] },
      },
    ],
  },
  { section: 'B 4.2', path: 'project/*/executions/running', since: 14, says: [{ at: [14, 47, 58], json: none }] },
  { section: 'B 4.2', path: 'project/pay/executions/running', since: 14, says: [{ at: [14, 47, 58], json: none }] },
  {
    section: 'B 4.2',
    path: 'executions/metrics',
    since: 29,
    says: [
      { at: [29, 47], json: { total: 2, duration: average10 } },
      { at: [47], query: '?recentFilter=30s', json: { total: 1, duration: average10 } },
      { at: [47], query: '?recentFilter=1s', json: nothing },
      // Durations below a minute are in whole seconds, longer durations in whole minutes: 60 and 119 seconds are both one minute.
      {
        at: [29, 47],
        query: `?begin=${noon}&end=${noon}`,
        prepare: addMinutes(60, 119),
        json: { total: 2, duration: { average: '1m', max: '1m', min: '1m' } },
      },
      {
        at: [29, 47],
        query: `?begin=${noon}&end=${noon}`,
        prepare: addMinutes(59),
        json: { total: 1, duration: { average: '59s', max: '59s', min: '59s' } },
      },
      // The average is (7199 + 4984 + 0 + 10 + 10) / 5 seconds, in whole minutes.
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
      // Aborted and timed-out executions count as failed (J 3).
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
];

describe('simulator/documents/executions', () => {
  testRows(rows);
});
