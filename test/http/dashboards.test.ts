import { describe, expect, it } from 'vitest';
import { dashboardRoutes } from '../../src/http/routes/alerts.ts';
import { serve } from './serve.ts';

const dashboards = new Map([['overview', '{"title":"Overview","url":"http://localhost:9720/executions/a/1"}']]);

describe('http/routes/dashboards', () => {
  it.each([
    ['what is configured', 'https://exporter.example.org/x/', 'https://exporter.example.org/x/executions/a/1'],
    ['the Host of the request', undefined, 'http://exporter:9720/here/executions/a/1'],
  ])('links to %s', async (_, externalUrl, link) => {
    const routes = dashboardRoutes(
      { dashboards },
      { externalUrl: () => externalUrl, ownUrl: () => 'http://localhost:9720/here/' },
    );
    const { ask } = await serve([routes]);
    const { body } = await ask('/dashboards/overview.json', { headers: { host: 'exporter:9720' } });
    expect(JSON.parse(body)).toEqual({ title: 'Overview', url: link });
  });
});
