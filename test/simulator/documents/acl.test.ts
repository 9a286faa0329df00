import { describe } from 'vitest';
import { type Row, testRows } from './row.ts';

const rows: readonly Row[] = [
  {
    section: 'A 2.10, 4.8',
    path: 'system/acl/',
    since: 14,
    says: [
      {
        at: [14, 47],
        json: {
          path: '',
          type: 'directory',
          href: '{base}/api/47/system/acl/',
          resources: [
            {
              path: 'readers.aclpolicy',
              type: 'file',
              href: '{base}/api/47/system/acl/readers.aclpolicy',
              name: 'readers.aclpolicy',
            },
          ],
        },
      },
    ],
  },
  {
    section: 'A 2.10, 4.8',
    path: 'project/pay/acl/',
    since: 13,
    says: [
      {
        at: [13],
        server: 37,
        json: {
          path: '',
          type: 'directory',
          href: '{base}/api/37/project/pay/acl/',
          resources: [
            {
              path: 'readers.aclpolicy',
              type: 'file',
              href: '{base}/api/37/project/pay/acl/readers.aclpolicy',
              name: 'readers.aclpolicy',
            },
          ],
        },
      },
      {
        at: [14, 47],
        json: {
          path: '',
          type: 'directory',
          href: '{base}/api/47/project/pay/acl/',
          resources: [
            {
              path: 'readers.aclpolicy',
              type: 'file',
              href: '{base}/api/47/project/pay/acl/readers.aclpolicy',
              name: 'readers.aclpolicy',
            },
          ],
        },
      },
    ],
  },
];

describe('simulator/documents/acl', () => {
  testRows(rows);
});
