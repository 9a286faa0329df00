import { describe } from 'vitest';
import { backupId } from '../caller.ts';
import { errorOf, type Row, testRows } from './row.ts';

import { at58, backup, byHand, history, scheduled, settle } from './small-jobs.ts';

const hours = ['2026-01-15T13:00:00Z', '2026-01-15T14:00:00Z', '2026-01-15T15:00:00Z'];

const rows: readonly Row[] = [
  {
    section: 'B 2.2, 4.1',
    path: `job/${settle.id}/info`,
    since: 18,
    says: [
      {
        at: [18, 47],
        json: { ...settle, ...scheduled, averageDuration: 10333, nextScheduledExecution: '2026-01-15T13:00:00Z' },
      },
      {
        at: [58],
        dialect: 'rundeck',
        json: {
          ...at58.settle,
          ...scheduled,
          ...history,
          averageDuration: 10333,
          nextScheduledExecution: '2026-01-15T13:00:00.000Z',
        },
      },
    ],
  },
  { section: 'J 2', path: `job/${backupId}/info`, since: 18, says: [{ at: [18, 47], json: { ...backup, ...byHand } }] },
  {
    section: 'B 4.1',
    path: `job/${settle.id}/forecast`,
    since: 31,
    says: [
      { at: [31, 47], query: '?time=3h', json: { ...settle, ...scheduled, futureScheduledExecutions: hours } },
      { at: [47], query: '?max=1', json: { ...settle, ...scheduled, futureScheduledExecutions: hours.slice(0, 1) } },
      // The opposite parameter exists since v32.
      {
        at: [31],
        query: '?time=1h&past=true',
        json: { ...settle, ...scheduled, futureScheduledExecutions: ['2026-01-15T13:00:00Z'] },
      },
      {
        at: [32, 47],
        query: '?time=2h&past=true',
        json: { ...settle, ...scheduled, futureScheduledExecutions: ['2026-01-15T11:00:00Z', '2026-01-15T12:00:00Z'] },
      },
      {
        at: [58],
        dialect: 'rundeck',
        query: '?time=1h',
        json: {
          ...at58.settle,
          ...scheduled,
          ...history,
          projectDisableExecutions: false,
          projectDisableSchedule: false,
          averageDuration: 10333,
          futureScheduledExecutions: ['2026-01-15T13:00:00.000Z'],
        },
      },
    ],
  },
  {
    section: 'B 4.1, J 2',
    path: `job/${settle.id}/workflow`,
    since: 33,
    realSince: 34,
    says: [
      { at: [33], dialect: 'service', json: { workflow: [{ exec: 'true' }] } },
      { at: [34, 47, 58], json: { workflow: [{ exec: 'true' }] } },
    ],
  },
  {
    section: 'B 4.1',
    path: `job/${settle.id}`,
    since: 14,
    says: [
      {
        at: [14, 43],
        status: 415,
        json: errorOf(47, 'api.error.item.unsupported-format', 'The format is not valid: application/json'),
      },
      {
        at: [44, 47],
        json: [
          {
            id: settle.id,
            uuid: settle.id,
            name: 'settle',
            group: 'nightly',
            description: 'Settles the day',
            executionEnabled: true,
            scheduleEnabled: true,
            sequence: { keepgoing: false, strategy: 'node-first', commands: [{ exec: 'true' }] },
            loglevel: 'INFO',
            nodeFilterEditable: false,
            nodefilters: { filter: 'name: web01,web02', dispatch: { keepgoing: false, threadcount: '1' } },
            options: [{ name: 'mode', value: 'full' }],
            // Real servers write the times of a schedule in another form.
            schedule: { everyMs: 3_600_000, offsetMs: 0 },
          },
        ],
      },
    ],
  },
];

describe('simulator/documents/job-detail', () => {
  testRows(rows);
});
