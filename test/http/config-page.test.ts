import { describe, expect, it } from 'vitest';
import { configPageRoute, notFoundRoute } from '../../src/http/pages/config-page.ts';
import { toText } from './page-text.ts';
import { serve } from './serve.ts';

describe('http/config-page', () => {
  it('sends the configuration to tools as text', async () => {
    let text = 'servers: []\n';
    const { ask } = await serve([configPageRoute(async () => text)]);
    expect((await ask('/config')).body).toBe('servers: []\n');

    text = 'name: <script>\n';
    const { headers, body } = await ask('/config', { headers: { accept: '*/*' } });
    expect(body).toBe('name: <script>\n');
    expect(headers).toMatchObject({
      'content-type': 'text/plain; charset=utf-8',
      'x-content-type-options': 'nosniff',
      vary: 'Accept',
    });
  });

  it('sends the page to browsers as HTML, and escapes all text', async () => {
    const { ask } = await serve([configPageRoute(async () => 'name: <script>\n')]);
    const { headers, body } = await ask('/config', { headers: { accept: 'text/html,*/*;q=0.8' } });
    expect(headers).toMatchObject({ 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-store' });
    expect(toText(body)).toMatch(/^Configuration\nThe configuration in force/);
    expect(body).toContain('<pre tabindex="0">name: &#60;script&#62;\n</pre>');
    expect(body).toContain('<a href="./config" aria-current="page">Configuration</a>');
  });
});

describe('http/not-found', () => {
  it('links to the front page from an unknown address', async () => {
    const { ask } = await serve([notFoundRoute()], { routePrefix: '/here' });
    const { status, body } = await ask('/here/no/<such>', { headers: { accept: 'text/html' } });
    expect(status).toBe(404);
    expect(toText(body)).toMatch(/^Not found\nThere is no page at \/no\/&#60;such&#62;\. Start from the status page/);
    expect(body).toContain('<a href="../">status page</a>');
    expect(body).not.toContain('aria-current="page"');
  });

  it('suggests a similar name for an unknown job', async () => {
    const { ask } = await serve([notFoundRoute((server, job) => `Did you mean ${server} and ${job}?`)]);
    const { body } = await ask('/jobs/prod/pay/nightly/se%20ttle', { headers: { accept: 'text/html' } });
    expect(toText(body)).toContain('Did you mean prod and pay/nightly/se ttle?');
  });

  it('sends tools one line of text instead of a page', async () => {
    const { ask } = await serve([notFoundRoute()]);
    const { status, headers, body } = await ask('/nothing', { headers: { accept: '*/*' } });
    expect({ status, type: headers['content-type'] }).toEqual({ status: 404, type: 'text/plain; charset=utf-8' });
    expect(body).toBe('Not found. The front page / lists all pages.\n');
  });
});
