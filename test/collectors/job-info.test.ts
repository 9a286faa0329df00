import { describe, expect, it } from 'vitest';
import { type CannedAnswer, refusal, scrapeCollector, shown } from '../support/scrape.ts';

const settle =
  '{"id":"aa-1","name":"settle","group":"nightly","project":"pay","description":"","scheduled":true,"scheduleEnabled":true,"enabled":true}';
const backup =
  '{"id":"bb-2","name":"backup","group":null,"project":"pay","description":null,"scheduled":false,"scheduleEnabled":true,"enabled":false}';

describe('collectors/job-info', () => {
  it('reads the jobs of 5.3 and their average durations', async () => {
    // The info of a job has its average in ms if the job has run.
    const answers = {
      'project/pay/jobs': { body: `[${settle},${backup}]` },
      'job/aa-1/info': {
        body: settle.replace('}', ',"averageDuration":83500,"nextScheduledExecution":"2024-05-21T00:00:00Z"}'),
      },
      'job/bb-2/info': { body: backup },
    };
    expect(await scrape({ answers })).toEqual(shown`
        # TYPE automation_job_average_duration_seconds gauge
        automation_job_average_duration_seconds{server="prod",project="pay",job_group="nightly",job_name="settle"} 83.5
        # TYPE automation_job_info gauge
        automation_job_info{server="prod",project="pay",job_group="",job_name="backup",job_id="bb-2",scheduled="false",enabled="false",schedule_enabled="true"} 1
        automation_job_info{server="prod",project="pay",job_group="nightly",job_name="settle",job_id="aa-1",scheduled="true",enabled="true",schedule_enabled="true"} 1`);
  });

  it.each<readonly [string, Upstream, string]>([
    ['17, without the info', { apiVersion: 17 }, 'scheduled="true",enabled="true",schedule_enabled="true"'],
    [
      '14, without switches',
      {
        apiVersion: 14,
        answers: { 'project/pay/jobs': { body: '[{"id":"aa-1","name":"settle","group":"nightly"}]' } },
      },
      'scheduled="",enabled="",schedule_enabled=""',
    ],
    [
      '18 that has not run',
      { apiVersion: 18, answers: { 'job/aa-1/info': { body: settle } } },
      'scheduled="true",enabled="true",schedule_enabled="true"',
    ],
    [
      '47 whose average is 0',
      { answers: { 'job/aa-1/info': { body: settle.replace('}', ',"averageDuration":0}') } } },
      'scheduled="true",enabled="true",schedule_enabled="true"',
    ],
    // The job is deleted after the list was read.
    [
      '47 that is gone',
      { answers: { 'job/aa-1/info': refusal(404, 'api.error.item.doesnotexist') } },
      'scheduled="true",enabled="true",schedule_enabled="true"',
    ],
    [
      '47 that may be seen but not read',
      { answers: { 'job/aa-1/info': refusal(403, 'api.error.item.unauthorized') } },
      'scheduled="true",enabled="true",schedule_enabled="true"',
    ],
  ])('publishes no average for a job of %s', async (_name, { answers, ...upstream }, switches) => {
    const all = { 'project/pay/jobs': { body: `[${settle}]` }, ...answers };
    expect(await scrape({ ...upstream, answers: all })).toEqual(shown`
        # TYPE automation_job_info gauge
        automation_job_info{server="prod",project="pay",job_group="nightly",job_name="settle",job_id="aa-1",${switches}} 1`);
  });

  it.each<readonly [string, Upstream]>([
    ['18', { apiVersion: 18 }],
    ['the neutral dialect', { dialect: 'service' }],
  ])('reads the average of %s', async (_name, upstream) => {
    const answers = {
      'project/pay/jobs': { body: '[{"id":"aa-1","name":"settle","group":"nightly"}]' },
      'job/aa-1/info': { body: '{"id":"aa-1","name":"settle","averageDuration":"1500"}' },
    };
    expect(await scrape({ ...upstream, answers })).toEqual(shown`
        # TYPE automation_job_average_duration_seconds gauge
        automation_job_average_duration_seconds{server="prod",project="pay",job_group="nightly",job_name="settle"} 1.5
        # TYPE automation_job_info gauge
        automation_job_info{server="prod",project="pay",job_group="nightly",job_name="settle",job_id="aa-1",scheduled="",enabled="",schedule_enabled=""} 1`);
  });

  it('shows no average of a job whose id does not fit into a path', async () => {
    const answers = {
      'project/pay/jobs': { body: `[${settle.replace('aa-1', '50%')},${backup}]` },
      'job/50%25/info': { status: 400, headers: { 'content-type': 'text/html' }, body: '<h1>Bad Message 400</h1>' },
      'job/bb-2/info': { body: '{"id":"bb-2","averageDuration":1500}' },
    };
    const { outcome, text } = await scrape({ answers });
    expect(outcome).toBe('success');
    expect(text.match(/_seconds\{.*|job_id="[^"]*"/g)).toEqual([
      '_seconds{server="prod",project="pay",job_group="",job_name="backup"} 1.5',
      'job_id="bb-2"',
      'job_id="50%"',
    ]);
  });

  it.each([
    ['an even part of the limit, in the first pass', false, 5, ['ops a/b', 'ops a/c', 'ops z/z!', 'pay a/a']],
    ['what other projects do not need, later', true, 5, ['ops a/b', 'ops a/c', 'ops b/a', 'ops z/z!', 'pay a/a']],
    ['all, if all are within the limit', true, 6, ['ops a/b', 'ops a/c', 'ops b/a', 'ops b/b', 'ops z/z!', 'pay a/a']],
  ])('selects scheduled jobs first, then by group and name: %s', async (_title, isLater, detail, expected) => {
    const jobs = (...names: readonly string[]) =>
      `[${names.map((name) => `{"id":"${name}","name":"${name.slice(2)}","group":"${name[0]}","scheduled":${name.endsWith('!')}}`).join(',')}]`;
    const answers = {
      projects: { body: '[{"name":"ops"},{"name":"pay"}]' },
      'project/ops/jobs': { body: jobs('b/b', 'a/c', 'b/a', 'a/b', 'z/z!') },
      'project/pay/jobs': { body: jobs('a/a', 'x/a', 'x/b', 'x/c') },
    };
    const before = isLater ? { before: answers } : {};
    // Excluded jobs do not count towards the limit.
    const watch = { jobs: { isWanted: (path: string) => !path.startsWith('pay/x/'), detail } };
    const { text } = await scrape({ apiVersion: 17, answers, ...before, watch });

    expect(
      [...text.matchAll(/project="(\w+)".*job_id="([^"]+)"/g)].map(([, project, id]) => `${project} ${id}`),
    ).toEqual(expected);
  });

  it('shows only jobs that the configuration includes', async () => {
    const answers = { 'project/pay/jobs': { body: `[${settle},${backup}]` } };
    const watch = { jobs: { isWanted: (path: string) => path === 'pay/backup', detail: 200 } };
    expect(await scrape({ apiVersion: 17, answers, watch })).toEqual(shown`
        # TYPE automation_job_info gauge
        automation_job_info{server="prod",project="pay",job_group="",job_name="backup",job_id="bb-2",scheduled="false",enabled="false",schedule_enabled="true"} 1`);
  });

  it('does not request averages if executions are collected', async () => {
    const answers = {
      'project/pay/jobs': { body: '[{"id":"aa-1","name":"settle","group":"nightly"}]' },
      'job/aa-1/info': { body: '{"id":"aa-1","name":"settle","averageDuration":1500}' },
    };
    const watch = { jobs: { isWanted: () => true, detail: 200 } };
    expect(await scrape({ answers, watch })).toEqual(shown`
        # TYPE automation_job_info gauge
        automation_job_info{server="prod",project="pay",job_group="nightly",job_name="settle",job_id="aa-1",scheduled="",enabled="",schedule_enabled=""} 1`);
  });

  it('requests old averages again', async () => {
    const answers = {
      'project/pay/jobs': { body: `[${settle},${backup}]` },
      'job/aa-1/info': { body: settle.replace('}', ',"averageDuration":399}') },
    };
    const learned: unknown[] = [];
    const averages = {
      takeDue: (project: string) => (project === 'pay' ? ['aa-1', 'gone'] : []),
      learn: async (...told: readonly unknown[]) => void learned.push(told),
    };
    const watch = { jobs: { isWanted: () => true, detail: 200, averages } };
    const { outcome, text } = await scrape({ answers, watch });
    expect(outcome).toBe('success');
    expect(text).not.toContain('average');
    expect(learned).toEqual([[{ project: 'pay', group: 'nightly', name: 'settle' }, 399]]);
  });

  it('sends no request if the limit of series is 0', async () => {
    const watch = { jobs: { isWanted: () => true, detail: 0 } };
    expect(await scrape({ answers: {}, watch })).toEqual({ outcome: 'success', text: '' });
  });

  it('removes the series of a renamed job', async () => {
    const before = {
      projects: { body: '[{"name":"pay"}]' },
      'project/pay/jobs': { body: '[{"id":"aa-1","name":"settle","group":"nightly"}]' },
    };
    const answers = { 'project/pay/jobs': { body: '[{"id":"aa-1","name":"clear","group":"nightly"}]' } };
    expect(await scrape({ apiVersion: 17, before, answers })).toEqual(shown`
        # TYPE automation_job_info gauge
        automation_job_info{server="prod",project="pay",job_group="nightly",job_name="clear",job_id="aa-1",scheduled="",enabled="",schedule_enabled=""} 1`);
  });

  it.each<readonly [string, string, CannedAnswer]>([
    ['forbidden', 'project/pay/jobs', refusal(403, 'api.error.item.unauthorized')],
    ['success', 'project/pay/jobs', refusal(404, 'api.error.project.disabled')],
    ['unauthorized', 'job/aa-1/info', refusal(403, 'unauthorized')],
    ['server', 'job/aa-1/info', { status: 500, body: '{"error":"A server error occurred"}' }],
    ['rejected', 'job/aa-1/info', refusal(415, 'api.error.item.unsupported-format')],
  ])('reports %s and no series when %s answers %j', async (outcome, path, answer) => {
    const answers = { 'project/pay/jobs': { body: `[${settle}]` }, [path]: answer };
    expect(await scrape({ answers })).toEqual({ outcome, text: '' });
  });
});

type Upstream = Partial<Parameters<typeof scrapeCollector>[1]>;

function scrape({ answers, ...upstream }: Upstream) {
  const all = { projects: { body: '[{"name":"pay"}]' }, ...answers };
  const watch = { jobs: { isWanted: () => true, detail: 200, asksForAverages: true } };
  return scrapeCollector('job-info', { answers: all, watch, ...upstream });
}
