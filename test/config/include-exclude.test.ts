import { describe, expect, it } from 'vitest';
import { complain, load } from './fixtures.ts';

const names = ['pay-eu', 'pay-us', 'shop', 'pay-eu-old'];

function withProjects(projects: string, labels = '{}'): string {
  return `servers:\n  - url: http://a.example.org\n    token_file: /run/token\n    projects: ${projects}\n    labels: ${labels}\n`;
}

describe('config/include-exclude', () => {
  it.each([
    { projects: '{}', wanted: names },
    { projects: '{ include: [] }', wanted: names },
    { projects: '{ include: ["pay-.*"] }', wanted: ['pay-eu', 'pay-us', 'pay-eu-old'] },
    { projects: '{ include: [pay] }', wanted: [] },
    { projects: '{ include: [pay-us, "s.*"] }', wanted: ['pay-us', 'shop'] },
    { projects: '{ exclude: [".*-old", shop] }', wanted: ['pay-eu', 'pay-us'] },
    { projects: '{ include: ["pay-eu.*"], exclude: [".*-old"] }', wanted: ['pay-eu'] },
  ])('watches the right projects with $projects', async ({ projects, wanted }) => {
    const { config } = await load({ yaml: withProjects(projects) });
    expect(names.filter((name) => config.servers[0]?.projects.isWanted(name))).toEqual(wanted);
  });

  it.each([
    { jobs: '{}', wanted: ['pay/nightly/a', 'pay//b', 'shop//b'] },
    { jobs: '{ include: ["pay/.*"] }', wanted: ['pay/nightly/a', 'pay//b'] },
    { jobs: '{ include: ["pay/.*"], exclude: [".*/b"] }', wanted: ['pay/nightly/a'] },
  ])('watches the right jobs with $jobs', async ({ jobs, wanted }) => {
    const { config } = await load({ yaml: `jobs: ${jobs}` });
    const paths = ['pay/nightly/a', 'pay//b', 'shop//b'];
    expect(paths.filter((path) => config.jobs.isWanted(path))).toEqual(wanted);
  });

  it('reads other options of jobs from the file, a flag or a variable', async () => {
    const { config } = await load({
      yaml: 'jobs: { detail: all, top: 20, cap: 30 }',
      argv: ['--jobs.include=[ab]/.*|c/.*'],
      env: { AUTOMATION_EXPORTER_JOBS_EXCLUDE: 'a/.*' },
    });
    const { detail, top, cap, include, exclude } = config.jobs;
    expect([detail, top, cap, include.sources, exclude.sources]).toEqual(['all', 20, 30, ['[ab]/.*|c/.*'], ['a/.*']]);
    expect(['a/x/y', 'b/x/y', 'c/x/y', 'd/x/y'].filter((path) => config.jobs.isWanted(path))).toEqual([
      'b/x/y',
      'c/x/y',
    ]);
  });

  it('gives a project the labels of every matching entry', async () => {
    const entries =
      '[{ match: "pay-.*", labels: { team: payments } }, { match: ".*-eu.*", labels: { team: europe, tier: "1" } }]';
    const { config } = await load({ yaml: withProjects(`{ labels: ${entries} }`) });
    const labelsOf = config.servers[0]?.projects.labelsOf;
    expect(names.map((name) => labelsOf?.(name))).toEqual([
      [
        ['team', 'payments'],
        ['tier', '1'],
      ],
      [['team', 'payments']],
      [],
      [
        ['team', 'payments'],
        ['tier', '1'],
      ],
    ]);
  });

  it('reports the mistake in a pattern, and its position', async () => {
    expect(
      await complain({
        yaml: withProjects('{ include: [a, "("], exclude: "a", labels: [{ match: "(?=a)", labels: {} }] }'),
      }),
    ).toEqual([
      'config.yaml:4:30 servers[0].projects.include[1]: is not a regular expression (unterminated group)',
      'config.yaml:4:45 servers[0].projects.exclude: takes a list of patterns, found the text "a" (for example ["pay-.*"])',
      'config.yaml:4:68 servers[0].projects.labels[0].match: uses lookahead or lookbehind (patterns support characters, classes, groups, | and repetitions)',
    ]);
    expect(await complain({ yaml: 'jobs: { include: [1], exclude: [null], detail: some, top: 0, cap: 0 }' })).toEqual([
      'config.yaml:1:19 jobs.include[0]: takes a pattern, found the number 1 (for example pay-.*)',
      'config.yaml:1:33 jobs.exclude[0]: takes a pattern, found nothing (for example pay-.*)',
      'config.yaml:1:48 jobs.detail: takes one of all, top, none, found the text "some"',
      'config.yaml:1:59 jobs.top: takes a whole number from 1 to 100000, found the number 0',
      'config.yaml:1:67 jobs.cap: takes a whole number from 1 to 1000000, found the number 0',
    ]);
    const many = `[${Array.from({ length: 101 }, () => 'a').join(', ')}]`;
    expect(await complain({ yaml: `jobs: { include: ${many} }` })).toEqual([
      'config.yaml:1:18 jobs.include: contains more than 100 patterns',
    ]);
  });

  it('refuses project labels that are already on the series', async () => {
    const yaml = withProjects(
      '{ labels: [{ match: a, labels: { team: a, label: b } }, { match: b, labels: { site: a } }] }',
      '{ site: eu }',
    );
    expect(await complain({ yaml })).toEqual([
      'config.yaml:4:57 servers[0].projects.labels[0].labels.label: is already a label of the series (choose another name)',
      'config.yaml:4:93 servers[0].projects.labels[1].labels.site: is already a label of the server (choose another name)',
    ]);
  });
});
