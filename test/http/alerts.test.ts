import { describe, expect, it } from 'vitest';
import { parseDocument } from 'yaml';
import { type AlertRoutes, alertRoutes, dashboardRoutes } from '../../src/http/routes/alerts.ts';
import { readContent } from '../../src/http/server/content.ts';
import { load } from '../config/fixtures.ts';
import { serve } from './serve.ts';

const content = readContent();

async function start(more: Partial<AlertRoutes> = {}) {
  const routes = alertRoutes({
    content,
    externalUrl: () => undefined,
    ownUrl: () => 'http://localhost:9720/',
    grafanaUrl: () => undefined,
    ...more,
  });
  return serve([routes]);
}

describe('http/routes/alerts', () => {
  it('links to the URL at which the rules were requested', async () => {
    const { ask } = await start();
    const { body } = await ask('/alerts/rules.yaml', { headers: { host: 'exporter.monitoring.svc:9720' } });
    expect(body.split('\n').slice(0, 2)).toEqual([
      '# Links lead to http://exporter.monitoring.svc:9720 (the Host of this request; web.external_url is not set).',
      '# Alerts have no dashboard_url, because web.grafana_url is not set.',
    ]);
    expect(body).toContain('runbook_url: http://exporter.monitoring.svc:9720/runbooks/AutomationServiceDown\n');
    expect(body).not.toMatch(/localhost|dashboard_url: /);
  });

  it('warns if the exporter would refuse browsers that follow the links', async () => {
    const { ask } = await start();
    const { body } = await ask('/alerts/rules.yaml', { headers: { host: 'monitor01.corp.example:9720' } });
    expect(body.split('\n').slice(0, 4)).toEqual([
      '# WARNING: the links in this file do not work: the exporter refuses browsers that ask for monitor01.corp.example:9720.',
      '# WARNING: set `web: { external_url: http://monitor01.corp.example:9720 }` in its configuration, and get this file again.',
      '# Links lead to http://monitor01.corp.example:9720 (the Host of this request; web.external_url is not set).',
      '# Alerts have no dashboard_url, because web.grafana_url is not set.',
    ]);
    const configured = await start({ externalUrl: () => 'http://monitor01.corp.example:9720' });
    expect((await configured.ask('/alerts/rules.yaml')).body).not.toContain('WARNING');
  });

  it('writes links that start with the route prefix of the exporter', async () => {
    const { ask } = await start({ ownUrl: () => 'http://localhost:9720/here/' });
    const { body } = await ask('/alerts/rules.yaml', { headers: { host: 'exporter:9720' } });
    expect(body).toContain('runbook_url: http://exporter:9720/here/runbooks/AutomationServiceDown\n');
  });

  it('serves valid YAML if a configured address contains a quote', async () => {
    const web =
      'web: { external_url: "https://exporter.example.org/it\'s", grafana_url: "https://exporter.example.org/it\'s" }';
    const { config } = await load({
      yaml: `servers: [{ name: prod, url: https://x.example.org, token_file: /run/token }]\n${web}\n`,
    });
    const { externalUrl, grafanaUrl } = config.web;
    const { ask } = await start({ externalUrl: () => externalUrl, grafanaUrl: () => grafanaUrl });
    expect(parseDocument((await ask('/alerts/rules.yaml')).body).errors).toEqual([]);
  });

  it('prefers the configured addresses of the exporter and of Grafana', async () => {
    const { ask } = await start({
      externalUrl: () => 'https://exporter.example.org/x',
      grafanaUrl: () => 'https://grafana.example.org/',
    });
    const { body } = await ask('/alerts/rules.yaml', { headers: { host: 'other:9720' } });
    expect(body).toMatch(
      /^# Links lead to https:\/\/exporter\.example\.org\/x \(web\.external_url\)\.\n# Links to dashboards lead to https:\/\/grafana/,
    );
    expect(body).toContain('dashboard_url: https://grafana.example.org/d/automation-server?var-server=');
    expect(body).not.toContain('localhost');
  });

  it.each(['a b', 'x"y', 'exporter/evil'])('writes no part of the Host "%s" into the rules', async (host) => {
    const { ask } = await start();
    const { body } = await ask('/alerts/rules.yaml', { headers: { host } });
    expect(body).toMatch(
      /^# Links lead to http:\/\/localhost:9720 \(the listen address; web\.external_url is not set\)\.\n|^$/,
    );
  });

  it('serves the inhibition rules', async () => {
    const { ask } = await start();
    const { status, body } = await ask('/alerts/alertmanager-inhibitions.yaml');
    expect({ status, first: body.includes('inhibit_rules:\n') }).toEqual({ status: 200, first: true });
  });
});

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
