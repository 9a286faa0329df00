import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Simulator } from '../../simulator/simulator.ts';
import { toAccessPolicy } from '../../src/api/access-policy.ts';
import { type Endpoint, toPath } from '../../src/api/endpoint.ts';
import { ask, noon, settleId, startSmall } from '../simulator/caller.ts';

const folder = join(import.meta.dirname, '../../src/api/endpoints');
/** A policy without rights in the project, which stays visible: everyone with any right in a project can see it. */
const none = { projects: ['pay'], events: [], jobs: [], adhoc: [], nodes: [], systemRead: false };

let simulator: Simulator;
let path: Readonly<Record<string, string>>;
beforeAll(async () => {
  simulator = await startSmall();
  const executionId = simulator.control.addFinished('pay', {
    jobId: settleId,
    startedAtMs: noon - 9000,
    endedAtMs: noon - 8000,
  });
  path = { project: 'pay', id: String(executionId), uuid: 'x', folder: 'keys' };
});
afterAll(() => simulator.stop());

describe('api/endpoints, their rights', async () => {
  const modules = await Promise.all(readdirSync(folder).map((file) => import(join(folder, file)) as Promise<object>));
  const endpoints = modules.flatMap((found) => Object.values(found).filter(isEndpoint));

  it('lists the rights that the service requires', async () => {
    const lines: string[] = [];
    for (const endpoint of endpoints) {
      const token = `of-${lines.length}`;
      simulator.control.addToken({ token, policy: none });
      const id = endpoint.path.startsWith('job/') ? settleId : path['id'];
      const url = `api/47/${toPath(endpoint, { path: { ...path, id } })}`;
      const headers = { 'X-Rundeck-Auth-Token': token };
      const { status: before } = await ask(simulator, url, { headers });
      simulator.control.addAccessRules(token, toAccessPolicy([endpoint]));
      const { status: after } = await ask(simulator, url, { headers });
      lines.push(`${endpoint.name} ${before} ${after}`);
    }
    // Every other endpoint responds `denied` (metrics: 401 from the servlet), then `allowed`, or 404 for an unknown key.
    expect(lines.filter((line) => !/40[13] (200|404)$/.test(line)).toSorted()).toEqual([
      // The simulated service does not implement these rights of policies and keys.
      'acl-policies 403 403',
      // The release is older than this endpoint.
      'authorizations-job 404 404',
      'authorizations-of-project 404 404',
      'authorizations-project 404 404',
      'authorizations-system 404 404',
      // These lists omit the rows that the token cannot read.
      'cluster-member-jobs 200 200',
      'cluster-own-jobs 200 200',
      'executions-metrics 200 200',
      'executions-total 200 200',
      'plugin-list 200 200',
      'project-acl-policies 403 403',
      'project-executions 200 200',
      'project-executions-metrics 200 200',
      'project-jobs 200 200',
      'project-meta 200 200',
      'projects 200 200',
      'projects 200 200',
      // For the token, denied keys do not exist.
      'stored-keys 404 404',
      'stored-keys-folder 404 404',
      'system-info 200 200',
      'tokens 200 200',
      // Only the commercial edition has this endpoint.
      'user-classes 404 404',
    ]);
  });
});

function isEndpoint(value: unknown): value is Endpoint<unknown> {
  return typeof value === 'object' && value !== null && 'body' in value && 'path' in value && 'name' in value;
}
