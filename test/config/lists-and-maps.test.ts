import { describe, expect, it } from 'vitest';
import { toHelp } from '../../src/config/show/help.ts';
import { collectors } from '../../src/daemon/catalogue/collectors.ts';
import { complain, load } from './fixtures.ts';

function withMembers(members: string): string {
  return `servers:\n  - url: https://a.example.org\n    token_file: /run/token\n    members: ${members}\n`;
}

const environment = { AUTOMATION_EXPORTER_URL: 'http://a.example.org', AUTOMATION_EXPORTER_TOKEN: 'k3y' };

describe('config/choices', () => {
  it('reads a list of alerts from a flag, from the environment and from the file', async () => {
    const off = ['AutomationJobSlower', 'AutomationServerRestarted'];
    const text = off.join(',');
    expect((await load({ argv: [`--alerts.off=${text}`] })).config.alerts.off).toEqual(off);
    expect((await load({ env: { AUTOMATION_EXPORTER_ALERTS_OFF: text } })).config.alerts.off).toEqual(off);
    expect((await load({ yaml: `alerts: { off: [${text}] }` })).config.alerts.off).toEqual(off);
  });

  it('refuses a list for a switch', () => {
    const switches = toHelp(collectors).filter(({ flag = '' }) => flag.startsWith('--[no-]'));
    expect(switches.length).toBeGreaterThan(10);
    expect(switches.filter((row) => !['true', 'false'].includes(row.default ?? ''))).toEqual([]);
  });
});

describe('config/map-list', () => {
  it('reads members and normalizes their addresses', async () => {
    const yaml = withMembers('[{ name: a, url: https://A.example.org/ }, { url: http://b.example.org/x/, name: b-2 }]');
    expect((await load({ yaml })).config.servers[0]?.members).toEqual([
      { name: 'a', url: 'https://a.example.org' },
      { name: 'b-2', url: 'http://b.example.org/x' },
    ]);
  });

  it('reads members from the environment as JSON', async () => {
    const members = '[{ "name": "a", "url": "https://a.example.org" }]';
    const { config } = await load({ env: { ...environment, AUTOMATION_EXPORTER_MEMBERS: members } });
    expect(config.servers[0]?.members).toEqual([{ name: 'a', url: 'https://a.example.org' }]);
  });

  it('reports the error in each member', async () => {
    const members = `
      - { name: a, url: https://a.example.org }
      - { name: a, url: "https://a.example.org/" }
      - { nam: b, url: ftp://b }
      - b
      - { name: "a b", url: https://me:hunter2@c.example.org }`;
    expect(await complain({ yaml: withMembers(members) })).toEqual([
      'config.yaml:6:17 servers[0].members[1].name: is given twice (first in [0].name)',
      'config.yaml:6:25 servers[0].members[1].url: is given twice (first in [0].url)',
      'config.yaml:7:9 servers[0].members[2]: name is missing (for example prod or eu-1)',
      'config.yaml:7:11 servers[0].members[2].nam: is not a known key (did you mean name?)',
      'config.yaml:7:24 servers[0].members[2].url: is not a web address (for example https://automation.example.org)',
      'config.yaml:8:9 servers[0].members[3]: takes a map, found the text "b" (with the keys name, url)',
      'config.yaml:9:17 servers[0].members[4].name: is not a name for a server (for example prod or eu-1)',
      'config.yaml:9:29 servers[0].members[4].url: contains a user or a password (secrets come from files or the environment)',
    ]);
  });

  it.each([
    { members: 'a=https://a.example.org', found: 'the text "a=https://a.example.org"' },
    { members: '{}', found: 'a map' },
    { members: '1', found: 'the number 1' },
  ])('refuses $members in the environment', async ({ members, found }) => {
    expect(await complain({ env: { ...environment, AUTOMATION_EXPORTER_MEMBERS: members } })).toEqual([
      `AUTOMATION_EXPORTER_MEMBERS: takes a list of members, found ${found} (for example [{ name: a, url: https://a.example.org }])`,
    ]);
  });
});

const server = 'servers: [{ url: https://prod.example.org, token_file: /run/token }]\n';

describe('config/status-map', () => {
  it('accepts maps in the file and pairs in a flag', async () => {
    const written = await load({ yaml: `${server}traces: { status_map: { warning: success, "on hold": skip } }` });
    expect(written.config.traces.statusMap).toEqual({ warning: 'success', 'on hold': 'skip' });
    const flagged = await load({ argv: ['--traces.status-map=warning=success, held = cancellation'] });
    expect(flagged.config.traces.statusMap).toEqual({ warning: 'success', held: 'cancellation' });
  });

  it('returns an empty status map by default', async () => {
    expect((await load({})).config.traces.statusMap).toEqual({});
  });

  it.each([
    ['warning=succes', '--traces.status-map.warning: takes one of success, failure'],
    ['failed=success', '--traces.status-map.failed: is a built-in status (only custom statuses can be mapped'],
    ['incomplete=success', '--traces.status-map.incomplete: is a built-in status'],
    ['=success', 'is not a status of 1 to 200 characters'],
    ['warning', '--traces.status-map: takes a map of statuses, found a text (for example { warning: suc'],
  ])('refuses %j', async (given, message) => {
    const complaints = await complain({ argv: [`--traces.status-map=${given}`] });
    expect(complaints).toEqual([expect.stringContaining(message)]);
  });

  it('accepts any name', async () => {
    const { config } = await load({ argv: ['--traces.status-map=__proto__=skip'] });
    expect(Object.entries(config.traces.statusMap)).toEqual([['__proto__', 'skip']]);
  });
});

function withLabels(labels: string): string {
  return `servers:\n  - url: http://a.example.org\n    token_file: /run/token\n    labels: ${labels}\n`;
}

describe('config/labels', () => {
  it('reads the labels of a server in order', async () => {
    const { config } = await load({ yaml: withLabels('{ site: eu, _tier2: "1", note: \'a "b", c\' }') });
    expect(config.servers[0]?.labels).toEqual([
      ['site', 'eu'],
      ['_tier2', '1'],
      ['note', 'a "b", c'],
    ]);
  });

  it('reads the labels of a server from the environment', async () => {
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
      complaint:
        '4:13 servers[0].labels: takes a map of labels, found a text (for example { site: eu }, or site=eu outside the file)',
    },
    {
      labels: '[site]',
      complaint:
        '4:13 servers[0].labels: takes a map of labels, found a list (for example { site: eu }, or site=eu outside the file)',
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

  it('names the wrong label in a variable', async () => {
    const env = { ...environment, AUTOMATION_EXPORTER_LABELS: 'site=eu,job=a,tier=' };
    expect(await complain({ env })).toEqual([
      'AUTOMATION_EXPORTER_LABELS.tier: is empty (a label without a value does not exist: remove it)',
    ]);
    expect(await complain({ env: { ...env, AUTOMATION_EXPORTER_LABELS: 'job=a' } })).toEqual([
      'AUTOMATION_EXPORTER_LABELS.job: is already a label of the series (choose another name)',
    ]);
    expect(await complain({ env: { ...env, AUTOMATION_EXPORTER_LABELS: 'eu' } })).toEqual([
      'AUTOMATION_EXPORTER_LABELS: takes a map of labels, found a text (for example { site: eu }, or site=eu outside the file)',
    ]);
  });
});
