import { describe, expect, it } from 'vitest';
import { ownerRoute } from '../../src/http/pages/owner-page.ts';
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
  '/api/why?server=prod&job=pay%2Fsettle',
];

describe('http/owner-page', () => {
  it.each(ofProd)('leads from %s to the exporter that watches the server', async (path) => {
    const { ask } = await start(other);
    const { status, headers } = await ask(`/here${path}`);
    expect({ status, location: headers.location }).toEqual({ status: 307, location: `http://b:9720${path}` });
  });

  it.each(ofProd)('answers %s here where this exporter watches the server', async (path) => {
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
  ])('leaves %s to this exporter', async (path) => {
    const { ask } = await start(other);
    expect((await ask(`/here${path}`)).body).toBe('here');
  });

  it.each(['/executions', '/jobs', '/schedule'])('leads from %s where that is about the only server', async (path) => {
    const { ask } = await start(other, ['prod']);
    expect((await ask(`/here${path}`)).headers.location).toBe(`http://b:9720${path}`);
  });

  it('leaves the front page here, also where it is about the only server', async () => {
    const { ask } = await start(other, ['prod']);
    expect((await ask('/here/')).body).toBe('here');
  });

  it.each<Watcher>([{ is: 'nobody' }, { is: 'other', address: 'http://localhost:9720', page: undefined }])(
    'shows the front page here, which says who watches the server, where a browser cannot be led there (%s)',
    async (watcher) => {
      const { ask } = await start(watcher);
      expect(await ask('/here/?server=prod')).toMatchObject({ status: 200, body: 'here' });
    },
  );

  it('says who watches the server where a browser cannot be led there', async () => {
    const { ask } = await start({ is: 'other', address: 'http://localhost:9720', page: undefined });
    const page = await ask('/here/jobs/prod/pay/settle');
    expect(page.status).toBe(404);
    expect(toText(page.body)).toContain('"prod" is watched by another exporter: http://localhost:9720');
    expect(page.body).toContain('<div class="headline off">');
    const { headers, body } = await ask('/here/api/why?server=prod&job=x');
    expect(headers['content-type']).toMatch(/^text\/plain/);
    expect(body).toContain('set web.external_url of each exporter');
  });

  it('says that nobody watches the server, and looks again', async () => {
    const { ask } = await start({ is: 'nobody' });
    const { status, headers, body } = await ask('/here/schedule/prod');
    expect({ status, wait: headers['retry-after'] }).toEqual({ status: 503, wait: '5' });
    expect(toText(body)).toContain('No exporter watches "prod" at the moment.');
    expect(body).toContain('<meta http-equiv="refresh" content="5">');
  });
});
