import { describe, expect, it } from 'vitest';
import { scrapeCollector, shown } from '../support/scrape.ts';

describe('collectors/projects', () => {
  it('reads the list of 5.3, including modes', async () => {
    const body = `[
      {"url":"http://auto.example.org/api/47/project/ops","name":"ops","description":"","label":"","created":"2024-01-01T00:00:00Z","meta":[{"name":"config","data":{"executionsEnabled":true,"scheduleEnabled":true}}]},
      {"url":"http://auto.example.org/api/47/project/pay","name":"pay","description":"Money","label":"Payments","created":"2023-06-30T22:15:09Z","meta":[]}]`;
    expect(await scrape({ body })).toEqual(shown`
        # TYPE automation_project_info gauge
        automation_project_info{server="prod",project="ops",label="",created="2024-01-01T00:00:00Z"} 1
        automation_project_info{server="prod",project="pay",label="Payments",created="2023-06-30T22:15:09Z"} 1
        # TYPE automation_projects gauge
        automation_projects{server="prod"} 2`);
  });

  it.each<readonly [string, number, string, string]>([
    // API reference, "Project": a label since 26, a creation date since 33.
    [
      '33 with a date',
      33,
      '{"name":"pay","description":"","label":"P","created":"2024-01-01T00:00:00Z"}',
      'label="P",created="2024-01-01T00:00:00Z"',
    ],
    ['26 without a date', 26, '{"url":"u","name":"pay","description":"","label":"P"}', 'label="P",created=""'],
    ['25 without a label', 25, '{"url":"u","name":"pay","description":""}', 'label="",created=""'],
    ['14', 14, '{"url":"u","name":"pay","description":null}', 'label="",created=""'],
    ['a date that is absent, as for projects of unknown age', 47, '{"name":"pay","label":null}', 'label="",created=""'],
    // Only release 6.0 writes milliseconds.
    [
      'a date with milliseconds',
      58,
      '{"name":"pay","label":"","created":"2024-01-01T00:00:00.022Z"}',
      'label="",created="2024-01-01T00:00:00Z"',
    ],
    ['a date that is none', 47, '{"name":"pay","label":"","created":"yesterday"}', 'label="",created=""'],
    ['a label that is a number', 47, '{"name":"pay","label":7}', 'label="7",created=""'],
  ])('reads a project of %s', async (_name, apiVersion, project, labels) => {
    expect(await scrape({ body: `[${project}]` }, { apiVersion })).toEqual(shown`
        # TYPE automation_project_info gauge
        automation_project_info{server="prod",project="pay",${labels}} 1
        # TYPE automation_projects gauge
        automation_projects{server="prod"} 1`);
  });

  it('also reads the dialect `service`', async () => {
    const body = '[{"url":"u","name":"pay","description":"","label":"Payments"}]';
    expect(await scrape({ body }, { dialect: 'service' })).toEqual(shown`
        # TYPE automation_project_info gauge
        automation_project_info{server="prod",project="pay",label="Payments",created=""} 1
        # TYPE automation_projects gauge
        automation_projects{server="prod"} 1`);
  });

  it('shows 0 projects if none can be read', async () => {
    // A token without rights on projects gets an empty list, not a refusal.
    expect(await scrape({ body: '[]' })).toEqual(shown`
        # TYPE automation_projects gauge
        automation_projects{server="prod"} 0`);
  });

  it('adds configured labels, and leaves out excluded projects', async () => {
    const watch = {
      isWanted: (project: string) => project !== 'scratch',
      labelsOf: (project: string) =>
        project === 'pay'
          ? ([
              ['team', 'payments'],
              ['tier', '1'],
            ] as const)
          : [],
    };
    expect(await scrape({ body: '[{"name":"ops"},{"name":"pay"},{"name":"scratch"}]' }, { watch })).toEqual(shown`
        # TYPE automation_project_info gauge
        automation_project_info{server="prod",project="ops",label="",created=""} 1
        automation_project_info{server="prod",project="pay",label="",created="",team="payments",tier="1"} 1
        # TYPE automation_projects gauge
        automation_projects{server="prod"} 2`);
  });

  it('writes valid text for any project name', async () => {
    const body = String.raw`[{"name":"a.b_c+d-e"},{"name":"\"} 1\n","label":"\\ 🚀"},{"name":"__proto__"},{"name":"constructor"}]`;
    expect(await scrape({ body })).toEqual(shown`
        # TYPE automation_project_info gauge
        automation_project_info{server="prod",project="\"} 1\n",label="\\ 🚀",created=""} 1
        automation_project_info{server="prod",project="__proto__",label="",created=""} 1
        automation_project_info{server="prod",project="a.b_c+d-e",label="",created=""} 1
        automation_project_info{server="prod",project="constructor",label="",created=""} 1
        # TYPE automation_projects gauge
        automation_projects{server="prod"} 4`);
  });

  it.each([
    ['decode', '{"name":"pay"}'],
    ['decode', '[{"label":"no name"}]'],
    ['empty', ''],
  ])('reports %s and no series for %j', async (outcome, body) => {
    expect(await scrape({ body })).toEqual({ outcome, text: '' });
  });
});

type Upstream = Omit<Parameters<typeof scrapeCollector>[1], 'answers'>;

function scrape(answer: { readonly body: string }, upstream: Upstream = {}) {
  return scrapeCollector('projects', { answers: { projects: answer }, ...upstream });
}
