import { describe, expect, it } from 'vitest';
import { complain, load } from './fixtures.ts';

function withLabels(labels: string): string {
  return `servers:\n  - url: http://a.example.org\n    token_file: /run/token\n    labels: ${labels}\n`;
}

const environment = { AUTOMATION_EXPORTER_URL: 'http://a.example.org', AUTOMATION_EXPORTER_TOKEN: 'k3y' };

describe('config/labels', () => {
  it('reads the labels of a server in order', async () => {
    const { config } = await load({ yaml: withLabels('{ site: eu, _tier2: "1", note: \'a "b", c\' }') });
    expect(config.servers[0]?.labels).toEqual([
      ['site', 'eu'],
      ['_tier2', '1'],
      ['note', 'a "b", c'],
    ]);
  });

  it('reads them from the environment', async () => {
    const env = { ...environment, AUTOMATION_EXPORTER_LABELS: 'site=eu, tier=a=b' };
    const { config } = await load({ env });
    expect(config.servers[0]?.labels).toEqual([
      ['site', 'eu'],
      ['tier', 'a=b'],
    ]);
  });

  it.each([
    {
      labels: 'eu',
      complaint: '4:13 servers[0].labels: takes a map of labels, found the text "eu" (for example { site: eu })',
    },
    {
      labels: '[site]',
      complaint: '4:13 servers[0].labels: takes a map of labels, found a list (for example { site: eu })',
    },
    { labels: '{ tier: 1 }', complaint: '4:21 servers[0].labels.tier: takes a text, found the number 1 (write "1")' },
    { labels: '{ tier: true }', complaint: '4:21 servers[0].labels.tier: takes a text, found true (write "true")' },
    { labels: '{ tier: [a] }', complaint: '4:21 servers[0].labels.tier: takes a text, found a list' },
    { labels: '{ tier: }', complaint: '4:21 servers[0].labels.tier: takes a text, found nothing' },
    {
      labels: '{ tier: "" }',
      complaint: '4:21 servers[0].labels.tier: is empty (a label without a value does not exist: remove it)',
    },
    { labels: `{ tier: ${'a'.repeat(201)} }`, complaint: '4:21 servers[0].labels.tier: is longer than 200 characters' },
    {
      labels: '{ 2nd: a }',
      complaint: '4:15 servers[0].labels.2nd: is not a label name (letters, digits and _, and no digit first)',
    },
    {
      labels: '{ my-site: a }',
      complaint: '4:15 servers[0].labels.my-site: is not a label name (letters, digits and _, and no digit first)',
    },
    {
      labels: '{ "": a }',
      complaint: '4:15 servers[0].labels."": is not a label name (letters, digits and _, and no digit first)',
    },
    {
      labels: '{ __name__: a }',
      complaint:
        '4:15 servers[0].labels.__name__: begins with __, which is reserved by Prometheus (choose another name)',
    },
    {
      labels: '{ __proto__: a }',
      complaint:
        '4:15 servers[0].labels.__proto__: begins with __, which is reserved by Prometheus (choose another name)',
    },
    {
      labels: '{ site: eu, project: a }',
      complaint: '4:25 servers[0].labels.project: is already a label of the series (choose another name)',
    },
    {
      labels: `{ ${Array.from({ length: 21 }, (_, index) => `l${index}: a`).join(', ')} }`,
      complaint: '4:13 servers[0].labels: contains more than 20 labels',
    },
  ])('refuses $labels', async ({ labels, complaint }) => {
    expect(await complain({ yaml: withLabels(labels) })).toEqual([`config.yaml:${complaint}`]);
  });

  it('reports which label of a variable is wrong, and why', async () => {
    const env = { ...environment, AUTOMATION_EXPORTER_LABELS: 'site=eu,job=a,tier=' };
    expect(await complain({ env })).toEqual([
      'AUTOMATION_EXPORTER_LABELS.tier: is empty (a label without a value does not exist: remove it)',
    ]);
    expect(await complain({ env: { ...env, AUTOMATION_EXPORTER_LABELS: 'job=a' } })).toEqual([
      'AUTOMATION_EXPORTER_LABELS.job: is already a label of the series (choose another name)',
    ]);
    expect(await complain({ env: { ...env, AUTOMATION_EXPORTER_LABELS: 'eu' } })).toEqual([
      'AUTOMATION_EXPORTER_LABELS: takes a map of labels, found the text "eu" (for example { site: eu })',
    ]);
  });
});
