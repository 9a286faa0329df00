import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { complain, load } from './fixtures.ts';

describe('config/texts', () => {
  it.each(['/', '/automation', '/a/b-1/~c.d', '/-/x'])('accepts %s as a path prefix', async (prefix) => {
    const { config } = await load({ argv: [`--web.route-prefix=${prefix}`] });
    expect(config.web.routePrefix).toBe(prefix);
  });

  it.each(['automation', '/automation/', '//', '/a//b', '/a b', '/..', '/ä', '/a?b'])(
    'refuses %s as a path prefix',
    async (prefix) => {
      expect(await complain({ argv: [`--web.route-prefix=${prefix}`] })).toEqual([
        '--web.route-prefix: is not a path prefix (for example /automation)',
      ]);
    },
  );

  it.each(['/metrics', '/probe/metrics'])('accepts %s as the path of metrics', async (path) => {
    const { config } = await load({ argv: [`--web.telemetry-path=${path}`] });
    expect(config.web.telemetryPath).toBe(path);
  });

  it.each([
    '/',
    'metrics',
    '/-/ready',
    '//metrics',
    '/metrics/',
    '/../metrics',
    '/me trics',
    '/metrics?x',
    ...listServed(),
  ])('refuses %s as the path of metrics', async (path) => {
    const complaint =
      '--web.telemetry-path: is not a path for metrics, or is the path of a page (for example /metrics)';
    expect(await complain({ argv: [`--web.telemetry-path=${path}`] })).toEqual([complaint]);
  });

  it('uses a namespace as it is written, and the address by default', async () => {
    const yaml = `
servers:
  - { name: a, url: "HTTPS://Auto.Example.org:443/x/", token_file: /run/token }
  - { name: b, url: https://new.example.org, token_file: /run/token, namespace: "HTTPS://Old.example.org:443/#2" }
`;
    const { config } = await load({ yaml });
    expect(config.servers.map(({ namespace }) => namespace)).toEqual([
      'https://auto.example.org/x',
      'HTTPS://Old.example.org:443/#2',
    ]);
  });

  it.each([
    ['/', ''],
    ['//', ''],
    ['//x//', '/x'],
    ['/x//y///', '/x/y'],
    ['/x/./z/..//y', '/x/y'],
  ])('removes what servers refuse from an address that ends in %s', async (written, path) => {
    const yaml = `servers: [{ name: a, url: "https://auto.example.org${written}", token_file: /run/token }]`;
    const { config } = await load({ yaml });
    expect(config.servers[0]?.url).toBe(`https://auto.example.org${path}`);
  });

  it.each([' a', 'a ', 'a\nb', 'a\u0000', 'x'.repeat(257)])('refuses %j as a namespace', async (namespace) => {
    const env = {
      AUTOMATION_EXPORTER_URL: 'https://prod.example.org',
      AUTOMATION_EXPORTER_TOKEN: 'k3y',
      AUTOMATION_EXPORTER_NAMESPACE: namespace,
    };
    expect(await complain({ env })).toEqual([expect.stringContaining('AUTOMATION_EXPORTER_NAMESPACE')]);
  });
});

/** Lists the paths of pages in the table of README.md. The metrics cannot have one of these paths. */
function listServed(): readonly string[] {
  const [, table = ''] = /^## What it serves$([^#]*)/m.exec(readFileSync('README.md', 'utf8')) ?? [];
  const paths = [...table.matchAll(/`(\/[a-z./]*[a-z])\/?`/g)].flatMap(([, path = '']) => path);
  return [...new Set(paths)].filter((path) => path !== '/metrics');
}

describe('config/trace-link', () => {
  it.each([
    'https://traces.example.org/trace/{trace_id}',
    'HTTP://localhost:3000/explore?left={"query":"{trace_id}"}&x={trace_id}#top',
  ])('accepts %s unchanged', async (link) => {
    const { config } = await load({ argv: [`--traces.link=${link}`] });
    expect(config.traces.link).toBe(link);
  });

  it.each([
    [
      'https://traces.example.org/trace/',
      'has no {trace_id} (for example https://traces.example.org/trace/{trace_id})',
    ],
    [
      'javascript:alert("{trace_id}")',
      'is not a web address (for example https://traces.example.org/trace/{trace_id})',
    ],
    ['/trace/{trace_id}', 'is not a web address (for example https://traces.example.org/trace/{trace_id})'],
    ['https:///{trace_id}', 'is not a web address (for example https://traces.example.org/trace/{trace_id})'],
    ['https://a b/{trace_id}', 'is not a web address (for example https://traces.example.org/trace/{trace_id})'],
    [
      'https://me:hunter2@traces.example.org/{trace_id}',
      'contains a user or a password (everyone who sees the page would see the password)',
    ],
  ])('refuses %s without repeating it', async (link, complaint) => {
    expect(await complain({ argv: [`--traces.link=${link}`] })).toEqual([`--traces.link: ${complaint}`]);
  });
});
