import { describe, expect, it } from 'vitest';
import { configPageRoute } from '../../src/http/pages/config-page.ts';
import { toText } from './page-text.ts';
import { serve } from './serve.ts';

describe('http/config-page', () => {
  it('returns the present configuration to tools as text that no browser treats as a page', async () => {
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

  it('returns the page as HTML to browsers, and escapes all text', async () => {
    const { ask } = await serve([configPageRoute(async () => 'name: <script>\n')]);
    const { headers, body } = await ask('/config', { headers: { accept: 'text/html,*/*;q=0.8' } });
    expect(headers).toMatchObject({ 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-store' });
    expect(toText(body)).toMatch(/^Configuration\nThe configuration in force/);
    expect(body).toContain('<pre tabindex="0">name: &#60;script&#62;\n</pre>');
    expect(body).toContain('<a href="./config" aria-current="page">Configuration</a>');
  });
});
