import { describe, expect, it } from 'vitest';
import { clusterJobsCollector } from '../../src/collectors/cluster-jobs.ts';
import { createTestClient } from '../support/client.ts';
import { fakeClock } from '../support/fake-clock.ts';
import { type CannedAnswer, scrapeCollector, shown } from '../support/scrape.ts';
import { createTestTransport } from '../support/transport.ts';
import { createTestWatch } from '../support/watch.ts';

const OWN = 'scheduler/jobs';
const A = '3c1a9f5e-0000-4000-8000-00000000000a';
const B = '3c1a9f5e-0000-4000-8000-00000000000b';

describe('collectors/cluster-jobs', () => {
  it.each(['rundeck', 'service'] as const)(
    'counts the jobs of the member that responds in the %s dialect',
    async (dialect) => {
      const answers = {
        'system/info': info(dialect, A),
        [OWN]: jobs(A, A),
        [`scheduler/server/${A}/jobs`]: jobs(A, A),
      };
      expect(await scrapeCollector('cluster-jobs', { dialect, answers })).toEqual(shown`
      # TYPE automation_cluster_member_jobs gauge
      automation_cluster_member_jobs{server="prod",server_uuid="3c1a9f5e-0000-4000-8000-00000000000a"} 2`);
    },
  );

  it('counts the jobs of two members that responded in turn', async () => {
    const answers = {
      'system/info': info('rundeck', A),
      [OWN]: jobs(B, B, B),
      [`scheduler/server/${A}/jobs`]: jobs(),
      [`scheduler/server/${B}/jobs`]: jobs(B, B, B),
    };
    expect(await scrapeCollector('cluster-jobs', { answers })).toEqual(shown`
      # TYPE automation_cluster_member_jobs gauge
      automation_cluster_member_jobs{server="prod",server_uuid="3c1a9f5e-0000-4000-8000-00000000000a"} 0
      automation_cluster_member_jobs{server="prod",server_uuid="3c1a9f5e-0000-4000-8000-00000000000b"} 3`);
  });

  it('still counts a member that has become silent', async () => {
    const lists = { [`scheduler/server/${A}/jobs`]: jobs(A), [`scheduler/server/${B}/jobs`]: jobs(B, B) };
    const before = { 'system/info': info('rundeck', B), [OWN]: jobs(B, B), ...lists };
    const answers = { 'system/info': info('rundeck', A), [OWN]: jobs(A), ...lists };
    expect(await scrapeCollector('cluster-jobs', { before, answers })).toEqual(shown`
      # TYPE automation_cluster_member_jobs gauge
      automation_cluster_member_jobs{server="prod",server_uuid="3c1a9f5e-0000-4000-8000-00000000000a"} 1
      automation_cluster_member_jobs{server="prod",server_uuid="3c1a9f5e-0000-4000-8000-00000000000b"} 2`);
  });

  it('forgets a member without jobs a day after its last response', async () => {
    const transport = createTestTransport((path) => {
      if (path.endsWith('/system/info')) return { system: { rundeck: { version: '5.3.0', serverUUID: A } } };
      return path.endsWith('/lost/jobs') ? [{ serverNodeUUID: 'lost' }] : [];
    });
    const { api } = createTestClient({ url: 'http://unused.test', transport });
    const { watch } = createTestWatch(fakeClock({ now: () => 0, ticks: () => 0 }));
    const before = { old: 1000, recent: 1001, lost: 1000 };
    const collected = await clusterJobsCollector.collect(api, watch, before, () => 86_401_000);
    expect(collected).toMatchObject({ memory: { [A]: 86_401_000, lost: 86_401_000, recent: 1001 } });
    expect(Object.keys(collected.off === undefined ? collected.memory : {})).not.toContain('old');
  });

  it('does not count a job without an owner', async () => {
    const answers = {
      'system/info': info('rundeck', A),
      [OWN]: { body: '[{"id":"j1","name":"n","serverOwner":false},{"id":"j2","name":"m","serverNodeUUID":null}]' },
      [`scheduler/server/${A}/jobs`]: jobs(A),
    };
    const { text } = await scrapeCollector('cluster-jobs', { answers });
    expect(text.split('\n').slice(1)).toEqual([
      'automation_cluster_member_jobs{server="prod",server_uuid="3c1a9f5e-0000-4000-8000-00000000000a"} 1',
    ]);
  });

  it('shows no series outside cluster mode', async () => {
    const answers = { 'system/info': info('rundeck', null), [OWN]: jobs(A) };
    expect(await scrapeCollector('cluster-jobs', { answers })).toEqual({ outcome: 'success', text: '' });
  });

  it('explains why there are no series outside cluster mode', async () => {
    const transport = createTestTransport(() => ({ system: { rundeck: { version: '5.3.0', serverUUID: null } } }));
    const { api } = createTestClient({ url: 'http://unused.test', transport });
    const { watch } = createTestWatch(fakeClock({ now: () => 0, ticks: () => 0 }));
    expect(await clusterJobsCollector.collect(api, watch, {}, () => 0)).toMatchObject({
      off: { reason: 'meaningless' },
    });
  });

  it.each<readonly [string, CannedAnswer]>([
    ['forbidden', { status: 403, body: '{"error":true,"errorCode":"api.error.item.unauthorized","message":"no"}' }],
    ['decode', { body: '{"jobs":[]}' }],
  ])('reports %s and no series for %j', async (outcome, answer) => {
    const answers = { 'system/info': info('rundeck', A), [OWN]: answer };
    expect(await scrapeCollector('cluster-jobs', { answers })).toEqual({ outcome, text: '' });
  });
});

function info(dialect: 'rundeck' | 'service', uuid: string | null): CannedAnswer {
  const apiversion = dialect === 'rundeck' ? '"47"' : '47';
  return {
    body: `{"system":{"${dialect}":{"version":"5.3.0","apiversion":${apiversion},"serverUUID":${JSON.stringify(uuid)}}}}`,
  };
}

/** Jobs by their owner. */
function jobs(...owners: readonly string[]): CannedAnswer {
  const list = owners.map(
    (owner, index) =>
      `{"id":"j${index}","name":"n","group":null,"project":"p","scheduled":true,"scheduleEnabled":true,"enabled":true,"serverNodeUUID":"${owner}","serverOwner":true}`,
  );
  return { body: `[${list.join(',')}]` };
}
