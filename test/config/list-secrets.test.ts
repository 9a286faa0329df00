import { describe, expect, it } from 'vitest';
import { listSecrets } from '../../src/config/list-secrets.ts';
import { load } from './fixtures.ts';

describe('config/list-secrets', () => {
  it('finds the secrets of every server, whichever way it authenticates', async () => {
    const yaml = `
servers:
  - { name: a, url: http://a.example.org, token_file: /run/token }
  - { name: b, url: http://b.example.org, username: exporter, password_file: /run/password }
  - { name: c, url: http://c.example.org, bearer_token_file: /run/bearer }
`;
    const files = { '/run/password': 'hunter2', '/run/bearer': 'b3arer' };
    const { config } = await load({ yaml, files });
    expect(listSecrets(config).map((secret) => secret.reveal())).toEqual(['k3y', 'hunter2', 'b3arer']);
  });

  it('finds none where no server is configured', async () => {
    expect(listSecrets((await load({})).config)).toEqual([]);
  });
});
