import { describe } from 'vitest';
import type { Simulator } from '../../../simulator/simulator.ts';
import { noon } from '../caller.ts';
import { anyUuid, errorOf, type Row, testRows } from './row.ts';

const own = { id: anyUuid, creator: 'exporter', user: 'exporter', roles: ['admin'], expired: false };
const mail = { firstName: null, lastName: null };
const people = [
  { login: 'amira', ...mail, email: 'amira@example.org' },
  { login: 'exporter', ...mail, email: null },
  { login: 'jonas', ...mail, email: 'jonas@example.org' },
  { login: 'lee', ...mail, email: 'lee@example.org' },
];
const times = { created: '2025-03-03T09:30:00Z', updated: '2025-03-03T09:30:00Z' };
const listed = [
  { ...people[0], ...times, lastJob: '2026-01-15T11:59:30Z', tokens: 0 },
  { ...people[1], ...times, lastJob: null, tokens: 1 },
  { ...people[2], ...times, lastJob: null, tokens: 0 },
  { ...people[3], ...times, lastJob: null, tokens: 0 },
];

function addExpiring({ control }: Simulator): void {
  control.addToken({ token: 'one', user: 'lee', name: 'ci', expiresAtMs: noon - 500 });
  control.addToken({ token: 'two', user: 'lee', creator: 'amira', expiresAtMs: noon + 86_400_000 });
}

function buyCommercial({ control }: Simulator): void {
  control.configure({ commercial: true });
}

const allocations = {
  allocations: { amira: 'full', exporter: 'full', jonas: 'viewer' },
  state: 'ok',
  message: '',
  summary: { full: 2, viewer: 1 },
  exceeded: {},
  entitled: { full: 10, viewer: 100 },
};

const rows: readonly Row[] = [
  {
    section: 'A 2.1, 4.1',
    path: 'tokens',
    since: 11,
    realSince: 19,
    says: [
      { at: [14, 18], server: 36, json: [{ user: 'exporter', id: 'secret-token' }] },
      { at: [14, 18], dialect: 'service', json: [{ user: 'exporter', id: 'secret-token' }] },
      { at: [19, 36], json: [own] },
      { at: [37, 47], json: [{ ...own, name: 'demo' }] },
      {
        at: [37, 47],
        prepare: addExpiring,
        json: [
          { ...own, name: 'demo' },
          {
            id: anyUuid,
            creator: 'lee',
            user: 'lee',
            roles: ['readers'],
            name: 'ci',
            expiration: '2026-01-15T11:59:59Z',
            expired: true,
          },
          {
            id: anyUuid,
            creator: 'amira',
            user: 'lee',
            roles: ['readers'],
            expiration: '2026-01-16T12:00:00Z',
            expired: false,
          },
        ],
      },
    ],
  },
  {
    section: 'A 2.2, 4.6',
    path: 'user/list/',
    since: 27,
    realSince: 21,
    says: [
      { at: [21, 26], dialect: 'rundeck', json: people },
      { at: [27, 47], json: listed },
      { at: [52], dialect: 'service', server: 58, json: listed },
      {
        at: [53, 58],
        dialect: 'rundeck',
        json: listed.map((user) => ({
          ...user,
          created: '2025-03-03T09:30:00.000Z',
          updated: '2025-03-03T09:30:00.000Z',
          lastJob: user.lastJob === null ? null : '2026-01-15T11:59:30.000Z',
          lastLogin: null,
        })),
      },
    ],
  },
  { section: 'A 4.6', path: 'user/info/', since: 21, says: [{ at: [21, 47, 58], json: people[1] }] },
];

describe('simulator/documents/tokens-users', () => {
  testRows(rows);
  testRows([
    {
      section: 'A 2.7, 4.7',
      path: 'userclass/state',
      since: 41,
      prepare: buyCommercial,
      says: [
        { at: [41, 47, 58], prepare: buyCommercial, json: allocations },
        {
          at: [41],
          status: 404,
          json: errorOf(47, 'api.error.invalid.request', 'Invalid API Request: /api/41/userclass/state'),
        },
      ],
    },
  ]);
});
