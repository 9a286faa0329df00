import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ownerRoute } from '../../src/http/pages/owner-page.ts';
import { joinSilence } from '../../src/http/pages/silence.ts';
import { createRoutes } from '../../src/http/server/routes.ts';
import type { Watcher } from '../../src/status/status.ts';
import { toText } from './page-text.ts';
import { serve } from './serve.ts';

const other: Watcher = { is: 'other', address: 'http://b:9720/', page: 'http://b:9720' };

async function start(watcher: Watcher, servers: readonly string[] = ['prod', 'test']) {
  const pages = createRoutes();
  pages.use((_request, response) => void response.send('here'));
  const watcherOf = (name: string): Watcher => (name === 'prod' ? watcher : { is: 'us' });
  return serve([ownerRoute({ servers: () => servers, watcherOf }), pages], { routePrefix: '/here' });
}

const ofProd = [
  '/?server=prod',
  '/executions/prod/4711',
  '/jobs/prod/pay/nightly/settle%20it',
  '/schedule/prod?x=1',
  '/executions?server=prod&result=failed',
  '/jobs?server=prod',
  '/changes?server=prod',
  '/api/changes?server=prod',
  '/api/why?server=prod&job=pay%2Fsettle',
];

describe('http/owner-page', () => {
  it('reports silence only of servers that this exporter watches', () => {
    const silence = { server: 'prod', state: 'down', sinceMs: 0, nowMs: 1 } as const;
    const find = (watcher: Watcher) =>
      joinSilence(
        () => watcher,
        () => silence,
      )('prod');
    expect([find({ is: 'us' }), find(other)]).toEqual([silence, { server: 'prod', watcher: other }]);
  });

  it('covers every page about one server', () => {
    const folder = join(import.meta.dirname, '../../src/http');
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));
    const read = (file: string): string => readFileSync(join(folder, file), 'utf8');
    const own = read('pages/owner-page.ts');
    const others = files.filter((file) => !/(?:owner|config)-page\.ts$/.test(file)).map(read);
    const pages = others.flatMap((text) => [
      ...[...text.matchAll(/router\.get\('([^']*:server[^']*)'/g)].map(([, path]) => path),
      ...[...text.matchAll(/serverRoute\(\{\s*name: '(\w+)'/g)].map(([, name]) => `/${name}/:server`),
      ...[...text.matchAll(/listRoute\(\{\s*\.\.\.options,\s*path: '(\w+)'/g)].map(([, path]) => `/${path}`),
    ]);
    expect(pages.length).toBeGreaterThan(7);
    expect(pages.filter((path) => !own.includes(`'${path}'`))).toEqual([]);
  });

  it.each(ofProd)('redirects from %s to the exporter that watches the server', async (path) => {
    const { ask } = await start(other);
    const { status, headers } = await ask(`/here${path}`);
    expect({ status, location: headers.location }).toEqual({ status: 307, location: `http://b:9720${path}` });
  });

  it.each(ofProd)('serves %s without a redirect if this exporter watches the server', async (path) => {
    const { ask } = await start({ is: 'us' });
    expect(await ask(`/here${path}`)).toMatchObject({ status: 200, body: 'here' });
  });

  it.each([
    '/',
    '/?server=test',
    '/?server=none',
    '/executions',
    '/jobs',
    '/schedule',
    '/schedule/test',
    '/executions/none/1',
    '/api/status',
    '/metrics',
  ])('does not redirect from %s if there are several servers', async (path) => {
    const { ask } = await start(other);
    expect((await ask(`/here${path}`)).body).toBe('here');
  });

  it.each(['/executions', '/jobs', '/schedule', '/tonight', '/api/tonight'])(
    'redirects from %s if there is only one server',
    async (path) => {
      const { ask } = await start(other, ['prod']);
      expect((await ask(`/here${path}`)).headers.location).toBe(`http://b:9720${path}`);
    },
  );

  it('does not redirect from the front page, even if there is only one server', async () => {
    const { ask } = await start(other, ['prod']);
    expect((await ask('/here/')).body).toBe('here');
  });

  it.each<Watcher>([{ is: 'nobody' }, { is: 'other', address: 'http://localhost:9720', page: undefined }])(
    'names the other exporter on the front page if no redirect is possible (%s)',
    async (watcher) => {
      const { ask } = await start(watcher);
      expect(await ask('/here/?server=prod')).toMatchObject({ status: 200, body: 'here' });
    },
  );

  it('names the other exporter if no redirect is possible', async () => {
    const { ask } = await start({ is: 'other', address: 'http://localhost:9720', page: undefined });
    const page = await ask('/here/jobs/prod/pay/settle');
    expect(page.status).toBe(404);
    expect(toText(page.body)).toContain('"prod" is watched by another exporter: http://localhost:9720');
    expect(page.body).toContain('<div class="headline off">');
    const { headers, body } = await ask('/here/api/why?server=prod&job=x');
    expect(headers['content-type']).toMatch(/^text\/plain/);
    expect(body).toContain('set web.external_url of each exporter');
  });

  it('reports that no exporter watches the server', async () => {
    const { ask } = await start({ is: 'nobody' });
    const { status, headers, body } = await ask('/here/schedule/prod');
    expect({ status, wait: headers['retry-after'] }).toEqual({ status: 503, wait: '5' });
    expect(toText(body)).toContain('No exporter watches "prod" at the moment.');
    expect(body).toContain('<meta http-equiv="refresh" content="5">');
  });
});
