import { describe, expect, it } from 'vitest';
import type { Simulator } from '../../../simulator/simulator.ts';
import { ask, settleId, startSmall } from '../caller.ts';

const headers = { 'X-Rundeck-Auth-Token': 'blind' };
const reader = `description: reads
context:
  application: rundeck
for:
  project:
    - { allow: [read] }
  resource:
    - { equals: { kind: system }, allow: [read] }
by:
  group: readers
---
description: reads
context:
  project: 'p.*'
for:
  resource:
    - { equals: { kind: event }, allow: [read] }
  job:
    - { allow: [read] }
by:
  group: readers
`;
const adhoc = "context: { project: 'pay' }\nfor: { adhoc: [{ allow: read }] }\nby: { group: readers }\n";
const ofNobody = reader.replaceAll(/by:\n {2}group: readers\n/g, '');

/** Returns the statuses of requests, and how many of two executions are visible. */
async function see(simulator: Simulator): Promise<readonly unknown[]> {
  const { json: list } = await ask(simulator, 'api/47/project/pay/executions', { headers });
  const asked = ['project/pay/executions/running', 'system/logstorage', `job/${settleId}/info`].map((path) =>
    ask(simulator, `api/47/${path}`, { headers }),
  );
  const statuses = (await Promise.all(asked)).map(({ status }) => status);
  // The body of a refusal has no list.
  return [...statuses, (list as { executions?: unknown[] }).executions?.length];
}

async function start(): Promise<Simulator> {
  const simulator = await startSmall();
  const none = { projects: [], events: [], jobs: [], adhoc: [], systemRead: false };
  simulator.control.addToken({ token: 'blind', policy: none });
  return simulator;
}

describe('simulator/world/access-rules', () => {
  it('gives a token what a policy allows', async () => {
    const simulator = await start();
    const before = await see(simulator);
    simulator.control.addAccessRules('blind', reader);
    const reading = await see(simulator);
    simulator.control.addAccessRules('blind', adhoc);
    const readingAll = await see(simulator);
    await simulator.stop();

    expect(before).toEqual([403, 403, 403, 0]);
    expect(reading).toEqual([200, 200, 200, 1]);
    expect(readingAll).toEqual([200, 200, 200, 2]);
  });

  it('gives no right to projects that the context does not name', async () => {
    const simulator = await start();
    simulator.control.addAccessRules('blind', reader.replace("'p.*'", "'stock'"));
    const seen = await see(simulator);
    await simulator.stop();
    expect(seen).toEqual([403, 200, 403, 0]);
  });

  it.each([
    ['is for nobody', ofNobody, 'a policy needs `by`'],
    ['allows what is not there', reader.replace('kind: event', 'kind: evnt'), 'has no right `evnt read`'],
    ['is no YAML', 'for: [', 'sequence'],
  ])('refuses a policy that %s', async (_, text, message) => {
    const simulator = await start();
    const permit = (): void => simulator.control.addAccessRules('blind', text);
    expect(permit).toThrow(message);
    await simulator.stop();
  });
});
