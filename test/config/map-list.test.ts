import { describe, expect, it } from 'vitest';
import { complain, load } from './fixtures.ts';

function withMembers(members: string): string {
  return `servers:\n  - url: https://a.example.org\n    token_file: /run/token\n    members: ${members}\n`;
}

const environment = { AUTOMATION_EXPORTER_URL: 'http://a.example.org', AUTOMATION_EXPORTER_TOKEN: 'k3y' };

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

  it('reports the error in each member, at its place', async () => {
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
