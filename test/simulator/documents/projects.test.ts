import { describe } from 'vitest';
import { errorOf, type Row, testRows } from './row.ts';

const pay = { url: '{base}/api/47/project/pay', name: 'pay', description: 'The pay project' };
const modes = { name: 'config', data: { executionsEnabled: true, scheduleEnabled: true } };
const web01 = {
  nodename: 'web01',
  hostname: 'web01.example.org',
  username: 'auto',
  osFamily: 'unix',
  osName: 'Linux',
  osArch: 'amd64',
  osVersion: '6.1',
  description: 'The node web01',
  tags: 'app',
};
const web02 = { ...web01, nodename: 'web02', hostname: 'web02.example.org', description: 'The node web02' };
const created = { created: '2026-01-15T12:00:00Z' };
const payAt58 = { ...pay, url: '{base}/api/58/project/pay', label: '' };

const rows: readonly Row[] = [
  {
    section: 'A 2.8, 4.9',
    path: 'projects',
    since: 1,
    says: [
      { at: [1, 10, 14], server: 37, json: [{ ...pay, url: '{base}/api/37/project/pay' }] },
      { at: [14, 25], json: [pay] },
      { at: [26, 32], json: [{ ...pay, label: '' }] },
      { at: [33, 46, 47], json: [{ ...pay, label: '', ...created }] },
      // Release 6.0 writes dates with milliseconds (J 0).
      { at: [58], dialect: 'rundeck', json: [{ ...payAt58, created: '2026-01-15T12:00:00.000Z' }] },
      { at: [58], dialect: 'service', json: [{ ...payAt58, ...created }] },
      { at: [46], query: '?meta=config', json: [{ ...pay, label: '', ...created }] },
      { at: [47], query: '?meta=config', json: [{ ...pay, label: '', ...created, meta: [modes] }] },
      {
        at: [47],
        query: '?meta=config,sysMode',
        prepare: ({ control }) => {
          control.setExecutionMode('passive');
          control.changeProject('pay', { executionsEnabled: false, label: 'Pay', description: '' });
        },
        json: [
          {
            ...pay,
            description: '',
            label: 'Pay',
            ...created,
            meta: [
              { name: 'config', data: { executionsEnabled: false, scheduleEnabled: true } },
              { name: 'sysMode', data: { active: false } },
            ],
          },
        ],
      },
    ],
  },
  {
    section: 'A 4.9',
    path: 'project/pay/config/project.name',
    since: 11,
    says: [
      { at: [14, 47, 58], dialect: 'rundeck', json: { key: 'project.name', value: 'pay' } },
      { at: [14, 47, 58], dialect: 'service', json: { 'project.name': 'pay' } },
      { at: [47], accept: 'text/plain', text: 'pay' },
      // Without an Accept header, real servers send plain text, but the document describes JSON.
      { at: [47], dialect: 'rundeck', accept: '*/*', text: 'pay' },
      { at: [47], dialect: 'service', accept: '*/*', json: { 'project.name': 'pay' } },
    ],
  },
  {
    section: 'J 2',
    path: 'project/pay/config/no.such.key',
    since: 11,
    says: [
      {
        at: [47],
        status: 404,
        json: errorOf(47, 'api.error.item.doesnotexist', 'property does not exist: no.such.key'),
      },
    ],
  },
  {
    section: 'A 4.11, J 2',
    path: 'project/pay/meta',
    since: 46,
    says: [
      { at: [46, 47, 58], query: '?meta=config', json: [modes] },
      { at: [46], query: '?meta=config,sysMode', json: [modes, { name: 'sysMode', data: { active: true } }] },
      { at: [47], query: '?meta=sysMode', json: [{ name: 'sysMode', data: { active: true } }] },
      { at: [47], query: '?meta=unheard', json: [] },
    ],
  },
  {
    section: 'B 2.9, 4.5',
    path: 'project/pay/resources',
    since: 14,
    says: [
      { at: [14, 22, 23, 47, 58], query: '?format=json', json: { web01, web02 } },
      { at: [23, 47], accept: '*/*', json: { web01, web02 } },
      { at: [22], accept: '*/*', text: '<?xml version="1.0" encoding="UTF-8"?>\n<project/>\n' },
    ],
  },
];

describe('simulator/documents/projects', () => {
  testRows(rows);
});
