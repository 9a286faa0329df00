import { describe, expect, it } from 'vitest';
import { configRoute } from '../../src/http/routes/config-text.ts';
import { serve } from './serve.ts';

describe('http/config-text', () => {
  it('shows the configuration in force as text that no browser takes for a page', async () => {
    let text = 'servers: []\n';
    const { ask } = await serve([configRoute(async () => text)]);
    expect((await ask('/config')).body).toBe('servers: []\n');

    text = 'name: <script>\n';
    const { headers, body } = await ask('/config');
    expect(body).toBe('name: <script>\n');
    expect(headers).toMatchObject({ 'content-type': 'text/plain; charset=utf-8', 'x-content-type-options': 'nosniff' });
  });
});
