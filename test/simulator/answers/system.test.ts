import { describe, expect, it } from 'vitest';
import { strangerPolicy } from '../../../simulator/world/access.ts';
import { ask, startEmpty, startSmall } from '../caller.ts';

const day = 86_400_000;

describe('simulator/answers/system-info', () => {
  it.each([
    [47, 'service', 2_592_000_000, 0.42],
    [58, 'rundeck', -1_702_967_296, 0],
    [47, 'rundeck', -1_702_967_296, 0],
  ] as const)(
    'lets the uptime overflow after 24.8 days like some releases: v%i %s',
    async (apiVersion, dialect, duration, load) => {
      const simulator = await startEmpty({ apiVersion, dialect, historyMs: 30 * day });
      const header = dialect === 'service' ? 'X-Service-Auth-Token' : 'X-Rundeck-Auth-Token';
      const reply = await ask(simulator, 'api/47/system/info', { headers: { [header]: simulator.token } });
      await simulator.stop();
      const since = { epoch: 1_765_886_400_000, unit: 'ms', datetime: '2025-12-16T12:00:00Z' };
      expect(reply.json).toMatchObject({
        system: { stats: { uptime: { duration, since }, cpu: { loadAverage: { unit: 'percent', average: load } } } },
      });
    },
  );

  it.each([
    ['4.0.0', 41, false, 2.5],
    ['4.1.0', 41, false, 0.625],
    ['4.3.0', '41', true, 0],
  ] as const)('reports version and load like %s', async (release, apiversion, isText, average) => {
    const simulator = await startEmpty({ apiVersion: 41, release });
    simulator.control.configure({ loadAverage: 2.5 });
    const reply = await ask(simulator, 'api/41/system/info');
    await simulator.stop();
    const active = isText ? 'true' : true;
    expect(reply.json).toMatchObject({
      system: { rundeck: { apiversion }, executions: { active }, stats: { cpu: { loadAverage: { average } } } },
    });
  });

  it('shows a restricted token at most the version', async () => {
    const replies = [];
    for (const apiVersion of [47, 40]) {
      const simulator = await startEmpty({ apiVersion });
      simulator.control.addToken({ token: 'weak', policy: strangerPolicy });
      replies.push(
        await ask(simulator, `api/${apiVersion}/system/info`, { headers: { 'X-Rundeck-Auth-Token': 'weak' } }),
      );
      await simulator.stop();
    }
    expect(replies[0]?.status).toBe(200);
    expect(replies[0]?.json).toMatchObject({
      system: { rundeck: { apiversion: '47' }, timestamp: null, executions: null, stats: null, healthcheck: null },
    });
    expect(replies[1]?.status).toBe(403);
    expect(replies[1]?.json).toMatchObject({ errorCode: 'api.error.item.unauthorized' });
  });

  it('shows each cluster member at its own address', async () => {
    const simulator = await startEmpty({ members: 2, memberAddresses: true });
    simulator.control.setClockSkew(-600_000, 1);
    const ask2 = async (url: string) => {
      const response = await fetch(`${url}/api/47/system/info`, {
        headers: { 'X-Rundeck-Auth-Token': simulator.token, accept: 'application/json' },
      });
      const { system } = (await response.json()) as {
        system: { rundeck: { node: string }; timestamp: { datetime: string } };
      };
      return `${system.rundeck.node} ${system.timestamp.datetime}`;
    };
    const own = [];
    for (const url of simulator.memberUrls) {
      own.push(await ask2(url));
    }
    const common = [await ask2(simulator.url), await ask2(simulator.url), await ask2(simulator.url)];
    await simulator.stop();
    expect(own).toEqual(['auto-1 2026-01-15T12:00:00Z', 'auto-2 2026-01-15T11:50:00Z']);
    expect(common).toEqual([
      'auto-1 2026-01-15T12:00:00Z',
      'auto-2 2026-01-15T11:50:00Z',
      'auto-1 2026-01-15T12:00:00Z',
    ]);
  });
});

describe('simulator/answers/execution-mode', () => {
  it('starts nothing while passive', async () => {
    const simulator = await startSmall();
    simulator.advance(3_601_000);
    simulator.control.setExecutionMode('passive');
    simulator.advance(2 * 3_600_000);
    const whilePassive = simulator.truth().executions.map(({ id, status }) => `${id} ${status}`);
    simulator.control.setExecutionMode('active');
    simulator.advance(3_600_000);
    const ids = simulator.truth().executions.map(({ id }) => id);
    await simulator.stop();
    expect(whilePassive).toEqual(['1 succeeded', '2 failed', '3 succeeded']);
    expect(ids).toEqual([1, 2, 3, 4]);
  });
});

describe('simulator/answers/log-storage', () => {
  it('counts stored logs, failures, retries and incomplete logs (A 2.6)', async () => {
    const simulator = await startSmall();
    simulator.advance(2000);
    const good = await ask(simulator, 'api/47/system/logstorage');
    simulator.control.failLogStorage(true);
    simulator.control.runCommand('pay', 'uptime');
    simulator.advance(70_000);
    const bad = await ask(simulator, 'api/47/system/logstorage');
    const list = await ask(simulator, 'api/47/system/logstorage/incomplete?max=5');
    simulator.control.failLogStorage(false);
    simulator.advance(60_000);
    const healed = await ask(simulator, 'api/47/system/logstorage');
    await simulator.stop();
    expect(good.json).toMatchObject({ succeededCount: 2, failedCount: 0, totalCount: 2, incompleteCount: 0 });
    expect(bad.json).toMatchObject({
      succeededCount: 2,
      failedCount: 2,
      totalCount: 3,
      incompleteCount: 1,
      retriesCount: 1,
    });
    expect(list.text).toBe(
      '{"total":1,"max":5,"offset":0,"executions":[{"id":3,"project":"pay","href":"{base}/api/47/execution/3","permalink":"{base}/project/pay/execution/show/3","storage":{"localFilesPresent":true,"incompleteFiletypes":"rdlog,state.json","queued":true,"failed":false,"date":"2026-01-15T12:00:05Z"},"errors":null}]}',
    );
    expect(healed.json).toMatchObject({ succeededCount: 3, failedCount: 2, incompleteCount: 0 });
  });

  it('refuses a negative offset of a page', async () => {
    const simulator = await startEmpty();
    const reply = await ask(simulator, 'api/47/system/logstorage/incomplete?offset=-1');
    await simulator.stop();
    expect([reply.status, (reply.json as { errorCode: string }).errorCode]).toEqual([400, 'api.error.parameter.error']);
  });
});

describe('simulator/answers/metrics', () => {
  it('reports only healthy checks on 6.x', async () => {
    const simulator = await startEmpty({ apiVersion: 58 });
    const off = await ask(simulator, 'api/58/metrics/healthcheck');
    simulator.control.switchMetrics(true);
    simulator.control.failHealthCheck('dataSource.connection.time');
    const on = await ask(simulator, 'api/58/metrics/healthcheck');
    await simulator.stop();
    expect([off.status, on.status, on.text]).toEqual([404, 200, '{"rundeck":{"healthy":true}}']);
  });

  it('hides a disabled endpoint', async () => {
    const simulator = await startEmpty();
    simulator.control.switchMetrics(false, 'threads');
    const threads = await ask(simulator, 'api/47/metrics/threads');
    const ping = await ask(simulator, 'api/47/metrics/ping');
    await simulator.stop();
    expect([threads.status, ping.status, ping.text]).toEqual([404, 200, 'pong\n']);
  });
});
