import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sections } from '../../src/http/pages/page.ts';
import { type Demo, startDemo } from './start-demo.ts';

let demo: Demo;

beforeAll(async () => {
  demo = await startDemo({ flags: ['--web.route-prefix=/automation/exporter'] });
});

afterAll(() => demo?.stop());

async function read(path: string): Promise<string> {
  const response = await fetch(demo.url + path);
  expect({ path, status: response.status }).toEqual({ path, status: 200 });
  return response.text();
}

describe('end-to-end/route-prefix', () => {
  it('serves nothing outside the prefix', async () => {
    expect(demo.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/automation\/exporter$/);
    await read('/');
    for (const path of ['/metrics', '/api/status', '/config', '/-/healthy']) {
      await read(path);
      const beside = await fetch(new URL(path, demo.url));
      expect({ path, status: beside.status }).toEqual({ path, status: 404 });
    }
  });

  it('redirects from the root to the front page', async () => {
    const response = await fetch(new URL('/', demo.url));
    expect(response.url).toBe(`${demo.url}/`);

    const links = [...(await response.text()).matchAll(/<a href="([^"#]*)"/g)].map(([, link = '']) => link);
    // The front page may or may not contain links to executions.
    const pages = sections.map(({ path }) => `./${path}`).filter((path) => !path.startsWith('./executions'));
    expect(new Set(links.filter((link) => !link.startsWith('./executions')))).toEqual(
      new Set([...pages, '?refresh', './metrics', './alerts/rules.yaml', './api/status']),
    );
    for (const link of links) {
      const { status } = await fetch(new URL(link, response.url));
      expect({ link, status }).toEqual({ link, status: 200 });
    }
  });

  it('links rules and dashboards to runbooks below the prefix', async () => {
    const [, link = ''] = /runbook_url: (\S+)/.exec(await read('/alerts/rules.yaml')) ?? [];

    expect(link.startsWith(`${demo.url}/runbooks/`)).toBe(true);
    expect((await fetch(link)).status).toBe(200);
  });

  it('shows no token in the configuration or the status', async () => {
    expect(await read('/config')).toContain('# token: <secret> from AUTOMATION_EXPORTER_TOKEN\n');
    for (const path of ['/', '/config', '/api/status']) {
      expect(await read(path)).not.toContain('demo-token-that-opens-nothing-real');
    }
  });
});
