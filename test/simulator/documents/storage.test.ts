import { describe } from 'vitest';
import { errorOf, type Row, testRows } from './row.ts';

const root = { path: 'keys', url: '{base}/api/47/storage/keys', type: 'directory' };
const team = { path: 'keys/team', url: '{base}/api/47/storage/keys/team', type: 'directory' };
const payments = { path: 'keys/team/payments', url: '{base}/api/47/storage/keys/team/payments', type: 'directory' };
// For directories, real servers also write the fields of files, each field as null (J 4).
const noFile = { name: null, meta: null };
/** A response of a server of release 5.20.1. */
const changed = {
  'Rundeck-auth-created-username': 'admin',
  'Rundeck-auth-modified-username': 'admin',
  'Rundeck-content-creation-time': '2026-01-15T12:00:00Z',
  'Rundeck-content-modify-time': '2026-01-15T12:00:00Z',
};
const deploy = {
  path: 'keys/deploy.pub',
  type: 'file',
  name: 'deploy.pub',
  url: '{base}/api/47/storage/keys/deploy.pub',
};
const ledger = {
  path: 'keys/team/payments/ledger.password',
  type: 'file',
  name: 'ledger.password',
  url: '{base}/api/47/storage/keys/team/payments/ledger.password',
};
const node = {
  path: 'keys/team/payments/node.pem',
  type: 'file',
  name: 'node.pem',
  url: '{base}/api/47/storage/keys/team/payments/node.pem',
};

const rows: readonly Row[] = [
  {
    section: 'A 2.9, 4.10',
    path: 'storage/keys/',
    since: 11,
    says: [
      {
        at: [14, 47],
        dialect: 'rundeck',
        json: {
          ...root,
          ...noFile,
          resources: [
            {
              ...deploy,
              meta: {
                ...changed,
                'Rundeck-content-type': 'application/pgp-keys',
                'Rundeck-key-type': 'public',
                'Rundeck-content-size': '393',
              },
            },
            { ...team, ...noFile },
          ],
        },
      },
      {
        at: [14, 47],
        dialect: 'service',
        json: {
          ...root,
          resources: [
            {
              ...deploy,
              meta: {
                'Service-content-type': 'application/pgp-keys',
                'Service-key-type': 'public',
                'Service-content-size': '393',
              },
            },
            team,
          ],
        },
      },
    ],
  },
  {
    section: 'A 2.9, 4.10',
    path: 'storage/keys/team/',
    since: 11,
    says: [
      { at: [14, 47], dialect: 'rundeck', json: { ...team, ...noFile, resources: [{ ...payments, ...noFile }] } },
      { at: [14, 47], dialect: 'service', json: { ...team, resources: [payments] } },
    ],
  },
  {
    section: 'A 2.9, 4.10',
    path: 'storage/keys/team/payments',
    since: 11,
    says: [
      {
        at: [14, 47],
        dialect: 'rundeck',
        json: {
          ...payments,
          ...noFile,
          resources: [
            {
              ...ledger,
              meta: {
                ...changed,
                'Rundeck-content-type': 'application/x-rundeck-data-password',
                'Rundeck-data-type': 'password',
                'Rundeck-content-mask': 'content',
              },
            },
            {
              ...node,
              meta: {
                ...changed,
                'Rundeck-content-type': 'application/octet-stream',
                'Rundeck-key-type': 'private',
                'Rundeck-content-mask': 'content',
              },
            },
          ],
        },
      },
      {
        at: [14, 47],
        dialect: 'service',
        json: {
          ...payments,
          resources: [
            {
              ...ledger,
              meta: {
                'Service-content-type': 'application/x-service-data-password',
                'Service-content-size': '24',
                'Service-content-mask': 'content',
              },
            },
            {
              ...node,
              meta: {
                'Service-content-type': 'application/octet-stream',
                'Service-content-size': '1679',
                'Service-key-type': 'private',
                'Service-content-mask': 'content',
              },
            },
          ],
        },
      },
    ],
  },
  {
    section: 'A 4.10',
    path: 'storage/keys/deploy.pub',
    since: 11,
    says: [
      {
        at: [47],
        dialect: 'service',
        json: {
          ...deploy,
          meta: {
            'Service-content-type': 'application/pgp-keys',
            'Service-key-type': 'public',
            'Service-content-size': '393',
          },
        },
      },
      { at: [47], accept: 'application/pgp-keys', text: 'ssh-rsa example-public-key deploy\n' },
      { at: [47], accept: '*/*', text: 'ssh-rsa example-public-key deploy\n' },
    ],
  },
  {
    section: 'A 4.10',
    path: 'storage/keys/team/payments/node.pem',
    since: 11,
    says: [
      {
        at: [47],
        accept: 'application/octet-stream',
        status: 403,
        json: errorOf(
          47,
          'api.error.item.unauthorized',
          'Not authorized for action "read" for Content keys/team/payments/node.pem',
        ),
      },
    ],
  },
  {
    section: 'J 4',
    path: 'storage/keys/no/such',
    since: 11,
    says: [
      { at: [47], dialect: 'rundeck', status: 404, json: { error: 'resource not found: /keys/no/such' } },
      {
        at: [47],
        dialect: 'service',
        status: 404,
        json: errorOf(47, 'api.error.item.doesnotexist', 'Key does not exist: keys/no/such'),
      },
    ],
  },
];

describe('simulator/documents/storage', () => {
  testRows(rows);
});
