import { describe, expect, it } from 'vitest';
import { ask, settleId, startSmall } from '../caller.ts';
import { errorOf } from './row.ts';

// The simulated service omits these parts of the documents on purpose (v47 of the commercial edition).
const leftOut: readonly (readonly [section: string, path: string])[] = [
  ['A 4.2', 'config/list'],
  ['A 4.8', 'system/acl/readers.aclpolicy'],
  ['A 4.8', 'project/pay/acl/readers.aclpolicy'],
  ['A 4.9', 'project/pay/export'],
  ['A 4.9', 'project/pay/readme.md'],
  ['A 4.9', 'project/pay/motd.md'],
  ['A 4.11', 'project/pay/export/async'],
  ['A 4.11', 'project/pay/export/status/token'],
  ['A 4.11', 'project/pay/export/download/token'],
  ['A 4.1', 'token/secret-token'],
  ['A 4.1', 'tokens/amira'],
  ['A 4.3', 'metrics'],
  ['A 4.6', 'user/roles'],
  ['A 4.7', 'userclass/available'],
  ['A 4.9', 'project/pay'],
  ['A 4.9', 'project/pay/config'],
  ['A 4.11', 'feature/'],
  ['A 4.11', 'project/pay/jobs/browse'],
  ['A 4.11', 'project/pay/sources'],
  ['A 4.11', 'project/pay/source/1'],
  ['A 4.11', 'project/pay/source/1/resources'],
  ['A 4.11', 'project/pay/webhooks'],
  ['A 4.11', 'project/pay/webhook/1'],
  ['A 4.11', 'project/pay/jobTags/query'],
  ['A 4.11', 'project/pay/calendars'],
  ['A 4.11', 'project/pay/scm/export/status'],
  ['A 4.11', `job/${settleId}/scm/export/status`],
  ['A 4.11', 'system/calendars'],
  ['A 4.11', 'enterprise/license'],
  ['A 4.11', 'runnerManagement/runners'],
  ['A 4.11', 'runnerTag/searchTags'],
  ['B 4.1', 'project/pay/jobs/export'],
  ['B 4.1', `job/${settleId}/meta`],
  ['B 4.4', 'project/pay/history'],
  ['B 4.5', 'project/pay/resource/web01'],
  ['B 4.1', `job/${settleId}/input/files`],
  ['B 4.1', 'jobs/file/1'],
  ['B 4.1', `job/${settleId}/tags`],
  ['B 4.2', 'execution/1/input/files'],
  ['B 4.2', 'execution/1/output/state'],
  ['B 4.2', 'execution/1/result/dataAvailable'],
  ['B 4.2', 'execution/1/result/data'],
  ['B 4.3', 'project/pay/run/url'],
];

describe('simulator/documents/left-out', () => {
  it.each(leftOut)('reports for %s that there is no %s', async (_section, path) => {
    const simulator = await startSmall();
    simulator.control.configure({ commercial: true });
    const { status, json } = await ask(simulator, `api/47/${path}`);
    await simulator.stop();
    expect(status).toBe(404);
    expect(json).toEqual(errorOf(47, 'api.error.invalid.request', `Invalid API Request: /api/47/${path}`));
  });

  it.each(['project/pay/nodes/tags'])('has no %s of the newest releases', async (path) => {
    const simulator = await startSmall({ apiVersion: 58 });
    const { status, json } = await ask(simulator, `api/58/${path}`);
    await simulator.stop();
    expect(status).toBe(404);
    expect(json).toMatchObject({ errorCode: 'api.error.invalid.request' });
  });
});
