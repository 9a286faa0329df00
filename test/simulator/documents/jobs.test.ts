import { describe } from 'vitest';
import { anyUuid, errorOf, type Row, testRows } from './row.ts';

import { at58, backup, byHand, history, scheduled, settle } from './small-jobs.ts';

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
      // Since v17, every job has the owner of its schedule (J 2).
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
    ],
  },
  {
    section: 'A 4.5',
    path: 'scheduler/jobs',
    since: 17,
    says: [
      { at: [17, 47], json: [{ ...settle, ...scheduled }] },
      { at: [58], dialect: 'rundeck', json: [{ ...at58.settle, ...scheduled, ...history }] },
      // The first of two members responds, and the second member owns the only schedule.
      { at: [17, 47], options: { members: 2 }, json: [] },
    ],
  },
  { section: 'A 4.5', path: 'scheduler/server/unknown/jobs', since: 17, says: [{ at: [17, 47, 58], json: [] }] },
  {
    section: 'J 5',
    path: 'job/none/info',
    since: 18,
    says: [{ at: [47], status: 404, json: errorOf(47, 'api.error.item.doesnotexist', 'Job ID does not exist: none') }],
  },
];

describe('simulator/documents/jobs', () => {
  testRows(rows);
});
