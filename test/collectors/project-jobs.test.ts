import { describe, expect, it } from 'vitest';
import { type CannedAnswer, golden, refusal, scrapeCollector, shown } from '../support/scrape.ts';

describe('collectors/project-jobs', () => {
  it('counts the jobs of 5.3 by their switches', async () => {
    // `group` is null at the top level; `scheduleEnabled` is true for jobs without a schedule.
    const body = `[
      {"id":"1","name":"settle","group":"nightly","project":"pay","description":"","href":"h","permalink":"p","scheduled":true,"scheduleEnabled":true,"enabled":true},
      {"id":"2","name":"report","group":"nightly","project":"pay","description":null,"href":"h","permalink":"p","scheduled":true,"scheduleEnabled":true,"enabled":true},
      {"id":"3","name":"retire","group":"nightly","project":"pay","description":"","href":"h","permalink":"p","scheduled":true,"scheduleEnabled":false,"enabled":true},
      {"id":"4","name":"backup","group":null,"project":"pay","description":"","href":"h","permalink":"p","scheduled":false,"scheduleEnabled":true,"enabled":true},
      {"id":"5","name":"old","group":null,"project":"pay","description":"","href":"h","permalink":"p","scheduled":false,"scheduleEnabled":true,"enabled":false,"serverNodeUUID":"u","serverOwner":true}]`;
    expect(await scrape({ body })).toEqual(shown`
        # TYPE automation_project_jobs gauge
        automation_project_jobs{server="prod",project="pay",scheduled="false",enabled="false",schedule_enabled="true"} 1
        automation_project_jobs{server="prod",project="pay",scheduled="false",enabled="true",schedule_enabled="true"} 1
        automation_project_jobs{server="prod",project="pay",scheduled="true",enabled="true",schedule_enabled="false"} 1
        automation_project_jobs{server="prod",project="pay",scheduled="true",enabled="true",schedule_enabled="true"} 2`);
  });

  it.each<readonly [string, Upstream, string, string]>([
    [
      '17, the first to tell the switches',
      { apiVersion: 17 },
      '"scheduled":true,"scheduleEnabled":true,"enabled":false',
      'scheduled="true",enabled="false",schedule_enabled="true"',
    ],
    ['14, which tells none', { apiVersion: 14 }, '"description":""', 'scheduled="",enabled="",schedule_enabled=""'],
    // API reference, "Job summary" names no fields.
    [
      'the neutral dialect',
      { dialect: 'service' },
      '"scheduled":false,"scheduleEnabled":true,"enabled":true',
      'scheduled="false",enabled="true",schedule_enabled="true"',
    ],
    [
      'switches that arrive as text',
      {},
      '"scheduled":"true","scheduleEnabled":"false","enabled":"true"',
      'scheduled="true",enabled="true",schedule_enabled="false"',
    ],
    [
      'switches that are null',
      {},
      '"scheduled":null,"scheduleEnabled":null,"enabled":true',
      'scheduled="",enabled="true",schedule_enabled=""',
    ],
  ])('reads a job of %s', async (_name, upstream, switches, labels) => {
    expect(await scrape({ body: `[{"id":"1","name":"settle","group":"g",${switches}}]` }, upstream)).toEqual(shown`
        # TYPE automation_project_jobs gauge
        automation_project_jobs{server="prod",project="pay",${labels}} 1`);
  });

  it('shows 0 for a project without jobs', async () => {
    expect(await scrape({ body: '[]' })).toEqual(shown`
        # TYPE automation_project_jobs gauge
        automation_project_jobs{server="prod",project="pay",scheduled="",enabled="",schedule_enabled=""} 0`);
  });

  it('counts only jobs that the configuration includes', async () => {
    const body =
      '[{"id":"1","name":"settle","group":"nightly"},{"id":"2","name":"settle","group":null},{"id":"3","name":"x"}]';
    const isWanted = (path: string) => path === 'pay/nightly/settle' || path === 'pay/settle';
    expect(await scrape({ body }, { watch: { jobs: { isWanted, detail: 200 } } })).toEqual(shown`
        # TYPE automation_project_jobs gauge
        automation_project_jobs{server="prod",project="pay",scheduled="",enabled="",schedule_enabled=""} 2`);
  });

  it('encodes the name of a project', async () => {
    const answers = {
      projects: { body: '[{"name":"a b/c"}]' },
      'project/a%20b%2Fc/jobs': { body: '[{"id":"1","name":"x"}]' },
    };
    const { text } = await scrapeCollector('project-jobs', { answers });
    expect(text).toBe(golden`
      # TYPE automation_project_jobs gauge
      automation_project_jobs{server="prod",project="a b/c",scheduled="",enabled="",schedule_enabled=""} 1`);
  });

  it.each<readonly [string, CannedAnswer]>([
    ['forbidden', refusal(403, 'api.error.item.unauthorized')],
    ['unauthorized', refusal(403, 'unauthorized')],
    ['success', refusal(404, 'api.error.project.disabled')],
    ['success', refusal(404, 'api.error.project.missing')],
    ['server', { status: 500, body: '{"error":"A server error occurred"}' }],
    ['decode', { body: '{"jobs":[]}' }],
    ['decode', { body: '[{"name":"no id"}]' }],
  ])('reports %s and no series for %j', async (outcome, answer) => {
    expect(await scrape(answer)).toEqual({ outcome, text: '' });
  });
});

type Upstream = Omit<Parameters<typeof scrapeCollector>[1], 'answers'>;

function scrape(answer: CannedAnswer, upstream: Upstream = {}) {
  const answers = { projects: { body: '[{"name":"pay"}]' }, 'project/pay/jobs': answer };
  return scrapeCollector('project-jobs', { answers, ...upstream });
}
