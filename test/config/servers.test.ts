import { describe, expect, it } from 'vitest';
import { complain, load } from './fixtures.ts';

const server = 'servers:\n  - url: https://automation.example.org\n    token_file: /run/token\n';

describe('config/servers', () => {
  it('reads each server with its own way to authenticate', async () => {
    const yaml = `
servers:
  - { name: a, url: http://a.example.org, token_file: /run/token }
  - { name: b, url: http://b.example.org, username: exporter, password_file: /run/password }
  - { name: c, url: http://c.example.org, bearer_token_file: /run/bearer }
`;
    const files = { '/run/password': ' pässword\n', '/run/bearer': 'b3arer\n' };
    const { config } = await load({ yaml, files });
    const ways = config.servers.map(({ name, token, username, password, bearerToken }) =>
      [name, token?.reveal(), username, password?.reveal(), bearerToken?.reveal()].map((part) => part ?? '-').join('|'),
    );
    expect(ways).toEqual(['a|k3y|-|-|-', 'b|-|exporter| pässword|-', 'c|-|-|-|b3arer']);
  });

  it.each([
    {
      said: 'a password',
      env: { AUTOMATION_EXPORTER_USERNAME: 'exporter', AUTOMATION_EXPORTER_PASSWORD: 'pässword' },
      expected: { username: 'exporter', password: 'pässword', bearerToken: undefined },
    },
    {
      said: 'the file of a password',
      env: { AUTOMATION_EXPORTER_USERNAME: 'exporter', AUTOMATION_EXPORTER_PASSWORD_FILE: '/run/token' },
      expected: { username: 'exporter', password: 'k3y', bearerToken: undefined },
    },
    {
      said: 'a bearer token',
      env: { AUTOMATION_EXPORTER_BEARER_TOKEN: 'b3arer' },
      expected: { username: undefined, password: undefined, bearerToken: 'b3arer' },
    },
    {
      said: 'the file of a bearer token',
      env: { AUTOMATION_EXPORTER_BEARER_TOKEN_FILE: '/run/token' },
      expected: { username: undefined, password: undefined, bearerToken: 'k3y' },
    },
  ])('reads $said from the environment', async ({ env, expected }) => {
    const { config } = await load({ env: { AUTOMATION_EXPORTER_URL: 'http://localhost:4440', ...env } });
    const [first] = config.servers;
    expect({
      username: first?.username,
      password: first?.password?.reveal(),
      bearerToken: first?.bearerToken?.reveal(),
    }).toEqual(expected);
  });

  it('reads every other option from the environment too', async () => {
    const env = {
      AUTOMATION_EXPORTER_URL: 'https://localhost:4440',
      AUTOMATION_EXPORTER_TOKEN: 'k3y',
      AUTOMATION_EXPORTER_TLS_CA_FILE: '/run/token',
      AUTOMATION_EXPORTER_TLS_CERT_FILE: '/run/token',
      AUTOMATION_EXPORTER_TLS_KEY_FILE: '/run/token',
      AUTOMATION_EXPORTER_TLS_SERVER_NAME: 'inner',
      AUTOMATION_EXPORTER_TLS_INSECURE_SKIP_VERIFY: 'true',
      AUTOMATION_EXPORTER_PROXY_URL: 'https://proxy:3128',
      AUTOMATION_EXPORTER_BUDGET_REQUESTS_PER_SECOND: '2.5',
      AUTOMATION_EXPORTER_BUDGET_CONCURRENCY: '8',
    };
    const { config } = await load({ env });
    expect(config.servers[0]).toMatchObject({
      tls: {
        caFile: '/run/token',
        certFile: '/run/token',
        keyFile: '/run/token',
        serverName: 'inner',
        insecureSkipVerify: true,
      },
      proxyUrl: 'https://proxy:3128',
      budget: { requestsPerSecond: 2.5, concurrency: 8 },
    });
  });

  it('reports the problem of a secret file', async () => {
    const yaml = `${server}    name: a\n  - { name: b, url: http://b.example.org, token_file: /run/b }\n  - { name: b, url: http://c.example.org }\n`;
    expect(await complain({ yaml, files: { '/run/token': '\n', '/run/b': 'a\nb' } })).toEqual([
      'config.yaml:3:17 servers[0].token_file: the file "/run/token" is empty',
      'config.yaml:5:55 servers[1].token_file: the file "/run/b" contains more than one line',
      'config.yaml:6:5 servers[2]: has no authentication method (give one of token_file, username with password_file, bearer_token_file)',
      'config.yaml:6:13 servers[2].name: "b" is used by two servers (the other is config.yaml:5:13 servers[1].name)',
    ]);
  });

  it('reports wrong options of a server without their secrets', async () => {
    const yaml = `servers:
  - url: https://automation.example.org
    username: " exporter"
    password: hunter2
    password_file: [hunter2]
    tls: { key: hunter2, ca: hunter2, server_name: 10.0.0.1, insecure_skip_verify: 1, key_file: "-----BEGIN\\nhunter2" }
    proxy_url: http://me:hunter2@forward.example.org
    budget: 10
  - { name: b, url: https://b.example.org, token_file: /run/token, tls: hunter2, proxy_url: socks5://proxy }
`;
    expect(
      (await complain({ yaml })).join('\n'),
    ).toBe(`config.yaml:3:15 servers[0].username: is not a user name (for example exporter)
config.yaml:4:5 servers[0].password: is not a known key (secrets come from files or the environment: password_file)
config.yaml:5:20 servers[0].password_file: takes a path, found a list (for example /run/secrets/automation-password)
config.yaml:6:12 servers[0].tls.key: is not a known key (it comes from a file: key_file)
config.yaml:6:26 servers[0].tls.ca: is not a known key (it comes from a file: ca_file)
config.yaml:6:52 servers[0].tls.server_name: is not a host name (for example automation.example.org)
config.yaml:6:84 servers[0].tls.insecure_skip_verify: takes true or false, found the number 1 (write true or false)
config.yaml:6:97 servers[0].tls.key_file: is not a path (for example /etc/ssl/private/automation.pem)
config.yaml:6:97 servers[0].tls.key_file: needs tls.cert_file beside it
config.yaml:7:16 servers[0].proxy_url: contains a user or a password (write the address without user and password)
config.yaml:8:13 servers[0].budget: takes a map, found a number (write its keys below it, indented)
config.yaml:9:73 servers[1].tls: takes a map, found a text (write its keys below it, indented)
config.yaml:9:93 servers[1].proxy_url: is not a web address (for example http://forward.example.org:3128)`);
  });

  it.each([
    [
      'one address, however it is written',
      'url: HTTP://A.Example.org:80/',
      'config.yaml:5:10 servers[1].url: the url http://a.example.org is used by two servers (the other is config.yaml:2:10 servers[0].url)',
    ],
    [
      'one namespace',
      'url: http://b.example.org\n    namespace: http://a.example.org',
      'config.yaml:6:16 servers[1].namespace: the namespace http://a.example.org is used by two servers (the other is config.yaml:2:5 servers[0])',
    ],
  ])('refuses two servers with %s', async (_what, second, complaint) => {
    const yaml = `servers:\n  - url: http://a.example.org\n    name: a\n    token_file: /run/token\n  - ${second}\n    name: b\n    token_file: /run/token\n`;
    expect(await complain({ yaml })).toEqual([complaint]);
  });

  it('distinguishes two servers without a name', async () => {
    const yaml = `${server}  - { url: http://b.example.org, token_file: /run/token }\n`;
    expect(await complain({ yaml })).toEqual([
      'config.yaml:4:5 servers[1]: "default" is used by two servers (the other is config.yaml:2:5 servers[0])',
    ]);
  });
});
