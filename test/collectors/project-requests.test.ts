import { describe, expect, it, onTestFinished } from 'vitest';
import { executionMetricsCollector } from '../../src/collectors/execution-metrics.ts';
import { jobInfoCollector } from '../../src/collectors/job-info.ts';
import { projectJobsCollector } from '../../src/collectors/project-jobs.ts';
import { projectModesCollector } from '../../src/collectors/project-modes.ts';
import { projectNodesCollector } from '../../src/collectors/project-nodes.ts';
import { projectsCollector } from '../../src/collectors/projects.ts';
import type { Collector } from '../../src/schedule/collector.ts';
import { startCannedServer } from '../support/canned-server.ts';
import { createTestClient, fixedSecret } from '../support/client.ts';
import { fakeClock } from '../support/fake-clock.ts';
import { createTestWatch } from '../support/watch.ts';

const key = '{"project.disable.executions":"","project.disable.schedule":""}';
const answers = {
  projects: { body: '[{"name":"pay"}]' },
  'project/pay/meta': { body: '[]' },
  'project/pay/config/project.disable.executions': { body: key },
  'project/pay/config/project.disable.schedule': { body: key },
  'project/pay/jobs': { body: '[{"id":"b","name":"b"},{"id":"a/../x","name":"a"}]' },
  'job/b/info': { body: '{"id":"b"}' },
  'job/a%2F..%2Fx/info': { body: '{"id":"a/../x"}' },
  'project/pay/resources': { body: '{}' },
  'executions/metrics': { body: '{}' },
  'project/pay/executions/metrics': { body: '{}' },
};

describe('collectors, requests about projects', () => {
  it.each<readonly [Collector, number, readonly string[]]>([
    [projectsCollector, 47, ['projects?meta=config']],
    [projectsCollector, 46, ['projects']],
    [projectModesCollector, 46, ['project/pay/meta?meta=config']],
    [
      projectModesCollector,
      45,
      ['project/pay/config/project.disable.executions', 'project/pay/config/project.disable.schedule'],
    ],
    [projectJobsCollector, 47, ['project/pay/jobs']],
    [projectJobsCollector, 41, ['project/pay/jobs']],
    // Without this parameter, releases 3 return one page of the list.
    [projectJobsCollector, 40, ['project/pay/jobs?max=100000']],
    // An id with any characters is one segment of the path.
    [jobInfoCollector, 47, ['project/pay/jobs', 'job/a%2F..%2Fx/info', 'job/b/info']],
    [jobInfoCollector, 17, ['project/pay/jobs?max=100000']],
    // Below API 23, servers answer with XML unless JSON is requested.
    [projectNodesCollector, 22, ['project/pay/resources?format=json']],
    [projectNodesCollector, 47, ['project/pay/resources?format=json']],
    // `d` is a day, `m` a month. With an unknown filter, the server counts all its executions.
    [executionMetricsCollector, 47, ['project/pay/executions/metrics?recentFilter=1d']],
  ])('$0.name on version %i requests %j', async (collector, apiVersion, asked) => {
    expect(await ask(collector, apiVersion, 'pay')).toEqual(asked);
  });

  it('requests the metrics of the whole server', async () => {
    expect(await ask(executionMetricsCollector, 47, '')).toEqual(['executions/metrics?recentFilter=1d']);
  });

  it('requests the modes of all projects with the list', async () => {
    const { api, requests, watch, stop } = await connect(47);
    onTestFinished(() => stop());
    await watch.projects.read(api);
    await projectModesCollector.collectAll(api, watch);
    expect(requests()).toEqual(['projects?meta=config']);
  });
});

async function ask(collector: Collector, apiVersion: number, project: string): Promise<string[]> {
  const { api, clock, requests, watch, stop } = await connect(apiVersion);
  try {
    if (collector.kind === 'project') await collector.collect(api, { name: project, needs: new Map() }, watch);
    if (collector.kind === 'server') await collector.collect(api, watch, {}, clock.now);
    return requests();
  } finally {
    await stop();
  }
}

async function connect(apiVersion: number) {
  const clock = fakeClock({ now: () => 0, ticks: () => 0 });
  const canned = await startCannedServer({ apiVersion, dialect: 'rundeck' });
  canned.answer(answers);
  const { api, close } = createTestClient({ url: canned.url, token: fixedSecret(canned.token), clock, apiVersion });
  return {
    api,
    clock,
    ...createTestWatch(clock, { jobs: { isWanted: () => true, detail: 200, asksForAverages: true } }),
    /** The requests without those of the first contact. */
    requests: () =>
      canned.requests
        .map((request) => request.replace(/^GET \/api\/\d+\//, ''))
        .filter((path) => path !== 'system/info'),
    stop: async () => {
      await close();
      await canned.stop();
    },
  };
}
