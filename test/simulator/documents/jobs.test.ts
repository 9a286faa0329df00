import { describe } from 'vitest';
import { backupId } from '../caller.ts';
import { anyUuid, errorOf, type Row, testRows } from './row.ts';

const settle = {
  id: '11111111-1111-4111-a111-111111111111',
  name: 'settle',
  group: 'nightly',
  project: 'pay',
  description: 'Settles the day',
  href: '{base}/api/47/job/11111111-1111-4111-a111-111111111111',
  permalink: '{base}/project/pay/job/show/11111111-1111-4111-a111-111111111111',
};
const backup = {
  id: '22222222-2222-4222-a222-222222222222',
  name: 'backup',
  group: null,
  project: 'pay',
  description: '',
  href: '{base}/api/47/job/22222222-2222-4222-a222-222222222222',
  permalink: '{base}/project/pay/job/show/22222222-2222-4222-a222-222222222222',
};
const scheduled = { scheduled: true, scheduleEnabled: true, enabled: true };
// A job without a schedule has an enabled one all the same (J 2).
const byHand = { scheduled: false, scheduleEnabled: true, enabled: true };
const at58 = {
  settle: { ...settle, href: '{base}/api/58/job/11111111-1111-4111-a111-111111111111' },
  backup: { ...backup, href: '{base}/api/58/job/22222222-2222-4222-a222-222222222222' },
};
const history = {
  created: '2026-01-15T12:00:00.000Z',
  createdBy: 'admin',
  lastModified: '2026-01-15T12:00:00.000Z',
  lastModifiedBy: 'admin',
};
const stats = { name: 'stats', data: { averageDuration: 10333, executionCount: 1, successRate: 1 } };
const schedule = {
  name: 'schedule',
  data: {
    scheduleEnabled: true,
    executionEnabled: true,
    hasSchedule: true,
    serverNodeUUID: null,
    nextExecutionTime: '2026-01-15T13:00:00Z',
  },
};
const hours = ['2026-01-15T13:00:00Z', '2026-01-15T14:00:00Z', '2026-01-15T15:00:00Z'];

const rows: readonly Row[] = [
  {
    section: 'B 2.1, 4.1',
    path: 'project/pay/jobs',
    since: 14,
    says: [
      { at: [14, 16], json: [backup, settle] },
      {
        at: [17, 18, 47],
        json: [
          { ...backup, ...byHand },
          { ...settle, ...scheduled },
        ],
      },
      {
        at: [55],
        dialect: 'rundeck',
        json: [
          { ...at58.backup, ...byHand },
          { ...at58.settle, ...scheduled },
        ],
      },
      {
        at: [56, 58],
        dialect: 'rundeck',
        json: [
          { ...at58.backup, ...byHand, ...history },
          { ...at58.settle, ...scheduled, ...history },
        ],
      },
      { at: [14], options: { members: 2 }, json: [backup, settle] },
      // The owner of a schedule from v17, and from v18 whether the serving member owns it, for every job (J 2).
      {
        at: [17],
        options: { members: 2 },
        json: [
          { ...backup, ...byHand },
          { ...settle, ...scheduled, serverNodeUUID: anyUuid, serverOwner: false },
        ],
      },
      {
        at: [18, 47],
        options: { members: 2 },
        json: [
          { ...backup, ...byHand, serverOwner: false },
          { ...settle, ...scheduled, serverNodeUUID: anyUuid, serverOwner: false },
        ],
      },
      {
        at: [16],
        query: '?scheduledFilter=true',
        status: 400,
        json: errorOf(47, 'api.error.parameter.error', 'The parameter "scheduledFilter" had an invalid value: true'),
      },
    ],
  },
  {
    section: 'A 4.5',
    path: 'scheduler/jobs',
    since: 17,
    says: [
      { at: [17, 47], json: [{ ...settle, ...scheduled }] },
      { at: [58], dialect: 'rundeck', json: [{ ...at58.settle, ...scheduled, ...history }] },
      // The first of two members serves, the second owns the only schedule.
      { at: [17, 47], options: { members: 2 }, json: [] },
    ],
  },
  { section: 'A 4.5', path: 'scheduler/server/unknown/jobs', since: 17, says: [{ at: [17, 47, 58], json: [] }] },
  {
    section: 'B 2.2, 4.1',
    path: `job/${settle.id}/info`,
    since: 18,
    says: [
      {
        at: [18, 47],
        json: {
          ...settle,
          ...scheduled,
          averageDuration: 10333,
          nextScheduledExecution: '2026-01-15T13:00:00Z',
        },
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
      {
        at: [47],
        accept: 'image/png',
        status: 415,
        json: errorOf(47, 'api.error.item.unsupported-format', 'The format is not valid: image/png'),
      },
    ],
  },
  {
    section: 'J 2',
    path: `job/${backupId}/info`,
    since: 18,
    says: [{ at: [18, 47], json: { ...backup, ...byHand } }],
  },
  {
    section: 'J 5',
    path: 'job/none/info',
    since: 18,
    says: [{ at: [47], status: 404, json: errorOf(47, 'api.error.item.doesnotexist', 'Job ID does not exist: none') }],
  },
  {
    section: 'B 4.1',
    path: `job/${settle.id}/forecast`,
    since: 31,
    says: [
      {
        at: [31, 47],
        query: '?time=3h',
        json: { ...settle, ...scheduled, futureScheduledExecutions: hours },
      },
      { at: [47], query: '?max=1', json: { ...settle, ...scheduled, futureScheduledExecutions: hours.slice(0, 1) } },
      // The inverse came with v32; before, the parameter means nothing.
      {
        at: [31],
        query: '?time=1h&past=true',
        json: { ...settle, ...scheduled, futureScheduledExecutions: ['2026-01-15T13:00:00Z'] },
      },
      {
        at: [32, 47],
        query: '?time=2h&past=true',
        json: {
          ...settle,
          ...scheduled,
          futureScheduledExecutions: ['2026-01-15T11:00:00Z', '2026-01-15T12:00:00Z'],
        },
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
    section: 'B 4.1, J 2',
    path: `job/${settle.id}/meta`,
    since: 46,
    says: [
      { at: [46, 47], query: '?meta=stats', json: [stats] },
      { at: [46, 47], query: '?meta=schedule,stats', json: [schedule, stats] },
    ],
  },
  {
    section: 'J 2',
    path: `job/${backupId}/meta`,
    since: 46,
    says: [
      {
        at: [46],
        query: '?meta=stats',
        json: [{ name: 'stats', data: { averageDuration: 0, executionCount: 0, successRate: null } }],
      },
    ],
  },
  {
    section: 'A 4.11, J 2',
    path: 'project/pay/jobs/browse',
    since: 46,
    says: [
      {
        at: [46, 47],
        query: '?path=nightly&meta=schedule',
        json: {
          path: 'nightly',
          items: [
            {
              job: true,
              groupPath: 'nightly',
              jobName: 'settle',
              id: settle.id,
              description: 'Settles the day',
              meta: [schedule],
            },
          ],
        },
      },
      {
        at: [46],
        json: {
          path: '',
          items: [
            { job: false, groupPath: 'nightly' },
            { job: true, groupPath: '', jobName: 'backup', id: backupId, description: '' },
          ],
        },
      },
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
          },
        ],
      },
    ],
  },
];

describe('simulator/documents/jobs', () => {
  testRows(rows);
});
